"""A whole Newton step in one call, for problems so small that separate calls would cost more than the work.

The step is that of newton/smoothed.py: Hessian, direction, line search, and the responses at its end.
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import kernel
from ...kernels.gram import gram
from ...kernels.losses import Loss
from ...kernels.rows import ONE, Rows
from ...kernels.types import Matrix, Vector
from .kernels import Arrays, own
from .line import Line, move_rows


@kernel
def solve_positive(H: Matrix, x: Vector, damping: float) -> float:
    """x <- (H + damping diag(H))^-1 x; reads the upper triangle of H and overwrites it with a Cholesky factor.

    H is positive definite, but rounding may make a pivot too small or negative; it is then replaced by what damping
    adds. So x is finite and a direction of descent in any case. Returns the largest ratio of a diagonal entry to its
    pivot, which is roughly the condition number of the scaled H.
    """
    n, condition = np.uint64(x.size), 1.0
    for k in range(n):
        diagonal = H[k, k]
        for i in range(k):
            diagonal += H[i, k] * H[i, k]
        pivot = max(H[k, k], 0.0) + damping * diagonal
        condition = max(condition, diagonal / pivot)
        H[k, k] = np.sqrt(pivot)
        for j in range(k + ONE, n):
            H[k, j] /= H[k, k]
        for i in range(k + ONE, n):
            for j in range(i, n):
                H[i, j] -= H[k, i] * H[k, j]
    for k in range(n):
        x[k] /= H[k, k]
        for j in range(k + ONE, n):
            x[j] -= H[k, j] * x[k]
    for r in range(n):
        last = n - ONE - r
        for j in range(last + ONE, n):
            x[last] -= H[last, j] * x[j]
        x[last] /= H[last, last]
    return condition


@kernel
def step_at_once(
    rows: Rows,
    loss: Loss,
    vectors: Arrays,
    delta: float,
    scale: float,
    distinct: bool,
    accuracy: float,
    damping: float,
    free: bool,
    w: Vector,
    v: Vector,
    H: Matrix,
    p: Vector,
    room: Matrix,
    change: Vector,
) -> tuple[float, float, float, tuple[float, int, int, float, float, float]]:
    """Move w, with its margins, responses and v = Z' alpha, to the minimum along Newton's direction.

    ``free`` leaves the intercept, the last weight, out of the regulariser. H, p, room and change are work space.
    Returns twice the decrease that the direction promised, the step along it, and what ``solve_positive`` and
    ``respond`` return.
    """
    C, _, m, t, _, band, _ = vectors
    d, n = np.uint64(w.size), np.uint64(m.size)
    for j in range(d):
        for k in range(j, d):
            H[j, k] = 0.0
    for i in range(n):
        t[i] = own(C, i) * band[i]
    gram(rows, t, distinct, H, room, 0, m.size)
    for j in range(d):
        for k in range(j, d):
            H[j, k] *= scale
    decrement, wp, pp = 0.0, 0.0, 0.0
    last = d - ONE
    regularised = last if free else d
    for j in range(regularised):
        H[j, j] += 1.0
        p[j] = v[j] - w[j]
    if free:
        p[last] = v[last]
    condition = solve_positive(H, p, damping)
    for j in range(regularised):
        decrement += (v[j] - w[j]) * p[j]
        wp += w[j] * p[j]
        pp += p[j] * p[j]
    if free:
        decrement += v[last] * p[last]
    if not 0.0 < decrement < np.inf:  # rounding leaves no descent direction
        decrement = 0.0
        for j in range(d):
            p[j] = 0.0
    for j in range(d):
        v[j] = 0.0
    line = Line(-decrement, wp, pp, accuracy)
    tau, responses = move_rows(rows, loss, vectors, p, delta, scale, line, True, v, change)
    for j in range(d):
        w[j] += tau * p[j]
    return decrement, tau, condition, responses
