import pytest

from hingeline.viz import CGridDisplay

figure = pytest.importorskip("matplotlib.figure")


def test_draws_each_engine_over_sorted_C_on_logarithmic_axes():
    ax = figure.Figure().add_subplot()
    display = CGridDisplay(C=[10.0, 0.1], seconds={"baseline": [5.0, 0.5], "avsf": [2.0, 0.7]}).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert lines == {"baseline": [0.5, 5.0], "avsf": [0.7, 2.0]}


def test_capped_times_are_hollow():
    ax = figure.Figure().add_subplot()
    CGridDisplay(C=[1.0, 2.0], seconds={"a": [1.0, 2.0]}, capped={"a": [False, True]}).plot(ax=ax)
    hollow = ax.get_lines()[1]
    assert hollow.get_label() == "a, capped"
    assert list(hollow.get_xdata()) == [2.0]
    assert hollow.get_markerfacecolor() == "white"
