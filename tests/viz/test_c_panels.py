import pytest

from hingeline.viz import CGridDisplay, CPanelsDisplay

pytest.importorskip("matplotlib")


def display(**kwargs):
    return CGridDisplay(C=[1.0, 10.0], seconds={"a": [1.0, float("nan")], "b": [2.0, 3.0]}, **kwargs)


def test_one_panel_a_data_set_and_one_legend(tmp_path):
    capped = {"a": [False, False], "b": [False, True]}
    panels = {name: display(capped=capped) for name in ("one", "two", "three", "four")}
    figure = CPanelsDisplay(panels).plot().figure_
    assert [ax.get_title() for ax in figure.axes] == list(panels)
    assert all(ax.get_legend() is None for ax in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    figure.savefig(tmp_path / "x.png")


def test_styles_reach_the_lines():
    figure = CPanelsDisplay({"one": display(styles={"a": {"linestyle": "--", "color": "red"}})}).plot().figure_
    line = figure.axes[0].get_lines()[0]
    assert (line.get_linestyle(), line.get_color(), line.get_marker()) == ("--", "red", "o")


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="nothing to draw"):
        CPanelsDisplay({})
