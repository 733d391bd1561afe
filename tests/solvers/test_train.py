"""Phases of a run: what each of them gets, and how one hands over to the next."""

import gc
import weakref
from math import inf

import numpy as np
import pytest
from problems import classification

from hingeline import Hinge, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers import train as training
from hingeline.solvers.driver import SWEEP, Run
from hingeline.solvers.select import Phase
from hingeline.solvers.stop import ENOUGH, Stop
from hingeline.solvers.train import train
from hingeline.solvers.trend import HOPELESS, OPTIMISM, Budget
from hingeline.synthetic import make_text

X, Y = classification(400, 6, seed=3)


def problem():
    return make_problem(read_data(X), Y.astype(np.float32), None, Hinge(1.0))


@pytest.fixture
def budgets(monkeypatch):
    """Collect the budgets that phases get, and what the trend of the one before promises."""
    given, original = [], Run.begin_phase

    def begin_phase(self, stop, budget):
        given.append((budget, self.account.trend.steps_left()))
        original(self, stop, budget)

    monkeypatch.setattr(Run, "begin_phase", begin_phase)
    return given


def run_plan(monkeypatch, stop, *phases):
    monkeypatch.setattr(training, "plan", lambda *args, **how: list(phases))
    return train(problem(), "auto", stop, seed=0)


TRIED = Budget(review=15 * (SWEEP + X.shape[0]), rival=1.0)  # given up after some sweeps, however good their trend is


@pytest.mark.parametrize("most", [1e9, 2.0 * X.shape[0]])
def test_a_phase_gets_what_the_trend_before_it_promises_and_no_more(monkeypatch, budgets, most):
    stop = Stop(tol=1e-6)
    s = run_plan(
        monkeypatch,
        stop,
        Phase("hybrid", stop, TRIED),
        Phase("avsf", stop, Budget(review=most, most=most)),
        Phase("hybrid", stop),
    )
    (first, _), (second, left), *_ = budgets
    assert first == TRIED
    assert 0.0 < left < inf  # the first phase has a trend, and it is asked
    assert second.most == max(most, min(OPTIMISM * left, HOPELESS * most))
    assert second.review == second.most
    assert s.solver.startswith("hybrid+avsf")
    assert s.stop_reason == "tol"


def test_a_phase_after_one_without_a_trend_gets_ten_times_its_own(monkeypatch, budgets):
    stop = Stop(tol=1e-6)
    hopeless = Budget(review=SWEEP, rival=1.0)  # one sweep shows no trend
    run_plan(
        monkeypatch,
        stop,
        Phase("hybrid", stop, hopeless),
        Phase("avsf", stop, Budget(review=1e9, most=1e9)),
    )
    (_, _), (second, left) = budgets
    assert left == inf
    assert second.most == HOPELESS * 1e9


def test_engines_that_ran_are_named(monkeypatch):
    stop = Stop(tol=1e-6)
    s = run_plan(monkeypatch, stop, Phase("hybrid", stop, TRIED), Phase("newton", stop))
    assert s.solver == "hybrid+newton"
    assert s.certificate.violation < 1e-6


def test_a_phase_that_makes_it_worse_is_undone(monkeypatch):
    """The dual value of the third phase's start is not below that of the second's."""
    duals, original = [], training.Training._run_phase

    def run_phase(self, phase, *how):
        duals.append(self._run.dual)
        if phase.engine == "avsf":
            self._state.variables.alpha[:] = 0.0
            self._state.w[:] = 0.0
        return original(self, phase, *how)

    stop = Stop(gap_tol=1e-6)
    monkeypatch.setattr(training.Training, "_run_phase", run_phase)
    s = run_plan(
        monkeypatch,
        stop,
        Phase("hybrid", stop, TRIED),
        Phase("avsf", stop, Budget(review=1.0, most=1.0)),
        Phase("hybrid", stop),
    )
    assert duals[2] >= duals[1] > 0.0
    assert s.solver == "hybrid+avsf+hybrid"
    assert s.certificate.gap <= 1e-6


@pytest.mark.parametrize("solver", ["hybrid", "newton"])
def test_a_run_leaves_nothing_alive(solver):
    """No cycle of references: arrays as large as the data go with the run, not with the garbage collector."""
    seen = []
    gc.disable()
    try:
        train(problem(), solver, Stop(), seed=0, callback=lambda progress: seen.append(weakref.ref(progress.look)))
        assert all(look() is None for look in seen)
    finally:
        gc.enable()


def test_zero_rows_alone_are_solved_without_an_engine():
    nothing = make_problem(read_data(np.zeros((4, 2))), np.array([1, -1, 1, -1], dtype="f4"), None, SquaredHinge(2.0))
    s = train(nothing, "hybrid", Stop(), seed=0)
    assert (s.stop_reason, s.n_iter, s.history.size) == ("tol", 0, 0)
    assert s.certificate.gap == 0.0
    np.testing.assert_allclose(s.alpha, 4.0)


def test_auto_ends_at_a_gap_that_is_enough_and_named_engines_by_tol_alone():
    rows, y = make_text(n_rows=3000, n_cols=6000, seed=0)
    text = make_problem(read_data(rows), y.astype(np.float32), None, SquaredHinge(0.01))
    by_gap, by_tol = (train(text, solver, Stop(), seed=0) for solver in ("auto", "hybrid"))
    assert by_gap.solver == by_tol.solver == "hybrid"
    assert (by_gap.stop_reason, by_tol.stop_reason) == ("gap_tol", "tol")
    assert by_gap.certificate.gap <= ENOUGH * Stop().tol
    assert by_gap.n_steps < by_tol.n_steps
