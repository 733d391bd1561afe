"""Steps of the one-class machine: two variables at a time, since their sum is fixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.rows import axpy, dot
from ...kernels.schedule import adapted

NOBODY = np.uint64(2**64 - 1)


@kernel
def visit_pairs(
    rows: Any, alpha: Any, q: Any, C: Any, p: Any, w: Any, scratch: Any, partners: Any, I: Any, begin: Any, end: Any,
    low: Any, high: Any, rho: Any, preferences: Any, fading: Any, adapts: Any, once: Any, first_sweep: Any, seen: Any,
) -> Any:  # fmt: skip
    """Visit I[begin:end]; each takes a step with the best partner known, ``partners`` = (to raise, to lower) or NOBODY.

    A variable at 0 whose score is above ``high``, or at its bound with a score below ``low``, leaves the active set.
    ``scratch`` is a vector of zeros as long as w: it holds a row for the time of a product of two rows.
    """
    steps, least, largest, least_late, largest_late, D_ref, gain, gap, s_up, s_down = seen
    late = np.uint64(I.size // 2)
    if partners[0] != NOBODY:  # afresh now and then: a partner that stays one for long gathers rounding
        s_up = dot(rows, partners[0], w)
    if partners[1] != NOBODY:
        s_down = dot(rows, partners[1], w)
    for k in range(np.uint64(begin), np.uint64(end)):
        if k + RECORD_AHEAD < np.uint64(I.size):
            look_ahead(rows, alpha, w, I, k)
        i = np.uint64(I[k])
        if p[i] < 0.0:
            continue
        steps += 1
        s = dot(rows, i, w)
        can_rise, can_fall = alpha[i] < C[i], alpha[i] > 0.0
        if (not can_fall and s > high) or (not can_rise and s < low):
            p[i] = -p[i]
            continue
        if can_rise:
            least = min(least, s)
            if k >= late:
                least_late = min(least_late, s)
        if can_fall:
            largest = max(largest, s)
            if k >= late:
                largest_late = max(largest_late, s)
        m = rho - s
        term = (C[i] - alpha[i]) * m if m > 0.0 else -alpha[i] * m
        gap += term if once else term / p[i]  # seldom visited variables stand for more
        rise = s_down - s if can_rise and partners[1] != NOBODY and partners[1] != i else 0.0
        fall = s - s_up if can_fall and partners[0] != NOBODY and partners[0] != i else 0.0
        delta = 0.0
        if rise > 0.0 or fall > 0.0:
            up, down = (i, partners[1]) if rise >= fall else (partners[0], i)
            # The partner's score is known: w has not moved since it became one, or moved by a step that it was part of.
            s_up, s_down = (s, s_down) if up == i else (s_up, s)
            violation = s_down - s_up
            axpy(rows, up, 1.0, scratch)
            product = dot(rows, down, scratch)
            axpy(rows, up, -1.0, scratch)
            curvature = q[up] + q[down] - 2.0 * product
            mu = violation / curvature if curvature > 0.0 else np.inf
            mu = min(mu, C[up] - alpha[up], alpha[down])
            alpha[up] = C[up] if mu == C[up] - alpha[up] else alpha[up] + mu
            alpha[down] = 0.0 if mu == alpha[down] else alpha[down] - mu
            axpy(rows, up, mu, w)
            axpy(rows, down, -mu, w)
            delta = mu * (violation - 0.5 * mu * curvature)
            gain += delta
            s_up += mu * (q[up] - product)
            s_down += mu * (product - q[down])
            # Both are known exactly now: each is the best partner of its kind, as far as it can still move.
            raised, lowered = s_up, s_down
            if alpha[up] == C[up]:
                partners[0], s_up = (down, lowered) if alpha[down] < C[down] else (NOBODY, np.inf)
            else:
                partners[0] = up
            if alpha[down] == 0.0:
                partners[1], s_down = (up, raised) if alpha[up] > 0.0 else (NOBODY, -np.inf)
            else:
                partners[1] = down
        else:
            if can_rise and (partners[0] == NOBODY or s < s_up):
                partners[0], s_up = i, s
            if can_fall and (partners[1] == NOBODY or s > s_down):
                partners[1], s_down = i, s
        if first_sweep:
            D_ref += fading * delta
        else:
            if adapts:
                p[i] = adapted(preferences, p[i], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, least, largest, least_late, largest_late, D_ref, gain, gap, s_up, s_down


@kernel
def one_class_terms(alpha: Any, C: Any, s: Any, rho: Any, begin: Any, end: Any) -> Any:
    """Sum of the losses, sum of the gap terms, least score of what can rise, largest of what can fall."""
    losses, gap, least, largest = 0.0, 0.0, np.inf, -np.inf
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            m = rho - s[i]
            losses += C[i] * max(0.0, m)
            gap += (C[i] - alpha[i]) * m if m > 0.0 else -alpha[i] * m
            if alpha[i] < C[i]:
                least = min(least, s[i])
            if alpha[i] > 0.0:
                largest = max(largest, s[i])
    return losses, gap, least, largest
