"""What the row views do with the weights of all classes at once, besides ``multiclass/row_verbs.py``: the same layout.

==================================================  ================================================
``add_to_classes(rows, i, step, w)``                w_c <- w_c + step_c x_i for every class c
``add_squares_to_classes(rows, i, step, w)``        the same with the squares of the entries of x_i
==================================================  ================================================
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import by_type
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, value
from ...kernels.types import Index, Vector


def sparse_add_to_classes(rows: CsrRows | OnesRows, i: Index, step: Vector, w: Vector) -> None:
    k = np.uint64(step.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        w[last + c] += step[c] * rows.bias
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        v, j = value(rows, t), np.uint64(rows.indices[t]) * k
        for c in range(k):
            w[j + c] += step[c] * v


def dense_add_to_classes(rows: DenseRows, i: Index, step: Vector, w: Vector) -> None:
    k = np.uint64(step.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        w[last + c] += step[c] * rows.bias
    for j in range(np.uint64(rows.X.shape[1])):
        v, at = np.float64(rows.X[i, j]), j * k
        if v != 0.0:
            for c in range(k):
                w[at + c] += step[c] * v


def sparse_add_squares_to_classes(rows: CsrRows | OnesRows, i: Index, step: Vector, w: Vector) -> None:
    k = np.uint64(step.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        w[last + c] += step[c] * rows.bias * rows.bias
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        v, j = value(rows, t), np.uint64(rows.indices[t]) * k
        for c in range(k):
            w[j + c] += step[c] * v * v


def dense_add_squares_to_classes(rows: DenseRows, i: Index, step: Vector, w: Vector) -> None:
    k = np.uint64(step.size)
    last = np.uint64(w.size) - k
    for c in range(k):
        w[last + c] += step[c] * rows.bias * rows.bias
    for j in range(np.uint64(rows.X.shape[1])):
        v, at = np.float64(rows.X[i, j]), j * k
        if v != 0.0:
            for c in range(k):
                w[at + c] += step[c] * v * v


add_to_classes = by_type(
    {CsrRows: sparse_add_to_classes, OnesRows: sparse_add_to_classes, DenseRows: dense_add_to_classes}
)
add_squares_to_classes = by_type(
    {
        CsrRows: sparse_add_squares_to_classes,
        OnesRows: sparse_add_squares_to_classes,
        DenseRows: dense_add_squares_to_classes,
    }
)
