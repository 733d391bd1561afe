"""One weight vector per class: what the row views do with all of them at once.

The weights lie feature by feature, the k classes of a feature side by side (``w[j * k + c]``), so that a row's scores
of all classes cost one walk through its features, each a short vector operation. As in ``rows.py`` the last feature is
the intercept's.

==========================================  ====================================================================
``class_scores(rows, i, w, out)``           out_c = <x_i, w_c> for every class c
``some_class_scores(rows, i, w, at, n, k, out)``  out_a = <x_i, w_c> for the classes c = at_a, a < n
``class_axpy(rows, i, at, step, n, k, w)``  w_c <- w_c + step_a x_i for the classes c = at_a, a < n
``prefetch_classes(rows, i, w, k)``         fetch the weights that row i touches
==========================================  ====================================================================
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import by_type
from ...kernels.prefetch import prefetch
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, value
from ...kernels.types import Index, Indices, Vector

DOUBLES_PER_LINE = np.uint64(8)
ZERO = np.uint64(0)


def sparse_class_scores(rows: CsrRows | OnesRows, i: Index, w: Vector, out: Vector) -> None:
    k = np.uint64(out.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        out[c] = rows.bias * w[last + c]
    t, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + ONE])
    while t + ONE < end:  # two features at a time: the sums wait for each other half as often
        u, v = value(rows, t), value(rows, t + ONE)
        a, b = np.uint64(rows.indices[t]) * k, np.uint64(rows.indices[t + ONE]) * k
        for c in range(k):
            out[c] += u * w[a + c] + v * w[b + c]
        t += ONE + ONE
    if t < end:
        u, a = value(rows, t), np.uint64(rows.indices[t]) * k
        for c in range(k):
            out[c] += u * w[a + c]


def dense_class_scores(rows: DenseRows, i: Index, w: Vector, out: Vector) -> None:
    k = np.uint64(out.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        out[c] = rows.bias * w[last + c]
    for j in range(np.uint64(rows.X.shape[1])):
        v, a = np.float64(rows.X[i, j]), j * k
        if v != 0.0:
            for c in range(k):
                out[c] += v * w[a + c]


def sparse_some_class_scores(
    rows: CsrRows | OnesRows, i: Index, w: Vector, at: Indices, n: Index, k: Index, out: Vector
) -> None:
    k, n = np.uint64(k), np.uint64(n)
    last = np.uint64(w.size) - k
    for a in range(n):
        out[a] = rows.bias * w[last + at[a]]
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        v, j = value(rows, t), np.uint64(rows.indices[t]) * k
        for a in range(n):
            out[a] += v * w[j + at[a]]


def dense_some_class_scores(rows: DenseRows, i: Index, w: Vector, at: Indices, n: Index, k: Index, out: Vector) -> None:
    k, n = np.uint64(k), np.uint64(n)
    last = np.uint64(w.size) - k
    for a in range(n):
        out[a] = rows.bias * w[last + at[a]]
    for j in range(np.uint64(rows.X.shape[1])):
        v = np.float64(rows.X[i, j])
        if v != 0.0:
            for a in range(n):
                out[a] += v * w[j * k + at[a]]


def sparse_class_axpy(
    rows: CsrRows | OnesRows, i: Index, at: Indices, step: Vector, n: Index, k: Index, w: Vector
) -> None:
    k, n = np.uint64(k), np.uint64(n)
    last = np.uint64(w.size) - k
    for a in range(n):
        w[last + at[a]] += step[a] * rows.bias
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        v, j = value(rows, t), np.uint64(rows.indices[t]) * k
        for a in range(n):
            w[j + at[a]] += step[a] * v


def dense_class_axpy(rows: DenseRows, i: Index, at: Indices, step: Vector, n: Index, k: Index, w: Vector) -> None:
    k, n = np.uint64(k), np.uint64(n)
    last = np.uint64(w.size) - k
    for a in range(n):
        w[last + at[a]] += step[a] * rows.bias
    for j in range(np.uint64(rows.X.shape[1])):
        v = np.float64(rows.X[i, j])
        if v != 0.0:
            for a in range(n):
                w[j * k + at[a]] += step[a] * v


def sparse_prefetch_classes(rows: CsrRows | OnesRows, i: Index, w: Vector, k: Index) -> None:
    k = np.uint64(k)
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        j = np.uint64(rows.indices[t]) * k
        for c in range(ZERO, k, DOUBLES_PER_LINE):
            prefetch(w, j + c)


def dense_prefetch_classes(rows: DenseRows, i: Index, w: Vector, k: Index) -> None:
    pass


class_scores = by_type(
    {CsrRows: sparse_class_scores, OnesRows: sparse_class_scores, DenseRows: dense_class_scores},
)
some_class_scores = by_type(
    {CsrRows: sparse_some_class_scores, OnesRows: sparse_some_class_scores, DenseRows: dense_some_class_scores},
)
class_axpy = by_type({CsrRows: sparse_class_axpy, OnesRows: sparse_class_axpy, DenseRows: dense_class_axpy})
prefetch_classes = by_type(
    {CsrRows: sparse_prefetch_classes, OnesRows: sparse_prefetch_classes, DenseRows: dense_prefetch_classes},
)
