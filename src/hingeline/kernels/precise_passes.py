"""The certificate's pass over the rows in twice the precision: scores and weights are rounded only once."""

from __future__ import annotations

import numpy as np

from .compile import by_type, exact_kernel
from .double_double import add_product, with_product
from .losses import Loss, missing, precise_terms, pull, sign
from .rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from .types import Index, Vector


def sparse_precise_dot(rows: CsrRows | OnesRows, i: Index, w: Vector, start: float) -> tuple[float, float]:
    s, rest = start, 0.0
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        s, rest = with_product(s, rest, value(rows, k), w[rows.indices[k]])
    return s, rest


def dense_precise_dot(rows: DenseRows, i: Index, w: Vector, start: float) -> tuple[float, float]:
    s, rest = start, 0.0
    for j in range(rows.X.shape[1]):
        s, rest = with_product(s, rest, np.float64(rows.X[i, j]), w[j])
    return s, rest


def sparse_precise_axpy(rows: CsrRows | OnesRows, i: Index, a: float, v: Vector, low: Vector) -> None:
    for k in range(rows.indptr[i], rows.indptr[i + ONE]):
        add_product(a, value(rows, k), rows.indices[k], v, low)


def dense_precise_axpy(rows: DenseRows, i: Index, a: float, v: Vector, low: Vector) -> None:
    for j in range(rows.X.shape[1]):
        add_product(a, np.float64(rows.X[i, j]), j, v, low)


precise_dot = by_type({CsrRows: sparse_precise_dot, OnesRows: sparse_precise_dot, DenseRows: dense_precise_dot})
precise_axpy = by_type({CsrRows: sparse_precise_axpy, OnesRows: sparse_precise_axpy, DenseRows: dense_precise_axpy})


@exact_kernel
def certify_rows_precisely(
    rows: Rows,
    loss: Loss,
    y: Vector,
    C: Vector,
    alpha: Vector,
    w: Vector,
    intercept: float,
    v: Vector,
    low: Vector,
    begin: int,
    end: int,
) -> tuple[float, float, float]:
    """Largest violation, sum of losses and sum of gap terms, as ``certify_rows``; v + low <- v + low + Z' alpha.

    The last entry of v belongs to a constant feature of 1, whatever the bias of the rows. Neither sum is compensated:
    all their terms are >= 0.
    """
    violation, losses, gap = 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C[i] if C.size > 1 else C[0]
        if own > 0.0:
            f, rest = precise_dot(rows, i, w, intercept)
            s = float(sign(loss, y[i]))
            high, rest = with_product(missing(loss, y[i], 0.0), -s * rest, -s, f)
            m = high + rest
            m_low = rest - (m - high)
            violation = max(violation, abs(pull(loss, m + m_low, alpha[i], own)[0]))
            primal, apart = precise_terms(loss, m, m_low, alpha[i], own)
            losses += primal
            gap += apart
            if alpha[i] != 0.0:
                precise_axpy(rows, i, s * alpha[i], v, low)
                add_product(s, alpha[i], v.size - 1, v, low)
    return violation, losses, gap
