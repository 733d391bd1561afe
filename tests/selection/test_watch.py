"""Who is told of a search for C."""

import sys

import numpy as np
import pytest
from problems import classification

from hingeline import LinearSVCCV
from hingeline.progress import screen
from hingeline.viz import CPathDisplay

X, Y = classification(60, 4, seed=9)
CS = (0.01, 0.1, 1.0)


def search(**change):
    how = {"Cs": CS, "cv": 3, "loss": "hinge", "solver": "avsf", "tol": 0.1, "random_state": 0}
    return LinearSVCCV(**{**how, "early_stopping": False, **change})


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callable_sees_the_sweeps_of_folds_and_of_the_model(n_jobs):
    seen = []
    model = search(n_jobs=n_jobs).set_callbacks(lambda progress: seen.append(progress) and None).fit(X, Y)
    of_model = seen[-model.n_iter_ :]
    np.testing.assert_array_equal([p.violation for p in of_model], model.history_["violation"])
    assert {p.problem for p in seen[: -model.n_iter_]} == {0, 1, 2}  # one walk a fold
    assert sum(p.n_iter == 1 for p in seen) >= len(CS)


def test_scikit_learns_callbacks_see_a_task_for_each_C_and_may_end_the_path(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    search().set_callbacks(callback.ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert "LinearSVCCV - fit" in shown
    assert "refit | LinearSVC - fit" in shown

    events = []

    class Impatient:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context):
            events.append((context.task_name, "begin"))

        def on_fit_task_end(self, estimator, context):
            events.append((context.task_name, "end"))
            return context.task_name == "C = 0.1"

    model = search().set_callbacks(Impatient()).fit(X, Y)
    assert np.isnan(model.scores_[2]).all()
    assert not np.isnan(model.scores_[:2]).any()
    names = ["fit", "C = 0.01", "C = 0.1", "refit"]
    assert sorted(events) == sorted((name, what) for name in names for what in ("begin", "end"))
    assert (events[0], events[-1]) == (("fit", "begin"), ("fit", "end"))


def test_every_task_is_ended_where_the_rule_ends_the_path(monkeypatch):
    pytest.importorskip("sklearn.callback")
    monkeypatch.setattr("hingeline.selection.grid.Grid._ends", lambda self, early: True)
    names = []

    class Counts:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context):
            names.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            names.remove(context.task_name)

    search(early_stopping=True, refit=False).set_callbacks(Counts()).fit(X, Y)
    assert names == []


def test_verbose_shows_a_bar_on_a_terminal(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(screen, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(screen, "REDRAW_SECONDS", 0.001)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    search(verbose=1, tol=1e-6).fit(X, Y)
    captured = capsys.readouterr()
    assert "of 9 fits of folds" in captured.err
    assert captured.out.count("[LinearSVCCV] C = ") == 3


def test_the_path_is_drawn(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = search().fit(X, Y)
    display = CPathDisplay.from_estimator(model)
    np.testing.assert_allclose(display.ax_.get_lines()[1].get_ydata(), model.mean_scores_)
    np.testing.assert_allclose(display.axes_[1].get_lines()[0].get_ydata(), model.fit_times_.sum(axis=1))
    matplotlib.pyplot.close("all")
