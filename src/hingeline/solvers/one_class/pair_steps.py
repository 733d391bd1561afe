"""Steps of the one-class problem: two variables at a time, since the sum of all is fixed."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.rows import Rows, axpy, dot
from ...kernels.schedule import Learning, learn
from ...kernels.types import Index, Indices, Vector

NOBODY = np.uint64(2**64 - 1)


class Points(NamedTuple):
    """What steps work on: w = sum_i alpha_i x_i, and the best partners known, (to raise, to lower) or NOBODY.

    ``scratch`` is a vector of zeros as long as w: it holds a row during the product of two rows.
    """

    rows: Rows
    q: Vector
    C: Vector
    alpha: Vector
    w: Vector
    partners: Indices
    scratch: Vector


class Limits(NamedTuple):
    """A variable at 0 with a score above ``high``, or at its bound with one below ``low``, leaves the active set."""

    low: float = -inf
    high: float = inf


class Seen(NamedTuple):
    """What a sweep has seen so far; the last two are the partners' scores.

    ``least`` is the least score of a variable that can rise, ``largest`` the largest of one that can fall; ``..._late``
    are those of the sweep's second half, when its first half has done its work: they decide who leaves the active set.
    """

    steps: int = 0
    least: float = inf
    largest: float = -inf
    least_late: float = inf
    largest_late: float = -inf
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0
    s_up: float = inf
    s_down: float = -inf


@kernel
def visit_pairs(
    points: Points,
    p: Vector,
    I: Indices,
    begin: Index,
    end: Index,
    limits: Limits,
    rho: float,
    once: bool,
    learning: Learning,
    seen: Seen,
) -> tuple[int, float, float, float, float, float, float, float, float, float]:
    """Visit the variables I[begin:end]; each takes a step with the best partner known.

    ``once`` says that the sweep visits every variable once, whatever its preference. A variable that leaves the active
    set has the sign of p_i flipped.
    """
    rows, q, C, alpha, w, partners, scratch = points
    steps, least, largest, least_late, largest_late, D_ref, gain, gap, s_up, s_down = seen
    late = np.uint64(I.size // 2)
    if partners[0] != NOBODY:  # recomputed once per call: the score of a long-time partner accumulates rounding
        s_up = dot(rows, partners[0], w)
    if partners[1] != NOBODY:
        s_down = dot(rows, partners[1], w)
    for k in range(np.uint64(begin), np.uint64(end)):
        if k + RECORD_AHEAD < np.uint64(I.size):
            look_ahead(rows, alpha, C, w, I, k)
        i = np.uint64(I[k])
        if p[i] < 0.0:
            continue
        steps += 1
        s = dot(rows, i, w)
        can_rise, can_fall = alpha[i] < C[i], alpha[i] > 0.0
        if (not can_fall and s > limits.high) or (not can_rise and s < limits.low):
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
        gap += term if once else term / p[i]  # rarely visited variables count for more
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
            # Both scores are exact now: each variable is the best partner of its kind, as far as it can still move.
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
        p[i], D_ref = learn(learning, p[i], delta, D_ref)
    return steps, least, largest, least_late, largest_late, D_ref, gain, gap, s_up, s_down


@kernel
def one_class_terms(
    alpha: Vector, C: Vector, s: Vector, rho: float, begin: Index, end: Index
) -> tuple[float, float, float]:
    """Sum of the gap terms, least score of a variable that can rise, largest of one that can fall."""
    gap, least, largest = 0.0, np.inf, -np.inf
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            m = rho - s[i]
            gap += (C[i] - alpha[i]) * m if m > 0.0 else -alpha[i] * m
            if alpha[i] < C[i]:
                least = min(least, s[i])
            if alpha[i] > 0.0:
                largest = max(largest, s[i])
    return gap, least, largest
