"""The lasso of few columns solved exactly, also if they depend on each other."""

import numpy as np
import pytest

from hingeline.solvers.l1.active_set import MOST_CHANGES, Inverse, line_minimum, solve_exactly
from hingeline.solvers.l1.quadratic import DenseQuadratic


def a_lasso(seed, n=12, d=6, scales=None, l1=0.7):
    """Return z'Hz/2 + b'z + l1 |z| at z = 0 and its parts; the last two columns are equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (1.0 if scales is None else scales)
    X[:, -1] = X[:, -2]
    H, b = X.T @ X, -X.T @ rng.normal(size=n) * 3.0
    return DenseQuadratic(H, b.copy(), np.full(d, l1), np.zeros(d), np.sqrt(np.diag(H))), H, b


def objective(H, b, z, l1):
    return 0.5 * z @ H @ z + b @ z + np.sum(l1 * np.abs(z))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scales", [None, 10.0 ** np.array([-4.0, 3.0, 0.0, 2.0, -1.0, -1.0])])
def test_conditions_hold_and_the_gain_is_true(seed, scales):
    quadratic, H, b = a_lasso(seed, scales=scales)
    gain = solve_exactly(quadratic, 1e-10, 100)
    _, G, l1, z, scale = quadratic
    np.testing.assert_allclose(G, H @ z + b, atol=1e-9 * np.abs(b).max())
    violation = np.where(z == 0.0, np.abs(G) - l1, np.abs(G + l1 * np.sign(z))) / scale
    assert violation.max() <= 1e-9
    assert gain == pytest.approx(-objective(H, b, z, l1), rel=1e-9, abs=1e-12)


def test_a_column_without_penalty():
    quadratic, _, _ = a_lasso(3)
    quadratic.l1[0] = 0.0
    solve_exactly(quadratic, 1e-10, 100)
    assert abs(quadratic.G[0]) < 1e-8


def test_the_lowest_point_of_a_line():
    z, d, l1 = np.array([1.0, -2.0, 3.0]), np.array([-1.0, 1.5, 0.5]), np.array([0.5, 1.0, 0.2])
    b, curvature = 0.3, 0.4
    ts = np.linspace(0.0, 4.0, 400_001)

    def value(t):
        return b * t + 0.5 * curvature * t * t + np.sum(l1 * np.abs(z + np.multiply.outer(t, d)), axis=-1)

    for b in (-3.0, -1.0, 0.3, 0.9):
        slope = b + np.sum(l1 * np.sign(z) * d)
        if slope < 0.0:
            t, at_zero = line_minimum(slope, curvature, z, d, l1)
            assert t == pytest.approx(ts[np.argmin(value(ts))], abs=1e-4)
            assert at_zero == -1 or z[at_zero] + t * d[at_zero] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_an_inverse_follows_columns_that_come_and_go(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 40)) * 10.0 ** rng.integers(-3, 3, 40)
    H, wanted = X.T @ X, rng.random(40) < 0.5
    inverse = Inverse(H)
    inverse.solve(np.flatnonzero(wanted), np.ones(np.count_nonzero(wanted)))
    monkeypatch.setattr("hingeline.solvers.l1.active_set.solve_scaled", None)  # nothing is solved afresh
    monkeypatch.setattr(inverse, "_invert", None)
    for _ in range(30):
        wanted[rng.integers(0, 40, rng.integers(1, MOST_CHANGES))] ^= True
        A = np.flatnonzero(wanted)
        b = rng.normal(size=A.size) * np.sqrt(np.diag(H))[A]
        d = inverse.solve(A, b)
        scale = np.sqrt(np.diag(H))
        expected = np.zeros(40)
        expected[A] = np.linalg.solve(H[np.ix_(A, A)] / np.outer(scale[A], scale[A]), b / scale[A]) / scale[A]
        np.testing.assert_allclose(d * scale, expected * scale, atol=1e-6 * np.abs(expected * scale).max())


def test_an_inverse_of_dependent_columns_gives_descent_directions():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5, 12))
    H = X.T @ X
    inverse, A = Inverse(H), np.arange(12)
    for _ in range(12):
        b = rng.normal(size=A.size)
        d = inverse.solve(A, b)
        assert np.isfinite(d).all()
        assert d[A] @ b > 0.0
        A = np.delete(A, 0) if A.size > 8 else np.arange(12)
