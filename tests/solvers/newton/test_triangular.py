"""Newton's equation by its rows: exact where the Hessian has forgotten what it was made of."""

from fractions import Fraction

import numpy as np
import pytest

from hingeline import Logistic, SquaredHinge, solve
from hingeline.solvers.newton.triangular import solved_by_rows


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
    found = solved_by_rows(Z, curvatures, b, is_free)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_nothing_to_solve():
    assert solved_by_rows(np.full((2, 2), np.inf), np.ones(2), np.ones(2), is_free=False) is None
    assert solved_by_rows(np.zeros((2, 2)), np.ones(2), np.ones(2), is_free=True) is None


@pytest.mark.parametrize("loss", [SquaredHinge(1.0), Logistic(1.0)])
@pytest.mark.parametrize("seed", range(6))
def test_timestamps_converge(loss, seed):
    X, y = timestamps(46, seed)[:, :4], np.where(np.arange(46) % 4 == 3, 1, -1)
    solution = solve(X, y, loss, bias=1.0)
    assert solution.converged
    assert solution.certificate.gap < 1e-4
