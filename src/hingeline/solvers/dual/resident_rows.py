"""Rows that stay in memory while the others are read from a file: those of a block that are still active, copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import by_type, kernel
from ...kernels.rows import ONE, CsrRows, OnesRows


@kernel
def pointers_of(rows: Any, kept: Any, indptr: Any) -> Any:
    """Fill ``indptr`` for a matrix with the rows ``kept`` (in order) of ``rows``, the others empty; returns its end."""
    n, at, k = np.uint64(indptr.size - 1), np.uint64(0), np.uint64(0)
    indptr[0] = 0
    for i in range(n):
        if k < np.uint64(kept.size) and kept[k] == i:
            at += np.uint64(rows.indptr[i + ONE] - rows.indptr[i])
            k += ONE
        indptr[i + ONE] = at
    return at


def copy_csr(rows: CsrRows, i: Any, at: Any, indices: Any, data: Any) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        indices[at], data[at] = rows.indices[k], rows.data[k]
        at += ONE


def copy_ones(rows: OnesRows, i: Any, at: Any, indices: Any) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        indices[at] = rows.indices[k]
        at += ONE


copy_row = by_type({CsrRows: copy_csr, OnesRows: copy_ones})


@kernel
def copy_rows(rows: Any, kept: Any, indptr: Any, *arrays: Any) -> None:
    """Copy the entries of the rows ``kept`` into ``arrays`` (indices and, where there are any, values)."""
    for k in range(np.uint64(kept.size)):
        copy_row(rows, kept[k], np.uint64(indptr[kept[k]]), *arrays)
