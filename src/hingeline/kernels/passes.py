"""Passes over all rows, a slice at a time: checks of the input, norms, w from alpha, the certificate's sums, scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .losses import diagonal, gap_term, primal_term, upper
from .rows import ONE, add_square, axpy, dot, squared_norm, value
from .shrink import projected


@kernel
def scan_sparse(indptr: Any, indices: Any, data: Any, n_columns: Any, begin: Any, end: Any) -> Any:
    """Check the rows begin to end of a sparse matrix, its indices unsigned (so that negative ones are too large).

    Returns the first bad row (-1 where all is well), whether indices increase in every row, whether all values are 1;
    where ``data`` is None there is no value to look at.
    """
    strictly_increasing, all_ones = True, True
    for i in range(np.uint64(begin), np.uint64(end)):
        first, last = indptr[i], indptr[i + ONE]
        if last < first or last > indices.size:
            return np.int64(i), False, False
        for k in range(first, last):
            if indices[k] >= n_columns:
                return np.int64(i), False, False
            strictly_increasing &= k == first or indices[k] > indices[k - ONE]
            if data is not None:
                all_ones &= data[k] == 1.0
    return np.int64(-1), strictly_increasing, all_ones


@kernel
def squared_norms(rows: Any, scratch: Any, distinct: Any, q: Any, begin: Any, end: Any) -> None:
    """q_i = |x_i|^2 (bias included); NaN and infinities in a row show in its q_i."""
    for i in range(np.uint64(begin), np.uint64(end)):
        q[i] = squared_norm(rows, i, scratch, distinct)


@kernel
def add_weights(rows: Any, alpha: Any, y: Any, w: Any, begin: Any, end: Any) -> None:
    """w <- w + sum alpha_i y_i x_i over the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if alpha[i] != 0.0:
            axpy(rows, i, alpha[i] * y[i], w)


@kernel
def certify_rows(rows: Any, loss: Any, variables: Any, w: Any, begin: Any, end: Any) -> Any:
    """Largest violation, sum of losses and sum of gap terms over the rows begin to end at fixed w.

    Rows with C_i = 0 are not part of the problem.
    """
    alpha, _, C, _, y = variables
    violation, losses, gap = 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            m = 1.0 - y[i] * dot(rows, i, w)
            g = m - diagonal(loss, C[i]) * alpha[i]
            violation = max(violation, abs(projected(alpha[i], g, upper(loss, C[i]))))
            losses += primal_term(loss, m, C[i])
            gap += gap_term(loss, m, alpha[i], C[i])
    return violation, losses, gap


@kernel
def add_gram(rows: Any, s: Any, counted: Any, distinct: Any, G: Any, begin: Any, end: Any) -> None:
    """Bring G = sum ``counted``_i x_i x_i' (upper triangle, bias last) to weights s, over the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if s[i] != counted[i]:
            add_square(rows, i, s[i] - counted[i], G, distinct)
            counted[i] = s[i]


@kernel
def scores(rows: Any, w: Any, out: Any, begin: Any, end: Any) -> None:
    """out_i = <x_i, w> for the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = dot(rows, i, w)


@kernel
def signed_scores(rows: Any, y: Any, w: Any, out: Any, begin: Any, end: Any) -> None:
    """out_i = y_i <x_i, w> for the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = y[i] * dot(rows, i, w)


@kernel
def scores_of_many(rows: Any, W: Any, out: Any, begin: Any, end: Any) -> None:
    """out_ik = <x_i, column k of W> for the sparse rows begin to end: one pass for all columns."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + ONE]):
            v, j = value(rows, k), rows.indices[k]
            for c in range(W.shape[1]):
                out[i, c] += v * W[j, c]


@kernel
def squared_length(w: Any) -> Any:
    """|w|^2. (BLAS would wake its threads for this, which costs more than it gains beside other work.)"""
    s = 0.0
    for j in range(w.size):
        s += w[j] * w[j]
    return s


@kernel
def weighted_lengths(alpha: Any, q: Any) -> Any:
    """Sum of alpha_i |x_i|."""
    s = 0.0
    for i in range(alpha.size):
        s += alpha[i] * np.sqrt(q[i])
    return s
