"""Passes over the arrays of a CSR matrix that may be mapped from files: blocks of rows, checks, checksums."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.passes import scan_sparse
from ..kernels.views import unsigned
from ..runtime.pace import Pace

SAMPLED_BLOCKS, SAMPLED_BYTES = 64, 1 << 16  # of an array, for its checksum


def row_blocks(indptr: np.ndarray, most_entries: int, most_rows: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of consecutive blocks of rows with so many entries and rows at most.

    A row with more entries is a block of its own. ``indptr`` must not decrease.
    """
    n_rows, last = indptr.size - 1, int(indptr[-1])
    as_in_array = indptr.dtype.type  # a number of another type would make NumPy convert the whole array
    begin = 0
    while begin < n_rows:
        full = as_in_array(min(int(indptr[begin]) + most_entries, last))
        end = int(np.searchsorted(indptr, full, side="right")) - 1
        end = min(n_rows, begin + most_rows, max(begin + 1, end))
        yield begin, end
        begin = end


def rows_between(X: Any, begin: int, end: int) -> sparse.csr_matrix:
    """Return the rows from ``begin`` to before ``end``, their columns checked.

    (SciPy's own slice may copy all of a memory-mapped matrix first, and does not check columns.)
    """
    low, high = int(X.indptr[begin]), int(X.indptr[end])
    indices = X.indices[low:high]
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < X.shape[1]:
        raise ValueError(f"Rows {begin} to {end - 1} have a column outside [0, {X.shape[1]}): the data is damaged.")
    return sparse.csr_matrix((X.data[low:high], indices, X.indptr[begin : end + 1] - low), (end - begin, X.shape[1]))


def scan_rows(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, columns: int) -> tuple[int, bool, bool]:
    """Return the first malformed row (-1: none), whether columns increase in each row, whether all values are 1."""
    increasing = all_ones = True
    for begin, end in Pace().slices(indptr.size - 1):
        bad, in_order, ones = scan_sparse(unsigned(indptr), unsigned(indices), values, columns, begin, end)
        if bad >= 0:
            return int(bad), False, False
        increasing &= bool(in_order)
        all_ones &= bool(ones)
    return -1, increasing, all_ones


def checksums(X: Any, y: np.ndarray) -> list[int]:
    """Return a checksum of each array of a data set; they almost surely differ between two data sets."""
    return [checksum(array) for array in (X.indptr, X.indices, X.data, y)]


def checksum(array: np.ndarray) -> int:
    """Return a checksum of blocks that are spread over an array; all of it if it is small."""
    array = array[:1] if array.strides == (0,) else array
    parts = np.ascontiguousarray(array).view(np.uint8) if array.ndim == 1 else array  # bytes, or rows
    at_once = max(1, SAMPLED_BYTES * len(parts) // max(1, parts.nbytes))
    crc32 = 0
    for begin in np.unique(np.linspace(0, max(0, len(parts) - at_once), SAMPLED_BLOCKS, dtype=np.int64)):
        block = np.ascontiguousarray(parts[begin : begin + at_once])
        crc32 = zlib.crc32(block.reshape(-1).view(np.uint8).data, crc32)
    return crc32
