"""A Newton step in one call: against the same step in NumPy, for dense and sparse rows."""

import numpy as np
import pytest
from problems import classification, csr

from hingeline.data.read import read_data
from hingeline.kernels.gram import room_for_gram
from hingeline.kernels.losses import SquaredHinge
from hingeline.solvers.shards.kernels import BLOCK, Vectors
from hingeline.solvers.shards.small import solve_positive, step_at_once

C, BIAS = 0.7, 0.5


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_a_step_is_newtons(layout, free):
    X, y = classification(80, 6, seed=2, density=0.8)
    rows = read_data(layout(X), BIAS).rows
    Z = y[:, None] * np.column_stack([X, np.full(len(X), BIAS)])
    n, d = Z.shape
    w = np.random.default_rng(0).normal(size=d)
    m = 1.0 - Z @ w
    alpha, band = 2.0 * C * np.maximum(m, 0.0), C * (m > 0.0)
    v, start = Z.T @ alpha, w.copy()
    one = np.ones(d)
    one[-1] = 0.0 if free else 1.0  # whether the intercept is regularised
    p = np.linalg.solve(np.diag(one) + 2.0 * Z.T @ (band[:, None] * Z), v - one * w)
    promised = float((v - one * w) @ p)
    inside, t = (m > 0.0).astype(np.uint8), np.empty(n)
    vectors = tuple(Vectors(np.array([C]), y.astype(np.float32), m, t, t, inside, inside))
    room = (np.empty((d, d)), np.empty(d), room_for_gram(rows), np.empty(BLOCK))
    settings = (0.0, 2.0, True, 1e-9, 1e-14, free)
    decrement, taken, _, found = step_at_once(rows, SquaredHinge(C), vectors, *settings, w, v, *room)
    violation, size, _, losses, gap, _ = found
    assert decrement == pytest.approx(promised, rel=1e-10)
    tau = float((w - start) @ p) / float(p @ p)
    assert taken == pytest.approx(tau, rel=1e-8)
    np.testing.assert_allclose(w, start + tau * p, rtol=1e-9)
    margins = 1.0 - Z @ w
    slope = float((one * w - 2.0 * C * Z.T @ np.maximum(margins, 0.0)) @ p)
    assert abs(slope) < 1e-8 * promised  # the minimum along the line
    np.testing.assert_allclose(m, margins, atol=1e-12)
    np.testing.assert_array_equal(inside, margins > 0.0)
    np.testing.assert_allclose(v, 2.0 * C * Z.T @ np.maximum(margins, 0.0), atol=1e-10)
    assert losses == pytest.approx(C * np.sum(np.maximum(margins, 0.0) ** 2))
    assert (violation, size, gap) == (0.0, np.count_nonzero(margins > 0.0), 0.0)


@pytest.mark.parametrize("size", [1.0, 1e6, 1e10])
def test_dependent_columns_leave_a_direction_of_descent(size):
    rng = np.random.default_rng(0)
    A = size * rng.normal(size=(40, 3))
    A = np.column_stack([A, A.sum(axis=1), A[:, 0]])
    b = A.T @ rng.normal(size=40)
    x = b.copy()
    solve_positive(np.eye(5) + A.T @ A, x, 1e-14)
    assert np.isfinite(x).all()
    assert b @ x > 0.0


def test_nothing_moves_without_a_direction():
    X, y = classification(20, 3, seed=2)
    rows = read_data(np.asarray(X), BIAS).rows
    n, d = len(X), X.shape[1] + 1
    w, v, m = np.zeros(d), np.full(d, np.nan), np.ones(n)
    t, band = np.zeros(n), np.zeros(n, dtype=np.uint8)
    vectors = tuple(Vectors(np.array([C]), y.astype(np.float32), m, t, t, band, band))
    room = (np.empty((d, d)), np.empty(d), room_for_gram(rows), np.empty(BLOCK))
    decrement, _, _, _ = step_at_once(rows, SquaredHinge(C), vectors, 0.0, 2.0, True, 1e-9, 1e-14, False, w, v, *room)
    assert decrement == 0.0
    assert (w == 0.0).all()
    assert (m == 1.0).all()
    assert np.isfinite(v).all()
