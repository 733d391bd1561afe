"""The proximal dual term of one row, and its sums along a line: what the Newton engine needs of a loss.

psi_i(m) = max over 0 <= a <= U_i of  a m - D_i a^2/2 - sigma_i (a - abar_i)^2/2,   sigma_i = 2 delta / C_i,

is smooth in m, with slope alpha_i = clip((m + sigma_i abar_i)/(D_i + sigma_i), 0, U_i) and curvature 1/(D_i + sigma_i)
in the band where alpha_i is not clipped. The squared hinge is smooth by itself (D_i > 0) and takes delta = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .losses import diagonal, gap_term, primal_term, upper


@kernel
def respond(
    loss: Any,
    C: Any,
    m: Any,
    tau: Any,
    t: Any,
    abar: Any,
    delta: Any,
    alpha: Any,
    change: Any,
    band: Any,
    counted: Any,
    begin: Any,
    end: Any,
) -> Any:
    """m <- m - tau t, alpha_i at these margins, its ``change``, and C_i in the band (0 elsewhere).

    Rows with C_i = 0 do not respond. Returns the largest violation, the size of the band, the number of rows where it
    is not ``counted``, and the sums of the losses and of the gap terms.
    """
    violation, size, moved, losses, gap = 0.0, 0, 0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        m[i] -= tau * t[i]
        a, inside = 0.0, 0.0
        if C[i] > 0.0:
            U, D, sigma = upper(loss, C[i]), diagonal(loss, C[i]), 2.0 * delta / C[i]
            a = (m[i] + sigma * abar[i]) / (D + sigma)
            if a <= 0.0:
                a = 0.0
                violation = max(violation, m[i])
            elif a >= U:
                a = U
                violation = max(violation, -m[i])
            else:
                inside = C[i]
                size += 1
                violation = max(violation, abs(m[i] - D * a))
            losses += primal_term(loss, m[i], C[i])
            gap += gap_term(loss, m[i], a, C[i])
            change[i] = a - alpha[i]
            alpha[i] = a
        band[i] = inside
        moved += inside != counted[i]
    return violation, size, moved, losses, gap


@kernel
def along_line(loss: Any, C: Any, m: Any, t: Any, abar: Any, delta: Any, tau: Any, begin: Any, end: Any) -> Any:
    """First and second derivative in tau of sum_i psi_i(m_i - tau t_i) over the rows begin to end."""
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            U, D, sigma = upper(loss, C[i]), diagonal(loss, C[i]), 2.0 * delta / C[i]
            a = (m[i] - tau * t[i] + sigma * abar[i]) / (D + sigma)
            if a >= U:
                first -= U * t[i]
            elif a > 0.0:
                first -= a * t[i]
                second += t[i] * t[i] / (D + sigma)
    return first, second


@kernel
def narrowed(at: Any, first: Any, second: Any, slope: Any) -> Any:
    """Go on from tau, where a convex function has these derivatives, towards its minimum.

    The first derivative is piecewise linear and increasing: Newton's method, and Illinois' where that leaves the
    bracket. ``slope`` is the derivative at 0, a thousandth of it is as good as zero; ``at`` is what the call before
    returned: the bracket with its derivatives, tau, and whether tau is good enough.
    """
    low, f_low, high, f_high, tau, done = at
    if abs(first) <= 1e-3 * abs(slope):
        return low, f_low, high, f_high, tau, True
    if first < 0.0:
        f_high = 0.5 * f_high if low > 0.0 else f_high
        low, f_low = tau, first
    else:
        f_low = 0.5 * f_low if high < np.inf else f_low
        high, f_high = tau, first
    guess = tau - first / second
    if not low < guess < high:
        guess = low + (high - low) * f_low / (f_low - f_high) if high < np.inf else 4.0 * tau
    return low, f_low, high, f_high, guess, done


@kernel
def search_line(
    loss: Any, C: Any, m: Any, t: Any, abar: Any, delta: Any, wp: Any, pp: Any, slope: Any, evaluations: Any, at: Any
) -> Any:
    """Look for the minimum of |w + tau p|^2/2 + sum_i psi_i(m_i - tau t_i) along tau, for some evaluations."""
    for _ in range(evaluations):
        tau = at[4]
        first, second = along_line(loss, C, m, t, abar, delta, tau, 0, m.size)
        at = narrowed(at, first + wp + tau * pp, second + pp, slope)
        if at[5]:
            break
    return at
