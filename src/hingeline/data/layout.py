"""How rows are stored in memory: the views that kernels are compiled for, and the layout that is fastest."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..kernels.rows import CsrRows, DenseRows, OnesRows
from ..kernels.views import read_only, unsigned
from ..runtime.pace import Pace
from .compress import compress_rows, count_nonzeros

WIDE, PROBED = 64, 256  # least columns, and rows probed, of dense rows that may be faster as sparse ones
FEW_NONZEROS, FEWER_IN_CACHE = 0.2, 0.05  # fraction of non-zeros below which sparse rows are 2x to 20x faster
IN_CACHE = 2_000_000  # values
NEARLY_DENSE = 2 / 3  # fraction of stored values from which dense rows take no more memory, and half the time
WORTH_FILLING, LARGEST_FILLED = 10_000, 10_000_000  # entries of sparse matrices that are made dense


def sparse_rows(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray | None, bias: float) -> CsrRows | OnesRows:
    """Return sparse rows; without ``data`` every value is 1."""
    indptr, indices = unsigned(indptr), unsigned(indices)
    return OnesRows(indptr, indices, bias) if data is None else CsrRows(indptr, indices, data, bias)


def compressed(rows: DenseRows, pace: Pace) -> CsrRows | OnesRows | None:
    """Return dense rows as sparse ones if they have so few non-zeros that steps get cheaper; else None."""
    X, n_rows = rows.X, len(rows.X)
    if X.shape[1] < WIDE:
        return None
    few = FEW_NONZEROS if X.size > IN_CACHE else FEWER_IN_CACHE
    probe = X[:: max(1, n_rows // PROBED)]
    if np.count_nonzero(probe) > few * probe.size:
        return None
    counts = np.zeros(n_rows + 1, dtype=np.int64)
    pace.each(n_rows, lambda part, begin, end: count_nonzeros(X, counts[1:], begin, end))
    indptr = np.cumsum(counts)
    if indptr[-1] > few * X.size:
        return None
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=X.dtype)
    pace.each(n_rows, lambda part, begin, end: compress_rows(X, indptr, indices, data, begin, end))
    all_ones = data.size > 0 and bool((data == 1.0).all())
    return sparse_rows(indptr, indices, None if all_ones else read_only(data), rows.bias)


def filled(rows: CsrRows | OnesRows, n_rows: int, n_features: int) -> DenseRows | None:
    """Return sparse rows that are nearly full, and not large, as dense ones; else None."""
    size = n_rows * n_features
    if (
        isinstance(rows, OnesRows)
        or not WORTH_FILLING <= size <= LARGEST_FILLED
        or rows.data.size < NEARLY_DENSE * size
    ):
        return None
    indices, indptr = (array.view(f"i{array.itemsize}") for array in (rows.indices, rows.indptr))
    X = sparse.csr_matrix((rows.data, indices, indptr), shape=(n_rows, n_features)).toarray()
    return DenseRows(read_only(X), rows.bias)
