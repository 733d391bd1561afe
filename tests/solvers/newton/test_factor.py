"""Factors of badly scaled matrices: accurate if the columns are independent, finite and downhill if they are not."""

import numpy as np
import pytest

from hingeline.solvers.newton.factor import factored

DAMPING = 1e-14


def test_scale_does_not_matter():
    rng = np.random.default_rng(0)
    A, scales = rng.normal(size=(40, 6)), np.logspace(-8, 10, 6)
    x = rng.normal(size=6) / scales
    H = np.asfortranarray((A.T @ A) * np.outer(scales, scales))
    factor = factored(H, DAMPING)
    np.testing.assert_allclose(factor.solve_refined(H @ x), x, rtol=1e-9)


def test_refining_undoes_damping():
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(40, 6)), rng.normal(size=6)
    H = np.asfortranarray(A.T @ A)
    factor = factored(H, 1e-4)
    once, refined = (np.abs(f(H @ x) - x).max() for f in (factor.solve, factor.solve_refined))
    assert refined < 0.01 * once


@pytest.mark.parametrize("size", [1.0, 1e6, 1e10])
def test_dependent_columns_leave_a_direction_of_descent(size):
    rng = np.random.default_rng(2)
    A = size * rng.normal(size=(40, 3))
    A = np.c_[A, A.sum(axis=1), A[:, 0]]
    H = np.asfortranarray(np.eye(5) + A.T @ A)
    gradient = A.T @ rng.normal(size=40)
    p = factored(H, DAMPING).solve(-gradient)
    assert np.isfinite(p).all()
    assert gradient @ p < 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, 0.0])
def test_no_factor_of_what_is_no_hessian(bad):
    H = np.asfortranarray(np.diag([1.0, bad]))
    assert factored(H, DAMPING) is None
