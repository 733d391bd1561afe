"""Columns: the data matrix as the engines of L1-regularised problems see it, one feature at a time.

A feature's entries are stored together, with the indices of their rows. The intercept is one more column, stored like
the others. Rows are transposed once for all problems over the same data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...data.matrix import Data
from ...kernels.compile import by_type, kernel
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from ...kernels.types import Counts, Index, Indices, Vector
from ...runtime.pace import Pace

FEW_COLUMNS = 400  # below which the Hessian is computed from rows, and nothing needs the columns themselves
NOT_NEAR = np.uint32(0xFFFFFFFF)  # the number of rows that are left out
FIRST_ENTRIES = 2**18  # moved into their columns in a first slice


class Columns(NamedTuple):
    """Compressed sparse columns."""

    indptr: Indices
    indices: Indices
    data: Vector


def columns_if_many(data: Data, pace: Pace | None = None) -> Columns | None:
    """Return the columns of ``data``, or None if they are so few that training goes over rows."""
    return None if data.n_features < FEW_COLUMNS else as_columns(data, pace)


def as_columns(data: Data, pace: Pace | None = None) -> Columns:
    """Return the columns of ``data``, the intercept's last (empty if there is none)."""
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
    columns = Columns(indptr, np.empty(int(indptr[-1]), dtype=np.uint32), np.empty(int(indptr[-1]), dtype=kind))
    at = indptr[:-1].copy()
    pace.size = min(pace.size, max(1, FIRST_ENTRIES * n // max(1, columns.indices.size)))  # counting was faster
    for begin, end in pace.slices(n):
        fill_entries(rows, at, columns, begin, end)
    if rows.bias:
        columns.indices[-n:] = np.arange(n, dtype=np.uint32)
        columns.data[-n:] = rows.bias
    return columns


def sparse_count(rows: CsrRows | OnesRows, counts: Counts, begin: Index, end: Index) -> None:
    for t in range(rows.indptr[np.uint64(begin)], rows.indptr[np.uint64(end)]):
        counts[rows.indices[t] + ONE] += ONE


def dense_count(rows: DenseRows, counts: Counts, begin: Index, end: Index) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for j in range(np.uint64(rows.X.shape[1])):
            if rows.X[i, j] != 0.0:
                counts[j + ONE] += ONE


def sparse_fill(rows: CsrRows | OnesRows, at: Indices, columns: Columns, begin: Index, end: Index) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for t in range(rows.indptr[i], rows.indptr[i + ONE]):
            k = at[rows.indices[t]]
            at[rows.indices[t]] = k + ONE
            columns.indices[k] = i
            columns.data[k] = value(rows, t)


def dense_fill(rows: DenseRows, at: Indices, columns: Columns, begin: Index, end: Index) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for j in range(np.uint64(rows.X.shape[1])):
            if rows.X[i, j] != 0.0:
                k = at[j]
                at[j] = k + ONE
                columns.indices[k] = i
                columns.data[k] = rows.X[i, j]


_count = by_type({CsrRows: sparse_count, OnesRows: sparse_count, DenseRows: dense_count})
_fill = by_type({CsrRows: sparse_fill, OnesRows: sparse_fill, DenseRows: dense_fill})


@kernel
def count_entries(rows: Rows, counts: Counts, begin: Index, end: Index) -> None:
    """Add the entries of column j in the rows begin to end to counts[j + 1]."""
    _count(rows, counts, begin, end)


@kernel
def fill_entries(rows: Rows, at: Indices, columns: Columns, begin: Index, end: Index) -> None:
    """Write the entries of the rows begin to end into their columns; column j is filled up to at[j]."""
    _fill(rows, at, columns, begin, end)


def room_for(columns: Columns, which: Indices) -> Columns:
    """Return room for a copy of the columns ``which``."""
    total = int((columns.indptr[which + np.uint64(1)] - columns.indptr[which]).sum())
    indptr = np.zeros(which.size + 1, np.uint64)
    return Columns(indptr, np.empty(total, np.uint32), np.empty(total, columns.data.dtype))


@kernel
def copy_near(
    columns: Columns, which: Indices, number: Indices, s: Vector, sub: Columns, begin: Index, end: Index
) -> None:
    """Copy the columns which[begin:end] without the rows that are not near, with values times s_i.

    number[i] is the new number of row i.
    """
    for k in range(np.uint64(begin), np.uint64(end)):
        j, n = which[k], sub.indptr[k]
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            row = columns.indices[t]
            if number[row] != NOT_NEAR:
                sub.indices[n], sub.data[n] = number[row], s[row] * columns.data[t]
                n += ONE
        sub.indptr[k + ONE] = n


def near_part(columns: Columns, which: Indices, rows: Indices, signs: Vector, pace: Pace) -> Columns:
    """Return the columns ``which`` of diag(signs) X, with the ``rows`` (in order) alone, which get new numbers."""
    number = np.full(signs.size, NOT_NEAR)
    number[rows] = np.arange(rows.size, dtype=np.uint32)
    sub = room_for(columns, which)
    for begin, end in pace.slices(which.size):
        copy_near(columns, which, number, signs, sub, begin, end)
    return sub
