"""One problem along rising C: each solution is that of a cold start, for less work."""

from concurrent.futures import CancelledError
from dataclasses import replace

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, regression

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.selection import walk as walking
from hingeline.selection.walk import Walk
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train

X, Y = classification(120, 6, seed=41)
X_REAL, Y_REAL = regression(120, 6, seed=42)
CS = (0.01, 0.1, 1.0, 10.0)


def problems_of(name, bias=1.0):
    """Return what makes the problem of a C, as Walk asks for it."""
    rows, y = (X_REAL, Y_REAL) if name in TARGET_LOSSES else (X, Y.astype(np.float32))
    data = read_data(rows, bias)
    return lambda C: make_problem(data, y, None, EVERY_LOSS[name](C))


def walk(name, solver="hybrid", stop=None, **how):
    return Walk(problems_of(name), solver, stop or Stop(gap_tol=1e-7), seed=3, **how)


def test_a_solution_in_decimals_is_a_start_like_another(monkeypatch):
    def finished(*args, **how):
        found = train(*args, **how)
        return replace(found, solver=f"{found.solver}+exact")

    monkeypatch.setattr(walking, "train", finished)
    along = walk("hinge", "newton")
    for C in CS:
        assert along.advance(C).solver == "newton+exact"
    assert along.reached.engine == "newton"


@pytest.mark.parametrize("solver", ["hybrid", "newton"])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_solutions_are_those_of_cold_starts(name, solver):
    along = walk(name, solver)
    for C in CS:
        warm = along.advance(C)
        cold = train(problems_of(name)(C), solver, Stop(gap_tol=1e-7), seed=3)
        assert warm.certificate.gap <= 1e-7
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-6)
        assert along.reached.C == C
        np.testing.assert_array_equal(along.reached.alpha, warm.alpha)
        np.testing.assert_allclose(along.reached.w, np.append(warm.w, warm.intercept))  # a bias of one


def test_a_walk_takes_fewer_steps_than_cold_starts():
    grid = 0.1 * 1.3 ** np.arange(12)
    along = walk("squared_hinge")
    warm = [along.advance(C).n_steps for C in grid]
    cold = [train(problems_of("squared_hinge")(C), "hybrid", Stop(gap_tol=1e-7), seed=3).n_steps for C in grid]
    assert sum(warm[1:]) < 0.9 * sum(cold[1:])


@pytest.mark.parametrize("solver", ["hybrid", "newton"])
def test_a_walk_goes_on_from_where_another_was(solver):
    whole, first = walk("hinge", solver), walk("hinge", solver)
    for C in CS[:2]:
        whole.advance(C)
        first.advance(C)
    second = walk("hinge", solver, reached=first.reached)
    for C in CS[2:]:
        np.testing.assert_array_equal(whole.advance(C).w, second.advance(C).w)


def test_a_solution_without_variables_at_the_bound_serves_every_larger_C():
    rng = np.random.default_rng(0)
    data, y = read_data(rng.normal(size=(30, 50))), np.resize([-1.0, 1.0], 30).astype(np.float32)  # separable
    along = Walk(lambda C: make_problem(data, y, None, EVERY_LOSS["hinge"](C)), "hybrid", Stop(tol=1e-9), seed=0)
    first = along.advance(1e3)
    assert first.alpha.max() < 1e3
    again = along.advance(1e4)
    assert (again.n_iter, again.n_steps, again.converged, again.stop_reason) == (0, 0, True, "tol")
    np.testing.assert_array_equal(again.w, first.w)
    squared = Walk(lambda C: make_problem(data, y, None, EVERY_LOSS["squared_hinge"](C)), "hybrid", Stop(), seed=0)
    squared.advance(1e3)
    assert squared.advance(1e4).n_iter > 0  # its solution depends on C everywhere


def test_the_margins_shift_is_known_after_two_solutions_of_newtons():
    along = walk("hinge", "newton")
    first = along.advance(0.1)
    assert along.reached.shift == np.inf
    second = along.advance(0.2)
    change = X @ (second.w - first.w) + second.intercept - first.intercept
    assert along.reached.shift == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-6)


def test_callbacks_and_cancelling():
    seen = []
    along = walk("hinge", callback=lambda progress: seen.append(progress) and None)
    solution = along.advance(1.0)
    assert len(seen) == solution.n_iter
    assert solution.seconds > 0.0
    with pytest.raises(CancelledError):
        walk("hinge", stop=Stop(tol=1e-12), cancelled=lambda: True).advance(1e4)
