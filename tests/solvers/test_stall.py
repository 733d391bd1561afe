"""A run without progress ends, and one with progress does not."""

import numpy as np
import pytest
from fault_rows import row
from problems import classification

from hingeline import Hinge, LinearSVC, solve
from hingeline.solvers import stall
from hingeline.solvers.stall import PATIENCE, StallCheck


def sweeps_until_stalled(dual, violation, most=100_000):
    """Return the sweep that ends a run with these values after each sweep; None if none does."""
    check = StallCheck()
    return next((sweep for sweep in range(1, most) if check.is_stalled(sweep, dual(sweep), violation(sweep))), None)


def test_nothing_moves():
    assert sweeps_until_stalled(lambda s: 1.0, lambda s: 1.0) == 1 + PATIENCE


def test_half_of_a_long_run():
    assert sweeps_until_stalled(lambda s: min(s, 10_000.0), lambda s: 1.0) == 20_000


def test_a_dual_that_creeps_is_progress():
    assert sweeps_until_stalled(lambda s: 1.0 + 1e-11 * s, lambda s: 1.0) is None


def test_a_violation_that_falls_is_progress():
    assert sweeps_until_stalled(lambda s: 1.0, lambda s: 0.9999**s, most=40_000) is None


@pytest.mark.parametrize("engine", ["baseline", "avsf", "hybrid"])
def test_an_engine_alone_ends(engine, monkeypatch):
    """No float64 has a violation below this: without the rule the run would go on for ever."""
    X, y = classification(30, 4, seed=2)
    monkeypatch.setattr("hingeline.solvers.driver.RoundingCheck.is_rounding", lambda *args: False)
    solution = solve(X, y, Hinge(100.0), solver=engine, tol=1e-300, finish=False, random_state=0)
    assert solution.stop_reason == "stalled"
    assert not solution.converged
    assert np.isfinite(solution.w).all()
    assert 0.0 <= solution.certificate.gap < 1e-3


def test_a_named_engine_that_would_take_very_long_is_finished_by_newton():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)) * [1.0, 1e3, 1e-3, 1e4, 1.0], np.resize([-1, 1], 40)
    solution = solve(X, y, Hinge(10.0), solver="baseline", random_state=0)
    assert solution.solver == "baseline+newton"
    assert solution.converged
    assert solution.certificate.violation < 1e-3


@row("parameter-stall")
def test_the_warning_says_what_to_do(monkeypatch):
    monkeypatch.setattr(stall, "PATIENCE", 1)
    monkeypatch.setattr("hingeline.solvers.train.plan", lambda problem, solver, stop, *more: [_alone(solver, stop)])
    monkeypatch.setattr("hingeline.solvers.driver.RoundingCheck.is_rounding", lambda *args: False)
    X, y = classification(30, 4, seed=2)
    with pytest.warns(match=r"stalled ended training.*Scale the columns.*solver=\"auto\""):
        model = LinearSVC(loss="hinge", C=100.0, solver="avsf", tol=1e-300).fit(X, y)
    assert model.stop_reason_ == "stalled"
    assert not model.converged_


def _alone(solver, stop):
    from hingeline.solvers.select import Phase

    return Phase(solver, stop)
