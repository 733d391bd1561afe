"""Sparse rows on a device: float32 is widened in tiles."""

import numpy as np
import pytest
from problems import classification, csr

N, D, BIAS = 200, 9, 0.5


def matrix():
    X, _ = classification(N, D, seed=3, density=0.3)
    return X.astype(np.float32)


def rows_of(library, X, bias=BIAS):
    from hingeline.arrays.rows import array_rows

    return array_rows(library.sparse(X), bias)


@pytest.mark.parametrize("tile", [37, 1 << 24])
def test_float32_is_widened_in_tiles(library, tile, monkeypatch):
    from hingeline.arrays import sparse_rows

    monkeypatch.setattr(sparse_rows, "TILE", tile)
    X, rng = matrix(), np.random.default_rng(0)
    rows = rows_of(library, csr(X).astype(np.float32))
    whole = np.column_stack([X.astype(np.float64), np.full(N, BIAS)])
    W, A = rng.normal(size=(3, D + 1)), rng.normal(size=(3, N))

    def same(found, expected):
        np.testing.assert_allclose(library.back(found), expected, rtol=1e-12, atol=1e-12)

    same(rows.times(library.put(W[0])), whole @ W[0])
    same(rows.transposed_times(library.put(A[0])), whole.T @ A[0])
    same(rows.times_many(library.put(W)), W @ whole.T)
    same(rows.transposed_times_many(library.put(A)), A @ whole)
    same(rows.squared_lengths(), np.sum(whole**2, axis=1))
    same(rows.diagonals(library.put(A)), A @ whole**2)
    same(rows.gram(library.put(A[0])), whole.T @ (A[0][:, None] * whole))
    assert rows._X.values.dtype == rows._Xt.values.dtype == library.put(X).dtype
