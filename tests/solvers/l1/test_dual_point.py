"""Dual variables with an L1 penalty: feasible whatever the slopes, and corrected at large C."""

from fractions import Fraction

import numpy as np
import pytest

from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace
from hingeline.solvers.l1.dual_point import DualPoints
from hingeline.solvers.l1.products import ByRows


def points_of(X, free, bias=1.0):
    data = read_data(X, bias)
    d = X.shape[1] + 1
    l1 = np.ones(d)
    if free:
        l1[-1] = 0.0
    n = len(X)
    return DualPoints(data, np.full(n, np.inf), l1, np.zeros(d), ByRows(data, Pace()), Pace())


def largest(X, beta):
    columns = [[Fraction(float(x)) for x in column] for column in X.T]
    return max(abs(sum(Fraction(float(b)) * x for b, x in zip(beta, column, strict=True))) for column in columns)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e9])
def test_feasible_exactly(free, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[20:] = -X[:20]  # so that sums cancel
    s = np.ones(40)
    s[10:30:2] = -1.0
    alpha = size * np.tile(rng.random(20), 2) * (1.0 + 1e-14 * rng.normal(size=40)) + rng.random(40)
    points, g = points_of(X, free), np.append(X, np.ones((40, 1)), axis=1).T @ (-s * alpha)
    scaled, v = points.feasible(alpha, -s * alpha, g)
    assert (scaled >= 0.0).all()
    assert largest(X, s * scaled) <= 1
    np.testing.assert_allclose(v[:-1], (s * scaled) @ X, atol=1e-14 * np.abs(scaled).sum())
    if free:
        assert abs((s * scaled).sum()) <= 1e-12 * scaled.sum()


@pytest.mark.parametrize("free", [False, True])
def test_corrected_for_what_is_known(free):
    rng = np.random.default_rng(1)
    X, s = rng.normal(size=(30, 3)), np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    points, alpha, w = points_of(X, free), rng.uniform(1.0, 2.0, size=30), np.array([2.0, 0.0, -1.0, 0.5])
    alpha *= 0.9 / np.abs((s * alpha) @ X).max()
    ((corrected, v),) = points.corrected(alpha, -s * alpha, w)
    assert v[0] > 0.6
    assert v[2] < -0.6
    assert np.abs(v[:3]).max() <= 1.0
    np.testing.assert_allclose(v[:-1], (s * corrected) @ X, atol=1e-12)
    assert (corrected >= 0.0).all()
    if free:
        assert v[-1] == 0.0
        assert abs((s * corrected).sum()) <= 1e-12 * corrected.sum()
    assert points_of(X, False).corrected(alpha, -s * alpha, np.zeros(4)) == []
