"""The Hessian of the multinomial problem, for few unknowns.

They lie class by class: H = I + sum_i C_i (diag(p_i) - p_i p_i') (x) x_i x_i' has a block of features for each pair of
classes, and blocks (c, e) are computed for e <= c.
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.rows import ONE, DenseRows
from ...kernels.types import Index, Indices, Matrix, Vector
from ...runtime.pace import Pace
from ..multiclass.newton_system import add_block, entries, summed_hessian
from .softmax_rows import Softmax


def losses_hessian(softmaxes: Softmax, n_weights: int, pace: Pace) -> Matrix:
    """Return H - I, for ``n_weights`` weights per class, the intercept's last."""

    def by_blas(dense: DenseRows, H: Matrix, part: slice) -> None:
        _add_by_blas(dense, softmaxes, H, part)

    def by_kernel(most: int, H: Matrix, begin: int, end: int) -> None:
        add_hessian(softmaxes, most, H, begin, end)

    return summed_hessian(softmaxes.rows, softmaxes.alpha.shape, n_weights, by_blas, by_kernel, pace)


def _add_by_blas(rows: DenseRows, softmaxes: Softmax, H: Matrix, part: slice) -> None:
    """Add the rows of ``part`` to the lower blocks of H."""
    d = rows.X.shape[1] + 1
    C, y, alpha = softmaxes.C[part], softmaxes.y[part], softmaxes.alpha[part]
    X = np.empty((len(C), d))
    X[:, :-1], X[:, -1] = rows.X[part], rows.bias
    h = np.empty(len(C))
    for c in range(alpha.shape[1]):
        for e in range(c + 1):
            curvatures(alpha, C, y, c, e, h)
            H[c * d : (c + 1) * d, e * d : (e + 1) * d] += (X * h[:, None]).T @ X


@kernel
def curvature(a: Vector, C: float, y: Index, c: Index, e: Index) -> float:
    """C ([c = e] p_c - p_c p_e), from the entries of ``a`` that keep their digits."""
    if c == e:
        return abs(a[c]) * (1.0 - abs(a[c]) / C)
    if c == y:
        return a[e] * (1.0 - a[y] / C)
    if e == y:
        return a[c] * (1.0 - a[y] / C)
    return -a[c] * (a[e] / C)


@kernel
def curvatures(alpha: Matrix, C: Vector, y: Indices, c: int, e: int, out: Vector) -> None:
    """Set out_i to the curvature of row i for the classes c and e."""
    for i in range(out.size):
        out[i] = curvature(alpha[i], C[i], y[i], np.uint64(c), np.uint64(e)) if C[i] > 0.0 else 0.0


@array_kernel
def add_hessian(softmaxes: Softmax, most: int, H: Matrix, begin: Index, end: Index) -> None:
    """H <- H + the losses' Hessian of the rows begin to end, lower blocks; a row has at most ``most`` entries."""
    rows, C, y, _, alpha = softmaxes
    k = np.uint64(alpha.shape[1])
    d = np.uint64(H.shape[0] // alpha.shape[1])
    indices, values = np.empty(most + 1, np.uint64), np.empty(most + 1)
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] <= 0.0:
            continue
        n = entries(rows, i, indices, values)
        if rows.bias != 0.0:
            indices[n], values[n] = d - ONE, rows.bias
            n += 1
        for c in range(k):
            for e in range(c + ONE):
                add_block(H, c * d, e * d, curvature(alpha[i], C[i], np.uint64(y[i]), c, e), indices, values, n)
