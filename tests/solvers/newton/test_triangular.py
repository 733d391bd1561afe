"""Newton's equation by its rows: exact where the Hessian has forgotten what it was made of."""

from fractions import Fraction

import numpy as np
import pytest

from hingeline import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Pinball,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    solve,
)
from hingeline.solvers.newton import triangular
from hingeline.solvers.newton.triangular import solved_by_rows
from hingeline.solvers.shards.precise import PreciseRows


class Rows(PreciseRows):
    """Rows that are all in the band."""

    def __init__(self, Z, curvatures):
        self._curved = Z, curvatures

    @property
    def curved(self):
        return self._curved


def exact_solution(Z, curvatures, b, is_free):
    """Solve the equation in fractions, by elimination."""
    n = Z.shape[1]
    rows = [[Fraction(float(value)) for value in row] for row in Z]
    c = [Fraction(float(value)) for value in curvatures]
    H = [[sum(c_i * z[j] * z[k] for c_i, z in zip(c, rows, strict=True)) for k in range(n)] for j in range(n)]
    for j in range(n - is_free):
        H[j][j] += 1
    x = [Fraction(float(value)) for value in b]
    for k in range(n):
        for i in range(k + 1, n):
            factor = H[i][k] / H[k][k]
            H[i] = [h - factor * top for h, top in zip(H[i], H[k], strict=True)]
            x[i] -= factor * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - sum(H[k][j] * x[j] for j in range(k + 1, n))) / H[k][k]
    return np.array([float(value) for value in x])


def timestamps(n, seed):
    """Start and end of something as seconds since 1970, how long it took, and noise; the last column is constant."""
    rng = np.random.default_rng(seed)
    start, duration = 1.7e9 + rng.uniform(0.0, 3e7, n), rng.exponential(1e3, n)
    return np.column_stack([start, start + duration, duration, rng.normal(size=n), np.ones(n)])


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_dependent_columns(seed, is_free):
    rng = np.random.default_rng(seed)
    Z, curvatures, b = timestamps(12, seed), rng.uniform(0.5, 2.0, 12), rng.normal(size=5)
    expected = exact_solution(Z, curvatures, b, is_free)
    found, low = solved_by_rows(Rows(Z, curvatures), b, is_free)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert np.abs(low).max() <= 2.0**-53 * np.abs(found).max()


@pytest.mark.parametrize(("largest", "curvature"), [(0, 1.0), (10**9, 1e2)])
def test_what_is_left_is_far_below_rounding_of_the_terms(largest, curvature, monkeypatch):
    """Terms of 1e15 and more that cancel: p alone, rounded, would leave more than b itself.

    At larger curvatures a step is rounded by more than what is left, and whether that shows depends on the CPU.
    """
    monkeypatch.setattr(triangular, "LARGEST_PRECISE", largest)
    Z, b = timestamps(12, 3), np.random.default_rng(3).normal(size=5)
    rows = Rows(Z, np.full(12, curvature))
    p, low = solved_by_rows(rows, b, is_free=False)
    assert np.abs(rows.left(b, False, p, low)).max() < 1e-4
    assert np.abs(rows.left(b, False, p, np.zeros(5))).max() > 1.0


def test_a_factor_of_rows_of_any_scale():
    """The pivots of R are those of elimination in fractions, even if the last is a 1e-17th of the first."""
    Z, roots = timestamps(12, 0), np.full(12, 1e8)
    R, order = triangular._factored(Z, roots, np.ones(5), False)
    rows = [[Fraction(float(value)) for value in row[order]] for row in Z]
    H = [[10**16 * sum(z[j] * z[k] for z in rows) + (j == k) for k in range(5)] for j in range(5)]
    for k in range(5):
        assert R[k, k] ** 2 == pytest.approx(float(H[k][k]), rel=1e-9)
        for i in range(k + 1, 5):
            factor = H[i][k] / H[k][k]
            H[i] = [h - factor * top for h, top in zip(H[i], H[k], strict=True)]


def test_nothing_to_solve():
    assert solved_by_rows(Rows(np.full((2, 2), np.inf), np.ones(2)), np.ones(2), is_free=False) is None
    assert solved_by_rows(Rows(np.zeros((2, 2)), np.ones(2)), np.ones(2), is_free=True) is None


LOSSES = [Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive, Pinball]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_timestamps_are_certified(loss, free):
    """Dual variables fit the weights although scores are sums of terms that are a billion times as large."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = timestamps(30, seed)[:, :4], np.where(rng.random(30) < 0.4, 1.0, -1.0)
        if loss(1.0).is_regression:
            y = rng.normal(size=30)
        solution = solve(X, y, loss(10.0 ** rng.uniform(-4, 3)), bias=1.0, free_intercept=free)
        assert solution.converged
        assert solution.certificate.gap < 1e-3


@pytest.mark.parametrize("loss", [EpsilonInsensitive, Pinball])
def test_many_targets_that_are_met_exactly(loss):
    """Many rows at a kink, and a large C: what a stage gains is invisible for many stages, and then alpha moves."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, d = 25, int(rng.integers(1, 6))
        X = rng.integers(-5, 6, size=(n, d)).astype(float)
        y = X @ rng.integers(-5, 6, size=d) + rng.choice([0.0, 1.0], size=n)
        solution = solve(X, y, loss(10.0 ** rng.uniform(3, 6)), bias=1.0)
        assert solution.converged
        assert solution.certificate.gap < 1e-3


@pytest.mark.parametrize("loss", [EpsilonInsensitive, SquaredEpsilonInsensitive])
def test_dual_variables_that_no_margin_can_show(loss):
    """One large column: variables of 1e-19 hold the weight, and a margin near epsilon has no digits for them."""
    good = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = 1.7e9 + rng.uniform(0.0, 3e7, size=(30, 1))
        y = 2.3e-10 * X[:, 0] + rng.uniform(-1e-3, 1e-3, size=30)
        solution = solve(X, y, loss(C=3e5, epsilon=1.2e-3), bias=1.0)
        good += solution.converged and solution.certificate.gap < 1e-3
    assert good >= 8  # none was, without them; a line search may still miss the kink
