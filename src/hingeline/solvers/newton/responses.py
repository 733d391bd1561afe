"""The proximal dual term of one row, and its sums along a line: what the Newton engine needs of a loss.

psi_i(m) = max over the box of  a m - conjugate_i(a) - sigma_i (a - abar_i)^2/2,   sigma_i = 2 delta / C_i,

is smooth in m, with the slope alpha_i that the verb ``proximal`` gives. For the hinge that is clip(abar_i + m/sigma_i,
0, C_i), with curvature 1/sigma_i = C_i/(2 delta) in the band where nothing is clipped. Squared losses and the logistic
loss are smooth by themselves and take delta = 0. Curvatures are ``scale`` times the entries of ``band``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import gap_estimate, gap_term, lower, primal_term, proximal, pull, unsettled, upper


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
    """m <- m - tau t, alpha_i at these margins, its ``change``, and the band (0 outside).

    Rows with C_i = 0 do not respond. Returns the largest violation, the size of the band, the number of rows where it
    is not ``counted``, and the sums of the losses and of the gap terms.
    """
    violation, size, moved, losses, gap = 0.0, 0, 0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        missing = m[i] - tau * t[i]
        a, inside = proximal(loss, missing, abar[i], delta, C[i])
        apart, term = unsettled(loss, missing, a, C[i])
        violation = max(violation, apart)
        gap += term
        losses += primal_term(loss, missing, C[i])
        size += inside > 0.0
        moved += inside != counted[i]
        change[i] = a - alpha[i] if C[i] > 0.0 else 0.0
        m[i], band[i] = missing, inside
        alpha[i] = a if C[i] > 0.0 else alpha[i]
    return violation, size, moved, losses, gap


@kernel
def respond_smoothly(loss: Any, C: Any, scale: Any, m: Any, alpha: Any, s: Any, begin: Any, end: Any) -> Any:
    """A smooth loss at the margins m: its slopes alpha_i and curvatures s_i; returns its sum."""
    losses = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        a, band = proximal(loss, m[i], 0.0, 0.0, C[i])
        alpha[i], s[i] = a, scale * band
        losses += primal_term(loss, m[i], C[i])
    return losses


@kernel
def compare_duals(loss: Any, C: Any, m: Any, a: Any, excess: Any, begin: Any, end: Any) -> Any:
    """Move the proposed dual variables ``a`` into the box, ``excess`` is what sticks out.

    Returns the largest violation, the sum of the gap terms (estimated), and whether anything stuck out.
    """
    violation, gap, clipped = 0.0, 0.0, False
    for i in range(np.uint64(begin), np.uint64(end)):
        excess[i] = 0.0
        if C[i] > 0.0:
            inside = min(max(a[i], lower(loss, C[i])), upper(loss, C[i]))
            if inside != a[i]:
                excess[i] = a[i] - inside
                a[i] = inside
                clipped = True
            violation = max(violation, abs(pull(loss, m[i], a[i], C[i])[0]))
            gap += gap_estimate(loss, m[i], a[i], C[i])
    return violation, gap, clipped


@kernel
def along_line(
    loss: Any, C: Any, m: Any, t: Any, abar: Any, delta: Any, scale: Any, tau: Any, begin: Any, end: Any
) -> Any:
    """First and second derivative in tau of sum_i psi_i(m_i - tau t_i) over the rows begin to end."""
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        a, band = proximal(loss, m[i] - tau * t[i], abar[i], delta, C[i])
        first -= a * t[i]
        second += scale * band * t[i] * t[i]
    return first, second


@kernel
def narrowed(at: Any, first: Any, second: Any, slope: Any, accuracy: Any) -> Any:
    """Go on from tau, where a convex function has these derivatives, towards its minimum.

    The first derivative is increasing, mostly piecewise linear: Newton's method, and the secant where that leaves the
    bracket; the middle where the bracket has not become half as wide, for its slopes may differ by orders of magnitude.
    ``slope`` is the derivative at 0, ``accuracy`` the share of it that is as good as zero; ``at`` is what the call
    before returned: the bracket with its derivatives, tau, and whether tau is good enough.
    """
    low, f_low, high, f_high, tau, done = at
    if abs(first) <= accuracy * abs(slope):
        return low, f_low, high, f_high, tau, True
    width = high - low
    if first < 0.0:
        low, f_low = tau, first
    else:
        high, f_high = tau, first
    if width < np.inf and high - low > 0.5 * width:
        return low, f_low, high, f_high, 0.5 * (low + high), done
    guess = tau - first / second
    if not low < guess < high:
        guess = low + (high - low) * f_low / (f_low - f_high) if high < np.inf else 4.0 * tau
    return low, f_low, high, f_high, guess, done


@kernel
def step_found(at: Any) -> Any:
    """Return tau; where the search has run out of evaluations, the longest step that is known to lead downwards."""
    return at[0] if at[0] > 0.0 and not at[5] else at[4]


@kernel
def search_line(
    loss: Any,
    C: Any,
    m: Any,
    t: Any,
    abar: Any,
    delta: Any,
    scale: Any,
    wp: Any,
    pp: Any,
    slope: Any,
    accuracy: Any,
    evaluations: Any,
    at: Any,
) -> Any:
    """Look for the minimum of |w + tau p|^2/2 + sum_i psi_i(m_i - tau t_i) along tau, for some evaluations."""
    for _ in range(evaluations):
        tau = at[4]
        first, second = along_line(loss, C, m, t, abar, delta, scale, tau, 0, m.size)
        at = narrowed(at, first + wp + tau * pp, second + pp, slope, accuracy)
        if at[5]:
            break
    return at


@kernel
def sum_terms(loss: Any, C: Any, m: Any, alpha: Any, begin: Any, end: Any) -> Any:
    """Sums of the losses and of the gap terms at given margins."""
    losses, gap = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            losses += primal_term(loss, m[i], C[i])
            gap += gap_term(loss, m[i], alpha[i], C[i])
    return losses, gap
