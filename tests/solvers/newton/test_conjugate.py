"""Conjugate gradients against a solver of dense systems."""

import numpy as np
import pytest

from hingeline.solvers.newton.conjugate import conjugate_gradients


@pytest.mark.parametrize("preconditioned", [True, False])
def test_solves_to_what_is_enough(preconditioned):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    H, g = A @ A.T + np.diag(np.logspace(0, 3, 30)), rng.normal(size=30)
    diagonal = np.diag(H) if preconditioned else np.ones(30)
    p, left, n_products = conjugate_gradients(lambda d: H @ d, lambda r: r / diagonal, g, 1e-8, 500)
    np.testing.assert_allclose(p, np.linalg.solve(H, -g), atol=1e-7)
    np.testing.assert_allclose(left, g + H @ p, atol=1e-10)
    assert np.linalg.norm(left) <= 1e-8
    assert 1 < n_products < 500


def test_few_products_give_a_direction_of_descent():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 30))
    H, g = A @ A.T + np.eye(30), rng.normal(size=30)
    asked = []
    p, _, n_products = conjugate_gradients(lambda d: asked.append(d) or H @ d, lambda r: r, g, 0.0, 3)
    assert len(asked) == n_products == 3
    assert g @ p < 0.0


@pytest.mark.parametrize("curvature", [0.0, 1e-300, -1.0, np.nan])
def test_no_curvature_ends_without_a_step(curvature):
    p, left, _ = conjugate_gradients(lambda d: curvature * d, lambda r: r, np.ones(3), 0.0, 10)
    np.testing.assert_array_equal(p, 0.0)
    np.testing.assert_array_equal(left, 1.0)
