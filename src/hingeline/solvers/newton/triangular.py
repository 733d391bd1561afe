"""Newton's equation by its rows, for columns that depend on each other or have very different scales.

The Hessian I + Z' S Z is R'R for the triangular factor R of the rows (S^1/2 Z, then I), which is found without squaring
anything: a column that differs from others by a millionth of its size is still told from them. What rounding leaves of
the equation is corrected for.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, qr

from ...kernels.types import Matrix, Vector

CORRECTIONS = 3


@np.errstate(over="ignore", invalid="ignore")  # an answer that is not finite is none
def solved_by_rows(Z: Matrix, curvatures: Vector, b: Vector, is_free: bool) -> Vector | None:
    """Return (I + Z' diag(curvatures) Z)^-1 b; None if rounding leaves no such thing.

    The last weight is not regularised if it ``is_free``: there is no 1 in its place then.
    """
    weighted = np.sqrt(curvatures)[:, None] * Z
    n = weighted.shape[1]
    weighted = weighted[np.argsort(-np.abs(weighted).max(axis=1))]  # large rows first, or they drown the others
    rows = np.vstack([weighted, np.eye(n)[: n - is_free]])
    lengths = np.sqrt(np.sum(rows * rows, axis=0))
    if not np.isfinite(lengths).all() or not (lengths > 0.0).all():
        return None
    rows /= lengths
    R, order = qr(rows, mode="r", pivoting=True, check_finite=False)
    R = R[:n]
    if not (np.abs(R.diagonal()) > 0.0).all():
        return None
    rows, target = rows[:, order], (b / lengths)[order]
    x = np.zeros(n)
    for _ in range(1 + CORRECTIONS):
        left = target - rows.T @ (rows @ x)
        y, _ = lapack.dtrtrs(R, left, trans=1)
        step, _ = lapack.dtrtrs(R, y)
        x += step
    p = np.empty(n)
    p[order] = x
    return np.asarray(p / lengths)
