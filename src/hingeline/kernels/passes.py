"""Passes over all rows, a slice at a time: checks of the input, norms, w from alpha, the certificate's sums, scores."""

from __future__ import annotations

import numpy as np

from .compile import kernel
from .losses import Loss, gap_term, lower, missing, primal_term, pull, response, upper
from .rows import ONE, CsrRows, OnesRows, Rows, add_squares, axpy, dot, squared_norm, summed_norm, value
from .types import Index, Indices, Matrix, Vector

BLOCK = np.uint64(4096)  # entries that a first-level cache holds


@kernel
def scan_sparse(
    indptr: Indices, indices: Indices, data: Vector | None, n_columns: Index, begin: Index, end: Index
) -> tuple[int | np.int64, bool, bool]:
    """Check the rows begin to end of a sparse matrix, its indices unsigned (so that negative ones are too large).

    Returns the first bad row (-1 if there is none), whether indices increase in every row, and whether all values are
    1; without ``data`` there are no values to check. Plain loops over blocks of entries, one per question: the compiler
    vectorises them, whether rows are short or long.
    """
    n_columns, begin, end = np.uint64(n_columns), np.uint64(begin), np.uint64(end)
    for i in range(begin, end):
        if indptr[i + ONE] < indptr[i] or indptr[i + ONE] > indices.size:
            return np.int64(i), False, False
    first, last = np.uint64(indptr[begin]), np.uint64(indptr[end])
    descents, others = 0, 0
    for block in range((last - first + BLOCK - ONE) // BLOCK):
        low = first + block * BLOCK
        high = min(low + BLOCK, last)
        too_large = 0
        for k in range(low, high):
            too_large += indices[k] >= n_columns
        if too_large > 0:
            while indices[low] < n_columns:
                low += ONE
            while indptr[begin + ONE] <= low:
                begin += ONE
            return np.int64(begin), False, False
        for k in range(max(low, first + ONE), high):
            descents += indices[k] <= indices[k - ONE]
        if data is not None and others == 0:
            for k in range(low, high):
                others += data[k] != 1.0
    for i in range(begin, end):  # a row may begin with a smaller index than the one before it ends with
        if first < indptr[i] < indptr[i + ONE]:
            descents -= indices[indptr[i]] <= indices[indptr[i] - ONE]
    return -1, descents == 0, others == 0


@kernel
def squared_norms(rows: Rows, q: Vector, begin: int, end: int) -> tuple[float, float, float]:
    """q_i = |x_i|^2 (bias included) of rows that name no column twice; NaN and infinities in a row show in its q_i.

    Returns the smallest and the largest of them, and their sum.
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        q[i] = squared_norm(rows, i)
    return extent(q, begin, end)


@kernel
def summed_norms(rows: Rows, scratch: Vector, q: Vector, begin: int, end: int) -> tuple[float, float, float]:
    """Compute what ``squared_norms`` does, for any rows. ``scratch``: zeros, as many as there are weights."""
    for i in range(np.uint64(begin), np.uint64(end)):
        q[i] = summed_norm(rows, i, scratch)
    return extent(q, begin, end)


@kernel
def extent(q: Vector, begin: int, end: int) -> tuple[float, float, float]:
    """Smallest and largest entry from begin to end, and the sum of these entries."""
    smallest, largest, total = np.inf, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        smallest, largest = min(smallest, q[i]), max(largest, q[i])
        total += q[i]
    return smallest, largest, total


@kernel
def add_weights(rows: Rows, alpha: Vector, s: Vector, w: Vector, begin: int, end: int) -> None:
    """w <- w + sum alpha_i s_i x_i over the rows begin to end; s_i is a label, or 1."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if alpha[i] != 0.0:
            axpy(rows, i, alpha[i] * s[i], w)


@kernel
def settle_rows(
    loss: Loss, y: Vector, C: Vector, q: Vector, start: Vector, alpha: Vector, begin: int, end: int
) -> None:
    """alpha <- ``start``, moved into the box; rows of zeros take their optimal value at once, rows of no weight zero.

    ``C`` has one entry per row, or a single one for all; ``start`` is empty if there is none. No engine visits rows of
    zeros: f(x_i) = 0 whatever w.
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C[i] if C.size > 1 else C[0]
        if own <= 0.0:
            alpha[i] = 0.0
        elif q[i] <= 0.0:
            alpha[i] = response(loss, missing(loss, y[i], 0.0), own)
        elif start.size > 0:
            alpha[i] = min(max(start[i], lower(loss, own)), upper(loss, own))
        else:
            alpha[i] = 0.0


@kernel
def respond_rows(rows: Rows, loss: Loss, y: Vector, C: Vector, w: Vector, alpha: Vector, begin: int, end: int) -> None:
    """alpha_i: what the margin of row i at the weights w calls for. ``C`` has one entry per row, or one for all."""
    for i in range(np.uint64(begin), np.uint64(end)):
        alpha[i] = response(loss, missing(loss, y[i], dot(rows, i, w)), C[i] if C.size > 1 else C[0])


@kernel
def certify_rows(
    rows: Rows, loss: Loss, y: Vector, C: Vector, alpha: Vector, w: Vector, m: Vector, begin: int, end: int
) -> tuple[float, float, float]:
    """Largest violation, sum of losses and sum of gap terms over the rows begin to end at fixed w.

    Rows with C_i = 0 are not part of the problem. ``C`` has one entry per row, or a single one for all. ``m`` is room
    for the margins of a block of rows: what follows from them uses the vector units.
    """
    violation, losses, gap = 0.0, 0.0, 0.0
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        n = min(np.uint64(m.size), beyond - first)
        for k in range(n):
            i = first + k
            m[k] = missing(loss, y[i], dot(rows, i, w))
        for k in range(n):
            i = first + k
            own = C[i] if C.size > 1 else C[0]
            losses += primal_term(loss, m[k], own) if own > 0.0 else 0.0
            gap += gap_term(loss, m[k], alpha[i], own) if own > 0.0 else 0.0
        for k in range(n):
            i = first + k
            own = C[i] if C.size > 1 else C[0]
            m[k] = abs(pull(loss, m[k], alpha[i], own)[0]) if own > 0.0 else 0.0
        for k in range(n):
            violation = max(violation, m[k])
        first += n
    return violation, losses, gap


@kernel
def sum_dual_terms(loss: Loss, y: Vector, C: Vector, alpha: Vector, t: float, begin: int, end: int) -> float:
    """Sum of a missing(y_i, 0) - conjugate(a) with a = t alpha_i: the dual at t alpha, but for -|w|^2/2.

    ``C`` has one entry per row, or a single one for all.
    """
    s = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C[i] if C.size > 1 else C[0]
        if own > 0.0:
            a = t * alpha[i]  # the gap term at m = 0 is the loss there plus the conjugate
            s += a * missing(loss, y[i], 0.0) - (gap_term(loss, 0.0, a, own) - primal_term(loss, 0.0, own))
    return s


@kernel
def sum_responses(loss: Loss, y: Vector, C: Vector, f: float, begin: int, end: int) -> float:
    """Sum of the responses to what is missing if every score is f. ``C`` has one entry per row, or one for all."""
    s = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        s += response(loss, missing(loss, y[i], f), C[i] if C.size > 1 else C[0])
    return s


@kernel
def add_diagonal(rows: Rows, s: Vector, out: Vector, begin: int, end: int) -> None:
    """out_j <- out_j + sum s_i x_ij^2 over the rows begin to end (repeated indices one by one)."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if s[i] != 0.0:
            add_squares(rows, i, s[i], out)


@kernel
def scores(rows: Rows, w: Vector, out: Vector, begin: int, end: int) -> None:
    """out_i = <x_i, w> for the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = dot(rows, i, w)


@kernel
def sum_squared_scores(rows: Rows, C: Vector, w: Vector, begin: int, end: int) -> float:
    """Sum of <x_i, w>^2 over the rows from begin to end that have weight. ``C``: one entry per row, or one for all."""
    s = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if (C[i] if C.size > 1 else C[0]) > 0.0:
            f = dot(rows, i, w)
            s += f * f
    return s


@kernel
def scores_at(rows: Rows, which: Indices, w: Vector, out: Vector, begin: int, end: int) -> None:
    """out_k = <x_i, w> for the rows i = which[k], k from begin to end."""
    for k in range(np.uint64(begin), np.uint64(end)):
        out[k] = dot(rows, which[k], w)


@kernel
def scores_of_many(rows: CsrRows | OnesRows, W: Matrix, out: Matrix, begin: int, end: int) -> None:
    """out_ik = <x_i, column k of W> for the sparse rows begin to end: one pass for all columns."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + ONE]):
            v, j = value(rows, k), rows.indices[k]
            for c in range(W.shape[1]):
                out[i, c] += v * W[j, c]


@kernel
def squared_length(w: Vector) -> float:
    """|w|^2. (BLAS would wake its threads for this, which costs more than it gains.)"""
    s = 0.0
    for j in range(w.size):
        s += w[j] * w[j]
    return s


@kernel
def weighted_lengths(alpha: Vector, q: Vector) -> float:
    """Sum of |alpha_i| |x_i|."""
    s = 0.0
    for i in range(alpha.size):
        s += abs(alpha[i]) * np.sqrt(q[i])
    return s
