"""From rows to columns: the data matrix turned round, once for all the problems over it."""

from __future__ import annotations

import numpy as np

from ..kernels.columns import Columns, count_entries, fill_entries
from ..kernels.rows import CsrRows, DenseRows
from ..pace import Pace
from ..problem import Data


def as_columns(data: Data, pace: Pace | None = None) -> Columns:
    """Return the columns of ``data``, the intercept's last (empty where there is none)."""
    pace = Pace() if pace is None else pace
    rows, n, d = data.rows, data.n_rows, data.n_features
    counts = np.zeros(d + 2, dtype=np.uint64)
    for begin, end in pace.slices(n):
        count_entries(rows, counts, begin, end)
    counts[d + 1] = n if rows.bias else 0
    indptr = np.cumsum(counts, dtype=np.uint64)
    kind = np.float64
    if isinstance(rows, CsrRows):
        kind = rows.data.dtype.type
    elif isinstance(rows, DenseRows):
        kind = rows.X.dtype.type
    if float(kind(rows.bias)) != rows.bias:
        kind = np.float64
    indices, values = np.empty(int(indptr[-1]), dtype=np.uint32), np.empty(int(indptr[-1]), dtype=kind)
    at = indptr[:-1].copy()
    for begin, end in pace.slices(n):
        fill_entries(rows, at, indices, values, begin, end)
    if rows.bias:
        indices[-n:] = np.arange(n, dtype=np.uint32)
        values[-n:] = rows.bias
    return Columns(indptr, indices, values)
