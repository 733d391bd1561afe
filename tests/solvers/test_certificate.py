"""When a certificate computes w afresh, and that it need not do so where it does not."""

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, LOSSES, classification, dual, primal

from hingeline import solve
from hingeline.solvers import train
from hingeline.solvers.certificate import UNIT_ROUNDOFF, drift

X, Y = classification(3000, 40, seed=5)  # more than small


@pytest.fixture
def made_afresh(monkeypatch):
    """Count the computations of w from alpha."""
    calls, original = [], train.weights

    def weights(*args, **kwargs):
        calls.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(train, "weights", weights)
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
    monkeypatch.setattr(train, "FEW_STEPS", 0)
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


def test_the_bound_is_one():
    """What rounding does to w in many steps, compared with it."""
    s = solve(X, Y, LOSSES["hinge"](100.0), solver="avsf", tol=1e-9, max_iter=100, random_state=0)
    before = s.w.copy()
    exact = (X * np.longdouble(1.0)).T @ (Y * s.alpha)
    apart = np.linalg.norm((before - exact).astype(float))
    assert 0.5 * apart**2 <= drift(s.n_steps) * s.certificate.primal
    assert drift(s.n_steps) <= (16.0 * UNIT_ROUNDOFF * s.n_steps) ** 2
