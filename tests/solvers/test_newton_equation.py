"""Newton's equation: badly scaled and singular Hessians."""

import numpy as np
import pytest

from hingeline.solvers.newton_equation import solve_scaled


def test_newtons_equation_bears_bad_scaling():
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.uniform(-8, 8, size=12)
    root = rng.normal(size=(12, 12)) * scales
    H, x = root.T @ root, rng.normal(size=12) / scales
    np.testing.assert_allclose(solve_scaled(np.tril(H), H @ x) * scales, x * scales, rtol=1e-6)


def test_a_singular_equation_still_gives_a_descent():
    x = np.array([1.0, 1e8, -1e8])
    b = np.array([1.0, -2.0, 0.5])
    assert solve_scaled(1e20 * np.outer(x, x) + np.eye(3), b) @ b > 0.0


@pytest.mark.parametrize("nothing", [0.0, -1e-20])  # rounding may leave less than nothing
def test_unknowns_without_curvature_stay_where_they_are(nothing):
    H, b = np.diag([4.0, nothing, 2.0]), np.array([2.0, 1.0, 1.0])
    np.testing.assert_allclose(solve_scaled(H, b), [0.5, 0.0, 0.5], rtol=1e-12)
