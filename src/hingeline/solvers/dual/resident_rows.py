"""Rows that stay in memory while the others are read from files: copies of the active ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.compile import by_type, kernel
from ...kernels.losses import Loss, lower, upper
from ...kernels.rows import ONE, CsrRows, OnesRows
from ...kernels.types import Counts, Flags, Index, Indices, Vector
from ...kernels.variables import Variables


@dataclass
class Part:
    """The rows of a block that are visited: all of them, or copies of the active ones.

    ``rows``, ``variables`` and ``accounts`` are numbered as in the block; A lists the rows to visit, in order.
    """

    rows: CsrRows | OnesRows
    variables: Variables
    accounts: Vector
    A: Indices


class Shelf:
    """Copies of active rows, one part per block, within ``capacity`` bytes.

    If not all active rows fit, rows with free variables (not zero, not at a bound) come first, since others may never
    move again; then those with the largest preferences.
    """

    def __init__(self, loss: Loss, n_blocks: int, capacity: int) -> None:
        self.parts: dict[int, Part] = {}
        self._loss = loss
        self._capacity = capacity
        self._level = capacity // n_blocks  # bytes that a block may take
        self._taken, self._wanted = np.zeros((2, n_blocks), dtype=np.int64)

    def keep(self, number: int, part: Part) -> None:
        """Replace what is kept of block ``number`` with copies of the active rows of ``part``."""
        rows, p = part.rows, part.variables.p
        self.parts.pop(number, None)
        self._taken[number] = self._wanted[number] = 0
        if part.A.size == 0:
            return
        pointers, sizes = rows.indptr.nbytes, _bytes_of(rows, part.A)
        free = self._is_free(part)
        self._wanted[number] = pointers + int(sizes[free].sum())
        allowed = min(self._level, self._capacity - int(self._taken.sum())) - pointers
        A = part.A
        if sizes.sum() > allowed:
            order = np.lexsort((-p[A], ~free))
            fit = int(np.searchsorted(np.cumsum(sizes[order]), allowed, side="right"))
            A = np.sort(A[order[:fit]])
        if A.size:
            copy = _copy_of(rows, A)
            self.parts[number] = Part(copy, part.variables, part.accounts, A.copy())
            self._taken[number] = pointers + int(_bytes_of(rows, A).sum())

    def share_out(self) -> None:
        """Set how many bytes a block may take: small requests are met in full, large ones share the rest."""
        wanted = np.sort(self._wanted)
        before = np.concatenate(([0], np.cumsum(wanted)[:-1]))
        levels = (self._capacity - before) // np.arange(wanted.size, 0, -1)
        unmet = np.flatnonzero(levels < wanted)
        self._level = int(levels[unmet[0]]) if unmet.size else int(levels[-1])

    def _is_free(self, part: Part) -> Flags:
        alpha, C = part.variables.alpha[part.A], part.variables.C[part.A]
        return (alpha != 0.0) & (alpha > lower(self._loss, C)) & (alpha < upper(self._loss, C))


def _bytes_of(rows: CsrRows | OnesRows, A: Indices) -> Counts:
    """Return how many bytes the entries of each row in A take."""
    per_entry = rows.indices.itemsize + (rows.data.itemsize if isinstance(rows, CsrRows) else 0)
    return per_entry * (rows.indptr[A + np.uint32(1)] - rows.indptr[A]).astype(np.int64)


def _copy_of(rows: CsrRows | OnesRows, kept: Indices) -> CsrRows | OnesRows:
    """Return a matrix with the same number of rows, all empty but ``kept``."""
    indptr = np.empty_like(rows.indptr)
    n = int(fill_pointers(rows, kept, indptr))
    arrays = [indptr, *(np.empty(n, array.dtype) for array in rows[1:-1])]
    copy_rows(rows, kept, *arrays)
    for array in arrays:
        array.flags.writeable = False  # the type that kernels are compiled for
    like: Any = type(rows)
    copy: CsrRows | OnesRows = like(*arrays, rows.bias)
    return copy


@kernel
def fill_pointers(rows: CsrRows | OnesRows, kept: Indices, indptr: Indices) -> Index:
    """Fill ``indptr`` of a copy of ``rows`` that is empty but for the rows ``kept`` (in order); returns its end."""
    n, at, k = np.uint64(indptr.size - 1), np.uint64(0), np.uint64(0)
    indptr[0] = 0
    for i in range(n):
        if k < np.uint64(kept.size) and kept[k] == i:
            at += np.uint64(rows.indptr[i + ONE] - rows.indptr[i])
            k += ONE
        indptr[i + ONE] = at
    return at


def copy_csr(rows: CsrRows, i: Index, at: Index, indices: Indices, data: Vector) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        indices[at], data[at] = rows.indices[k], rows.data[k]
        at += ONE


def copy_ones(rows: OnesRows, i: Index, at: Index, indices: Indices) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        indices[at] = rows.indices[k]
        at += ONE


copy_row = by_type({CsrRows: copy_csr, OnesRows: copy_ones})


@kernel
def copy_rows(rows: CsrRows | OnesRows, kept: Indices, indptr: Indices, *arrays: Vector) -> None:
    """Copy the entries of the rows ``kept`` into ``arrays``: indices, and values if ``rows`` stores any."""
    for k in range(np.uint64(kept.size)):
        copy_row(rows, kept[k], np.uint64(indptr[kept[k]]), *arrays)
