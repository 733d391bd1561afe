"""Who is told of a search for C."""

import sys

import numpy as np
import pytest
from problems import classification
from sklearn.exceptions import ConvergenceWarning

from hingeline import LinearSVCCV
from hingeline.progress import screen
from hingeline.selection import watch
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


def test_max_time_is_for_the_whole_search(monkeypatch):
    """By a clock that jumps when the second C is done: no third one is tried, and the last fit has what is left."""
    now, given = [0.0], []
    monkeypatch.setattr(watch, "now", lambda: now[0])
    original = watch.SearchWatch.row

    def row(self, k, text):
        now[0] = 78.0 if k == 1 else now[0]
        return original(self, k, text)

    monkeypatch.setattr(watch.SearchWatch, "row", row)
    fit_from = LinearSVCCV._model_class._fit_from

    def noted(self, rows, start):
        given.append(self.max_time)
        return fit_from(self, rows, start)

    monkeypatch.setattr(LinearSVCCV._model_class, "_fit_from", noted)
    with pytest.warns(ConvergenceWarning, match="max_time ended the search after 2 of 3 values of C"):
        model = search(max_time=100.0).fit(X, Y)  # 25 of them are for the last fit
    assert np.isnan(model.scores_).all(axis=1).tolist() == [False, False, True]
    assert given == [22.0]
    assert model.max_time == 100.0
    assert model.converged_


def test_fits_of_folds_have_what_is_left_of_the_time():
    with pytest.warns(ConvergenceWarning) as caught:
        model = search(max_time=1e-9).fit(X, Y)
    words = " ".join(str(warning.message) for warning in caught)
    assert "max_time ended the search after 1 of 3" in words
    assert "3 of 3 fits of folds ended before they converged (max_time" in words
    assert np.isfinite(model.coef_).all()
    assert model.stop_reason_ == "max_time"
