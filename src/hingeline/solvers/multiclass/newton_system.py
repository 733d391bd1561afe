"""The Hessian of Crammer and Singer's smoothed problem.

The unknowns lie class by class: H = I + sum_i J_i (x) x_i x_i' has a block of features for each pair of classes, and
J_i = (I - 11'/|S_i|)/sigma_i on the support S_i of example i. Blocks (c, e) are computed for e <= c.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels.compile import array_kernel, by_type, kernel
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from ...kernels.types import Counts, Flags, Index, Indices, Matrix, Vector
from ...runtime.pace import Pace
from .smoothed_examples import Responses

WIDE = 32  # columns of dense rows from which BLAS multiplies blocks faster than the kernel
BLOCK = 4096  # rows that are copied for BLAS at a time


def hessian(rows: Rows, responses: Responses, n_weights: int, pace: Pace) -> Matrix:
    """Return H, for ``n_weights`` weights per class, the intercept's last."""

    def by_blas(dense: DenseRows, H: Matrix, part: slice) -> None:
        _add_dense_hessian(dense, responses, H, part)

    def by_kernel(most: int, H: Matrix, begin: int, end: int) -> None:
        add_hessian(rows, responses, most, H, begin, end)

    H = summed_hessian(rows, responses.alpha.shape, n_weights, by_blas, by_kernel, pace)
    H.flat[:: len(H) + 1] += 1.0
    return H


def summed_hessian(
    rows: Rows,
    shape: tuple[int, ...],
    n_weights: int,
    by_blas: Callable[[DenseRows, Matrix, slice], None],
    by_kernel: Callable[[int, Matrix, int, int], None],
    pace: Pace,
) -> Matrix:
    """Return what all rows add to a Hessian over all classes; ``shape`` is that of the dual variables.

    ``by_blas(rows, H, part)`` adds a block of wide dense rows, ``by_kernel(most, H, begin, end)`` others, which have at
    most ``most`` values each.
    """
    n, k = shape
    H = np.zeros((k * n_weights, k * n_weights))
    if isinstance(rows, DenseRows) and n_weights > WIDE:
        for begin in range(0, n, BLOCK):
            by_blas(rows, H, slice(begin, min(begin + BLOCK, n)))
            pace.between()
    else:
        most = n_weights - 1 if isinstance(rows, DenseRows) else int(np.diff(rows.indptr).max(initial=0))
        for begin, end in pace.slices(n):
            by_kernel(most, H, begin, end)
    return H


def inside_bounds(responses: Responses, part: slice = slice(None)) -> Flags:
    """Tell for each example of ``part`` and each class whether the variable is off its bound."""
    C, alpha, y = responses.C[part], responses.alpha[part], responses.y[part]
    inside = (alpha < 0.0) & (C > 0.0)[:, None]
    own = np.arange(len(y))
    inside[own, y] = (alpha[own, y] < C) & (C > 0.0)
    return inside


def _add_dense_hessian(rows: DenseRows, responses: Responses, H: Matrix, part: slice) -> None:
    """Add the examples of ``part`` to the lower blocks of H, by BLAS."""
    d = rows.X.shape[1] + 1
    inside = inside_bounds(responses, part)
    sizes = inside.sum(axis=1)
    curved = np.flatnonzero(sizes > 1)
    X = np.empty((curved.size, d))
    X[:, :-1], X[:, -1] = rows.X[part][curved], rows.bias
    inside, stiffness, shares = inside[curved], responses.stiffness[part][curved], 1.0 / sizes[curved]
    for c in range(inside.shape[1]):
        for e in range(c + 1):
            both = np.flatnonzero(inside[:, c] & inside[:, e])
            curvature = stiffness[both] * ((1.0 if c == e else 0.0) - shares[both])
            H[c * d : (c + 1) * d, e * d : (e + 1) * d] += (X[both] * curvature[:, None]).T @ X[both]


def sparse_entries(rows: CsrRows | OnesRows, i: Index, indices: Indices, values: Vector) -> int:
    n = 0
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        indices[n], values[n] = rows.indices[t], value(rows, t)
        n += 1
    return n


def dense_entries(rows: DenseRows, i: Index, indices: Indices, values: Vector) -> int:
    n = rows.X.shape[1]
    for j in range(n):
        indices[j], values[j] = j, rows.X[i, j]
    return n


entries = by_type({CsrRows: sparse_entries, OnesRows: sparse_entries, DenseRows: dense_entries})


@array_kernel
def add_hessian(rows: Rows, responses: Responses, most: int, H: Matrix, begin: Index, end: Index) -> None:
    """H <- H + sum_i J_i (x) x_i x_i' over the examples begin to end, lower blocks.

    ``most`` is the largest number of entries of a row.
    """
    C, stiffness, y, _, _, alpha = responses
    k = alpha.shape[1]
    d = np.uint64(H.shape[0] // k)
    support, indices, values = np.empty(k, np.uint64), np.empty(most + 1, np.uint64), np.empty(most + 1)
    for i in range(np.uint64(begin), np.uint64(end)):
        size = 0
        for c in range(k):
            if C[i] > 0.0 and alpha[i, c] < (C[i] if c == y[i] else 0.0):
                support[size] = c
                size += 1
        if size < 2:
            continue
        n = entries(rows, i, indices, values)
        if rows.bias != 0.0:
            indices[n], values[n] = d - ONE, rows.bias
            n += 1
        for a in range(size):
            for b in range(a + 1):
                curvature = ((1.0 if a == b else 0.0) - 1.0 / size) * stiffness[i]
                add_block(H, support[a] * d, support[b] * d, curvature, indices, values, n)


@kernel
def add_block(H: Matrix, above: Index, left: Index, curvature: float, indices: Counts, values: Vector, n: int) -> None:
    """Add curvature times x x' to the block of H that begins at row ``above`` and column ``left``."""
    gaps = 0
    for r in range(n):
        gaps += indices[r] != np.uint64(r)
    for r in range(n):
        row, v = H[above + indices[r]], curvature * values[r]
        if gaps == 0:  # adjacent columns: the compiler vectorises the loop
            for s in range(np.uint64(n)):
                row[left + s] += v * values[s]
        else:
            for s in range(n):
                row[left + indices[s]] += v * values[s]
