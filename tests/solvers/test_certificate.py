"""When a certificate recomputes w, and that it need not do so otherwise."""

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, LOSSES, classification, dual, primal

from hingeline import solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.random import seeded
from hingeline.solvers import certificate
from hingeline.solvers.certificate import certify, drift, rounding_floor
from hingeline.solvers.driver import Clock, Ended, Run, Stop
from hingeline.solvers.dual.avsf import avsf
from hingeline.solvers.shards import shards_of
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.shards.in_memory import InMemoryShards
from hingeline.solvers.state import State

X, Y = classification(3000, 40, seed=5)  # more than small


@pytest.fixture
def made_afresh(monkeypatch):
    """Count the computations of w from alpha."""
    calls, original = [], InMemoryShards.weights

    def weights(*args, **kwargs):
        calls.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(InMemoryShards, "weights", weights)
    return calls


@pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
def test_few_steps_from_zero_need_no_new_weights(made_afresh, monkeypatch, engine, make):
    loss = make(0.1)
    s = solve(X, Y, loss, solver=engine, gap_tol=1e-3, random_state=0)
    assert not made_afresh
    P, D = primal(X, Y, s.w, loss), dual(X, Y, s.alpha, loss)
    assert s.certificate.primal == pytest.approx(P, rel=1e-12)
    assert s.certificate.primal - s.certificate.dual == pytest.approx(P - D, rel=1e-9)
    monkeypatch.setattr(certificate, "FEW_STEPS", 0)
    again = solve(X, Y, loss, solver=engine, gap_tol=1e-3, random_state=0)
    assert made_afresh
    np.testing.assert_allclose(s.alpha, again.alpha, rtol=1e-6, atol=1e-12)  # sweeps after a refuted certificate
    np.testing.assert_allclose(s.w, again.w, rtol=1e-6, atol=1e-12)
    assert s.certificate.gap == pytest.approx(again.certificate.gap, rel=1e-6)


def test_others_do(made_afresh):
    """A gap that rounding could touch, a start, and engines whose w is not that of their variables."""
    loss = LOSSES["hinge"](0.1)
    solve(X, Y, loss, solver="hybrid", gap_tol=1e-12, random_state=0)
    assert made_afresh
    made_afresh.clear()
    first = solve(X, Y, loss, solver="hybrid", gap_tol=1e-2, random_state=0)
    assert not made_afresh
    solve(X, Y, loss, solver="hybrid", gap_tol=1e-3, alpha0=first.alpha, random_state=0)
    assert made_afresh
    made_afresh.clear()
    solve(X, Y, loss, solver="newton", gap_tol=1e-3, random_state=0)
    assert made_afresh


def test_rounding_moves_w_by_less_than_the_bound():
    """The w of many steps, not made afresh, beside the one that the dual variables give."""
    loss = LOSSES["hinge"](0.1)
    problem = make_problem(read_data(X), Y.astype(np.float32), None, loss)
    alpha = starting_alpha(problem)
    state = State(shards_of(problem, alpha), problem, alpha, np.zeros(41), seeded(0))
    run = Run(
        Stop(tol=1e-12, max_iter=100),
        Clock(None, None),
        certify=lambda pace: certify(state.shards, state.w),
        floor=lambda: rounding_floor(state),
    )
    with pytest.raises(Ended, match="max_iter"):
        avsf(state, run)
    exact = (X * np.longdouble(1.0)).T @ (Y * state.variables.alpha)
    added = 0.5 * float(np.sum((state.w[:-1] - exact) ** 2)) / primal(X, Y, state.w[:-1], loss)
    assert drift(1) < added <= drift(run.n_steps)
