"""A whole step of Newton's method in one call, where rows and features are so few that calls would cost more than work.

The same step as that of solvers/smoothed.py: Hessian, direction, line search, and the responses where it ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel
from ...kernels.gram import gram
from ...kernels.losses import primal_term, proximal, unsettled
from ...kernels.rows import ONE, axpy, dot
from .responses import search_line, step_found


@kernel
def solve_positive(H: Any, x: Any) -> None:
    """x <- H^-1 x; of H, positive definite, the upper triangle is read, and left as its Cholesky factor."""
    n = np.uint64(x.size)
    for k in range(n):
        H[k, k] = np.sqrt(H[k, k])
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


@kernel
def respond_at_once(
    rows: Any, loss: Any, C: Any, s: Any, abar: Any, delta: Any, m: Any, alpha: Any, band: Any, v: Any
) -> Any:
    """alpha_i and the band at the margins m, and v = Z' alpha.

    Returns the largest violation, the size of the band, and the sums of the losses and of the gap terms. Where delta is
    zero, alpha is what the loss calls for: there is no violation, and no gap.
    """
    violation, size, losses, gap = 0.0, 0, 0.0, 0.0
    for i in range(np.uint64(m.size)):
        a, inside = proximal(loss, m[i], abar[i], delta, C[i])
        apart, term = unsettled(loss, m[i], a, C[i])
        violation = max(violation, apart)
        gap += term
        losses += primal_term(loss, m[i], C[i])
        size += inside > 0.0
        alpha[i], band[i] = a if C[i] > 0.0 else alpha[i], inside
    v[:] = 0.0
    for i in range(np.uint64(m.size)):
        if alpha[i] != 0.0:
            axpy(rows, i, alpha[i] * s[i], v)
    return violation, size, losses, gap


@kernel
def newton_step(
    rows: Any, loss: Any, C: Any, s: Any, abar: Any, delta: Any, m: Any, alpha: Any, band: Any, v: Any,
    distinct: Any, scale: Any, accuracy: Any, evaluations: Any, w: Any, H: Any, p: Any, t: Any,
) -> Any:  # fmt: skip
    """Move w, with its margins m, responses alpha, band and v = Z' alpha, to the minimum along Newton's direction.

    H, p and t are room to work in. Returns the decrease that the direction promised (twice), and what
    ``respond_at_once`` returns.
    """
    d = np.uint64(w.size)
    H[:] = 0.0
    gram(rows, band, distinct, H, 0, m.size)
    H *= scale
    decrement, wp, pp = 0.0, 0.0, 0.0
    for j in range(d):
        H[j, j] += 1.0
        p[j] = v[j] - w[j]
    solve_positive(H, p)
    for j in range(d):
        decrement += (v[j] - w[j]) * p[j]
        wp += w[j] * p[j]
        pp += p[j] * p[j]
    for i in range(np.uint64(m.size)):
        t[i] = s[i] * dot(rows, i, p)
    at = (0.0, -decrement, np.inf, np.inf, 1.0, False)
    at = search_line(loss, C, m, t, abar, delta, scale, wp, pp, -decrement, accuracy, evaluations, at)
    tau = step_found(at)
    for j in range(d):
        w[j] += tau * p[j]
    for i in range(np.uint64(m.size)):
        m[i] -= tau * t[i]
    return decrement, respond_at_once(rows, loss, C, s, abar, delta, m, alpha, band, v)
