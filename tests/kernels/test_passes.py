"""The check of sparse rows, against the definition: all entries at once, rows of every length."""

import numpy as np
import pytest
from scipy import sparse

from hingeline.kernels.passes import scan_sparse
from hingeline.kernels.views import unsigned


def scan(X, begin=0, end=None):
    end = X.shape[0] if end is None else end
    return scan_sparse(unsigned(X.indptr), unsigned(X.indices), X.data, X.shape[1], begin, end)


def rows_of(X):
    return [X.indices[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


@pytest.mark.parametrize("seed", range(30))
def test_order_and_ones_as_defined(seed):
    """Rows without entries, rows that begin below, at and above the end of the one before, rows out of order."""
    rng = np.random.default_rng(seed)
    X = sparse.random(30, 6, density=rng.uniform(0.05, 0.9), format="csr", random_state=seed)
    X.data[:] = 1.0
    if seed % 3 == 1 and X.nnz > 1:
        k = rng.integers(X.nnz - 1)
        X.indices[k : k + 2] = X.indices[k : k + 2][::-1]  # within a row, or across a boundary
    if seed % 3 == 2 and X.nnz > 1:
        X.indices[rng.integers(X.nnz)] = 3
        X.data[rng.integers(X.nnz)] = rng.choice([1.0, 2.0, np.nan])
    for begin, end in ((0, 30), (7, 19), (5, 5), (29, 30)):
        part = slice(X.indptr[begin], X.indptr[end])
        expected = all(np.all(np.diff(row) > 0) for row in rows_of(X)[begin:end])
        assert scan(X, begin, end) == (-1, expected, bool(np.all(X.data[part] == 1.0)))


@pytest.mark.parametrize("seed", range(10))
def test_the_first_bad_row_is_named(seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(40, 5, density=0.3, format="csr", random_state=seed)
    X.indices = X.indices.astype(np.int32)
    bad = rng.choice(X.nnz, size=2, replace=False)
    X.indices[bad] = rng.choice([-1, 5, 2**31 - 1], size=2)
    row = int(np.searchsorted(X.indptr, bad.min(), side="right")) - 1
    assert scan(X)[0] == row


@pytest.mark.parametrize("value", [-1, 10**6])
def test_pointers_that_go_back_or_too_far_are_found_before_they_are_followed(value):
    X = sparse.random(20, 5, density=0.5, format="csr", random_state=0)
    X.indptr[11] = value
    assert scan(X)[0] == 10
