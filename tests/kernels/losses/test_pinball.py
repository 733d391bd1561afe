"""Quantile regression: the optimum against a general minimiser, and what rounding may not do."""

import numpy as np
import pytest
from problems import ENGINES, csr, regression
from scipy.optimize import minimize

from hingeline import EpsilonInsensitive, Pinball, solve
from hingeline.kernels import losses
from hingeline.kernels.compile import kernel


@kernel
def gap_terms(loss, m, alpha, C, out):
    for i in range(C.size):
        out[i] = losses.gap_term(loss, m, alpha[i], C[i])


def largest_dual(X, y, C, q):
    """Return the largest value of  a'y - |X'a|^2/2  over the box, by a general minimiser."""
    found = minimize(
        lambda a: (0.5 * np.sum((X.T @ a) ** 2) - a @ y, X @ (X.T @ a) - y),
        np.zeros(y.size),
        jac=True,
        bounds=[((q - 1.0) * C, q * C)] * y.size,
        method="L-BFGS-B",
        options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return -found.fun


@pytest.mark.parametrize("q", [0.05, 0.5, 0.8])
def test_every_engine_finds_the_optimum(q):
    X, y = regression(40, 4, seed=7)
    best = largest_dual(X, y, 0.5, q)
    for engine in (*ENGINES, "auto"):
        for rows in (X, csr(X)):
            s = solve(rows, y, Pinball(0.5, q), solver=engine, gap_tol=1e-9, random_state=0)
            assert s.converged, engine
            m = y - X @ s.w
            assert s.certificate.primal == pytest.approx(0.5 * s.w @ s.w + 0.5 * np.sum(np.maximum(q * m, (q - 1) * m)))
            assert s.certificate.dual <= best * (1.0 + 1e-6)
            assert s.certificate.primal >= best * (1.0 - 1e-12)
            assert s.certificate.primal == pytest.approx(best, rel=1e-6)
            assert (s.alpha >= (q - 1.0) * 0.5).all()
            assert (s.alpha <= q * 0.5).all()


def test_the_median_is_regression_with_no_tube():
    X, y = regression(60, 5, seed=8)
    median = solve(X, y, Pinball(1.4, 0.5), gap_tol=1e-10, bias=1.0)
    no_tube = solve(X, y, EpsilonInsensitive(0.7, 0.0), gap_tol=1e-10, bias=1.0)
    assert median.certificate.primal == pytest.approx(no_tube.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(median.w, no_tube.w, atol=1e-5)


def test_quantiles_mirror_each_other():
    """-y has the quantile 1 - q where y has q."""
    X, y = regression(60, 5, seed=9)
    one = solve(X, y, Pinball(1.0, 0.2), gap_tol=1e-10)
    other = solve(X, -y, Pinball(1.0, 0.8), gap_tol=1e-10)
    np.testing.assert_allclose(one.w, -other.w, atol=1e-5)


def test_no_gap_is_negative_at_a_bound():
    """q C and (q - 1) C are rounded in a variable, and compiled code need not round them in a difference."""
    rng = np.random.default_rng(0)
    C = rng.lognormal(size=200)
    for q in rng.random(20):
        loss = Pinball(1.0, q)
        for m in (1e3, -1e3):
            alpha = np.array([losses.response(loss, m, c) for c in C])
            terms = np.empty_like(C)
            gap_terms(loss, m, alpha, C, terms)
            assert terms.min() >= 0.0
            assert terms.max() <= 1e-15 * abs(m) * C.max()


@pytest.mark.parametrize("q", [0.0, 1.0, -0.5, 2.0, np.nan])
def test_quantiles_are_checked(q):
    with pytest.raises(ValueError, match="quantile must be above 0 and below 1"):
        solve([[1.0], [2.0]], [1.0, 2.0], Pinball(1.0, q))
