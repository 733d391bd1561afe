"""Row views: the data matrix as the engines see it, one row at a time.

A view has few verbs, and every engine is written in them alone:

==========================================  ====================================================================
``dot(rows, i, w)``                         <x_i, w>
``axpy(rows, i, a, w)``                     w <- w + a x_i
``add_rows(rows, first, last, a, w)``       w <- w + sum a_k x_i over the rows i = first + k up to last
``squared_norm(rows, i)``                   |x_i|^2 of a row that names no column twice
``summed_norm(rows, i, scratch)``           |x_i|^2 of any row: <x_i, s> with s = x_i summed up in ``scratch``, a
                                            vector of zeros as long as w, which is zero again afterwards
``add_squares(rows, i, a, out)``            out_j <- out_j + a x_ij^2
``value(rows, k)``                          stored value number k (sparse rows only)
``prefetch_pointers(rows, i)``              fetch where row i begins and ends,
``prefetch_row(rows, i)``                   then its indices and values,
``prefetch_weights(rows, i, w)``            then the entries of w that it touches
==========================================  ====================================================================

``bias`` is the value of one more feature, the same in every row and not stored: the intercept. Its weight is
the last entry of w, so w has one entry more than the data has columns, and a bias of zero leaves it at zero.

Index arrays are unsigned: numba would guard every access with a signed index against negative values.
Repeated indices in a row count as their sum, as in SciPy; no verb needs them sorted.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from .compile import by_type
from .prefetch import prefetch
from .types import Index, Indices, Matrix, Vector

ONE = np.uint64(1)
INDICES_PER_LINE = np.uint64(8)  # of 8 bytes in a cache line of 64; a stride that suits 4 bytes too

NEAR_WEIGHTS = 1 << 16  # entries of w; up to here (512 KiB) the caches hold them without prefetching
FIRST = np.uint64(64)  # entries of a row; while these are in use, the processor fetches the rest by itself


class CsrRows(NamedTuple):
    """Compressed sparse rows; values in float32 or float64, sums in float64."""

    indptr: Indices
    indices: Indices
    data: Vector
    bias: float


class OnesRows(NamedTuple):
    """Compressed sparse rows whose stored values are all equal to 1 and therefore not read."""

    indptr: Indices
    indices: Indices
    bias: float


class DenseRows(NamedTuple):
    """A C-ordered matrix."""

    X: Matrix
    bias: float


Rows: TypeAlias = CsrRows | OnesRows | DenseRows


def csr_dot(rows: CsrRows, i: Index, w: Vector) -> float:
    s = rows.bias * w[w.size - 1]
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        s += rows.data[k] * w[rows.indices[k]]
    return s


def ones_dot(rows: OnesRows, i: Index, w: Vector) -> float:
    s = rows.bias * w[w.size - 1]
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        s += w[rows.indices[k]]
    return s


def dense_dot(rows: DenseRows, i: Index, w: Vector) -> float:
    s = rows.bias * w[w.size - 1]
    for j in range(rows.X.shape[1]):
        s += rows.X[i, j] * w[j]
    return s


def csr_axpy(rows: CsrRows, i: Index, a: float, w: Vector) -> None:
    w[w.size - 1] += a * rows.bias
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        w[rows.indices[k]] += a * rows.data[k]


def ones_axpy(rows: OnesRows, i: Index, a: float, w: Vector) -> None:
    w[w.size - 1] += a * rows.bias
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        w[rows.indices[k]] += a


def dense_axpy(rows: DenseRows, i: Index, a: float, w: Vector) -> None:
    w[w.size - 1] += a * rows.bias
    for j in range(rows.X.shape[1]):
        w[j] += a * rows.X[i, j]


def sparse_add_rows(rows: CsrRows | OnesRows, first: Index, last: Index, a: Vector, w: Vector) -> None:
    for i in range(first, last):
        if a[i - first] != 0.0:
            axpy(rows, i, a[i - first], w)


def dense_add_rows(rows: DenseRows, first: Index, last: Index, a: Vector, w: Vector) -> None:
    X, d = rows.X, np.uint64(rows.X.shape[1])
    constant, i0, i1, i2, waiting = 0.0, first, first, first, 0
    a0, a1, a2 = 0.0, 0.0, 0.0
    for i in range(first, last):
        own = a[i - first]
        if own == 0.0:
            continue
        constant += own
        if waiting == 3:  # four rows at a time: w is read and written once for all of them
            for j in range(d):
                w[j] += (a0 * X[i0, j] + a1 * X[i1, j]) + (a2 * X[i2, j] + own * X[i, j])
            waiting, a0, a1, a2 = 0, 0.0, 0.0, 0.0
        else:
            i0, i1, i2, a0, a1, a2 = i, i0, i1, own, a0, a1
            waiting += 1
    if waiting > 0:
        for j in range(d):
            w[j] += a0 * X[i0, j] + a1 * X[i1, j] + a2 * X[i2, j]
    w[d] += constant * rows.bias


def csr_value(rows: CsrRows, k: Index) -> float:
    return np.float64(rows.data[k])


def ones_value(rows: OnesRows, k: Index) -> float:
    return 1.0


def sparse_add_squares(rows: CsrRows | OnesRows, i: Index, a: float, out: Vector) -> None:
    out[out.size - 1] += a * rows.bias * rows.bias
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        v = value(rows, k)
        out[rows.indices[k]] += a * v * v


def dense_add_squares(rows: DenseRows, i: Index, a: float, out: Vector) -> None:
    out[out.size - 1] += a * rows.bias * rows.bias
    for j in range(rows.X.shape[1]):
        v = np.float64(rows.X[i, j])
        out[j] += a * v * v


def csr_squared_norm(rows: CsrRows, i: Index) -> float:
    s = rows.bias * rows.bias
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        s += np.float64(rows.data[k]) * np.float64(rows.data[k])
    return s


def ones_squared_norm(rows: OnesRows, i: Index) -> float:
    return rows.bias * rows.bias + np.float64(rows.indptr[i + ONE] - rows.indptr[i])


def dense_squared_norm(rows: DenseRows, i: Index) -> float:
    s = rows.bias * rows.bias
    for j in range(rows.X.shape[1]):
        s += np.float64(rows.X[i, j]) * np.float64(rows.X[i, j])
    return s


def sparse_summed_norm(rows: CsrRows | OnesRows, i: Index, scratch: Vector) -> float:
    s = rows.bias * rows.bias
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        scratch[rows.indices[k]] += value(rows, k)
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        s += value(rows, k) * scratch[rows.indices[k]]
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        scratch[rows.indices[k]] = 0.0
    return s


def dense_summed_norm(rows: DenseRows, i: Index, scratch: Vector) -> float:
    return squared_norm(rows, i)


def csr_prefetch_row(rows: CsrRows, i: Index) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE], INDICES_PER_LINE):
        prefetch(rows.indices, k)
        prefetch(rows.data, k)


def ones_prefetch_row(rows: OnesRows, i: Index) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE], INDICES_PER_LINE):
        prefetch(rows.indices, k)


def dense_prefetch_row(rows: DenseRows, i: Index) -> None:
    row = rows.X[i]
    for j in range(0, row.size, 8):
        prefetch(row, j)


def sparse_prefetch_pointers(rows: CsrRows | OnesRows, i: Index) -> None:
    prefetch(rows.indptr, i)


def dense_prefetch_pointers(rows: DenseRows, i: Index) -> None:
    pass


def sparse_prefetch_weights(rows: CsrRows | OnesRows, i: Index, w: Vector) -> None:
    if w.size > NEAR_WEIGHTS:
        for k in range(rows.indptr[i], min(rows.indptr[i + ONE], rows.indptr[i] + FIRST)):
            prefetch(w, rows.indices[k])


def dense_prefetch_weights(rows: DenseRows, i: Index, w: Vector) -> None:
    pass


# The verbs. Compiled and uncompiled code alike choose by the class of ``rows``.

dot = by_type({CsrRows: csr_dot, OnesRows: ones_dot, DenseRows: dense_dot})
add_rows = by_type({CsrRows: sparse_add_rows, OnesRows: sparse_add_rows, DenseRows: dense_add_rows})
axpy = by_type({CsrRows: csr_axpy, OnesRows: ones_axpy, DenseRows: dense_axpy})
value = by_type({CsrRows: csr_value, OnesRows: ones_value})
add_squares = by_type({CsrRows: sparse_add_squares, OnesRows: sparse_add_squares, DenseRows: dense_add_squares})
squared_norm = by_type(
    {CsrRows: csr_squared_norm, OnesRows: ones_squared_norm, DenseRows: dense_squared_norm},
)
summed_norm = by_type({CsrRows: sparse_summed_norm, OnesRows: sparse_summed_norm, DenseRows: dense_summed_norm})
prefetch_pointers = by_type(
    {CsrRows: sparse_prefetch_pointers, OnesRows: sparse_prefetch_pointers, DenseRows: dense_prefetch_pointers},
)
prefetch_row = by_type(
    {CsrRows: csr_prefetch_row, OnesRows: ones_prefetch_row, DenseRows: dense_prefetch_row},
)
prefetch_weights = by_type(
    {CsrRows: sparse_prefetch_weights, OnesRows: sparse_prefetch_weights, DenseRows: dense_prefetch_weights},
)
