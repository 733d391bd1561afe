"""Dual variables of free intercepts: balanced, feasible, and hardly worse than before."""

import numpy as np
import pytest

from hingeline.solvers.multinomial.class_balance import balance_classes


def variables(seed, n=40, k=4, sharp=1.0):
    """Return dual variables of random scores, with classes y and weights C."""
    rng = np.random.default_rng(seed)
    y, C = rng.integers(k, size=n).astype(np.uint32), 10.0 ** rng.uniform(-3, 3, size=n)
    y[:k] = np.arange(k)
    f = sharp * rng.normal(size=(n, k))
    p = np.exp(f - f.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    alpha = -C[:, None] * p
    alpha[np.arange(n), y] = 0.0
    alpha[np.arange(n), y] = -alpha.sum(axis=1)
    return alpha, C, y


def assert_balanced(alpha, C, y):
    others = np.delete(alpha.ravel(), np.arange(len(y)) * alpha.shape[1] + y)
    assert (others <= 0.0).all()
    assert (alpha[np.arange(len(y)), y] <= C).all()
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-12 * C.max())
    np.testing.assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-13 * np.abs(alpha).sum())


@pytest.mark.parametrize("sharp", [0.1, 1.0, 30.0, 1e4])
def test_any_variables_are_balanced(sharp):
    for seed in range(5):
        alpha, C, y = variables(seed, sharp=sharp)
        balance_classes(alpha, C, y)
        assert_balanced(alpha, C, y)


def test_what_is_nearly_balanced_hardly_moves():
    alpha, C, y = variables(0)
    balance_classes(alpha, C, y)
    moved = alpha.copy()
    moved[:, 0] *= 1.0 - 1e-9
    moved[np.arange(len(y)), y] = 0.0
    moved[np.arange(len(y)), y] = -moved.sum(axis=1)
    balance_classes(moved, C, y)
    assert_balanced(moved, C, y)
    np.testing.assert_allclose(moved, alpha, rtol=1e-7, atol=1e-9 * C.max())


def test_corners():
    """Probabilities of 0 and 1, where nothing is curved: rows with the wrong class are brought back."""
    y, C = np.array([0, 1, 2, 0], dtype=np.uint32), np.ones(4)
    alpha = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    balance_classes(alpha, C, y)
    assert_balanced(alpha, C, y)
