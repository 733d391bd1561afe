"""Newton's method for the one-class model: its parts against NumPy, and the same optimum as sweeps find."""

import numpy as np
import pytest
from problems import csr

from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace
from hingeline.solvers.clock import Clock
from hingeline.solvers.driver import Run
from hingeline.solvers.finish import ended
from hingeline.solvers.one_class import proximal_newton as method
from hingeline.solvers.one_class.dual_variables import OneClass
from hingeline.solvers.one_class.one_class import train_one_class
from hingeline.solvers.one_class.proximal_newton import SmoothedProblem, proximal_newton
from hingeline.solvers.one_class.smoothed_rows import Smoothing, along_line, bracket, find_rho, respond
from hingeline.solvers.stop import Stop


def some_rows(n=30, seed=0):
    """Return rows at random scores, smoothed around random centres, and a line."""
    rng = np.random.default_rng(seed)
    C = rng.choice([0.0, 0.5, 2.0], size=n)
    smoothing = Smoothing(C, rng.uniform(0.1, 3.0, size=n), rng.normal(size=n), C * rng.random(n))
    return smoothing, rng.normal(size=n), 0.4 * float(C.sum())


def responses(smoothing, t, tau, total):
    """Return rho and alpha at the scores s + tau t."""
    moved = smoothing._replace(s=smoothing.s + tau * t)
    low, high = bracket(smoothing, t, tau)
    *_, rho, done = find_rho(smoothing, t, tau, total, 100, (low, high, 0.5 * (low + high), False))
    assert done
    alpha = np.zeros_like(t)
    return rho, alpha, respond(moved, rho, alpha)


def test_responses_keep_their_sum():
    smoothing, t, total = some_rows()
    rho, alpha, (linear, size, moved) = responses(smoothing, t, 0.5, total)
    s = smoothing.s + 0.5 * t
    expected = np.clip(smoothing.abar + smoothing.stiffness * (rho - s), 0.0, smoothing.C)
    np.testing.assert_allclose(alpha, expected, atol=1e-14)
    assert alpha.sum() == pytest.approx(total, rel=1e-14)
    assert linear == pytest.approx(alpha @ s)
    assert size == pytest.approx(alpha @ np.abs(s))
    assert moved == pytest.approx(np.sum((alpha - smoothing.abar) ** 2 / smoothing.stiffness))


def test_derivatives_along_a_line():
    smoothing, t, total = some_rows(seed=1)
    values, h = [], 1e-4
    for tau in (0.3 - h, 0.3, 0.3 + h):
        rho, _, (linear, _, moved) = responses(smoothing, t, tau, total)
        values.append(-linear - 0.5 * moved)
    rho, _, _ = responses(smoothing, t, 0.3, total)
    first, second = along_line(smoothing, t, 0.3, rho)
    assert first == pytest.approx((values[2] - values[0]) / (2 * h), rel=1e-6)
    assert second == pytest.approx((values[2] - 2 * values[1] + values[0]) / h**2, rel=1e-3)


def a_model(X, nu=0.4):
    n = len(X)
    data = read_data(X, 0.0)
    model = OneClass(data, np.ones(n), nu * n, np.zeros(n), np.zeros(data.n_features + 1))
    model.start(Pace())
    run = Run(Stop(gap_tol=1e-10), Clock(None, None), certify=model.refresh, floor=model.floor, take=model.snapshot)
    return model, run


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_directions(layout, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 5)) + 2.0
    X[rng.random(X.shape) < 0.3] = 0.0
    model, run = a_model(X)
    if layout == "csr":
        model.data = read_data(csr(X), 0.0)
    model.alpha[:] = 0.4
    smoothed = SmoothedProblem(model, run)
    band = (smoothed.alpha > 0.0) & (smoothed.alpha < 1.0)
    assert band.sum() > 2
    k = smoothed._smoothing.stiffness[band]
    centred = X[band] - k @ X[band] / k.sum()
    H = np.eye(5) + centred.T @ (centred * k[:, None])
    expected = np.linalg.solve(H, -smoothed._residual[:-1])
    np.testing.assert_allclose(smoothed._direction()[:-1], expected, atol=1e-10)
    monkeypatch.setattr(method, "LARGEST_SYSTEM", 0)
    monkeypatch.setattr(method, "CG_ACCURACY", 1e-12)
    np.testing.assert_allclose(smoothed._direction()[:-1], expected, atol=1e-10)


@pytest.mark.parametrize("largest", [0, 2000])
def test_newton_alone_finds_what_sweeps_find(largest, monkeypatch):
    monkeypatch.setattr(method, "LARGEST_SYSTEM", largest)
    X = np.random.default_rng(5).normal(size=(60, 4)) + 2.0
    by_sweeps = train_one_class(read_data(X, 0.0), None, 0.4, "hybrid", Stop(gap_tol=1e-12), seed=0)
    model, run = a_model(X)
    assert ended(lambda: proximal_newton(model, run)) == "gap_tol"
    np.testing.assert_allclose(model.w[:-1], by_sweeps.w, rtol=1e-5)
    assert -model.rho == pytest.approx(by_sweeps.intercept, rel=1e-5)
    assert run.certificate.primal == pytest.approx(by_sweeps.certificate.primal, rel=1e-9)


def test_columns_of_all_scales_end():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(8, 5)) * 10.0 ** np.array([-4.0, -2.0, 0.0, 2.0, 3.0])
    s = train_one_class(read_data(X, 0.0), None, 0.3, "auto", Stop(tol=1e-9), seed=0)
    assert s.solver == "hybrid+newton"
    assert s.converged
    assert s.certificate.gap < 1e-8
    assert s.n_iter < 1000
