"""The losses of the one-class problem, smoothed: the joint response of all rows, whose sum is fixed.

With scores s_i the smoothed losses, at their best rho, are

    max_a  -sum_i [a_i s_i + (a_i - abar_i)^2 / (2 k_i)]     over   0 <= a_i <= C_i,   sum_i a_i = total.

So a_i = clip(abar_i + k_i (rho - s_i), 0, C_i), and rho is chosen so that the sum is right. Rows between their bounds
form the band B. The curvature along scores t is  sum_B k_i (t_i - tbar)^2  with tbar the mean of t over B, weighted by
k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.types import Vector

ENOUGH = 4.0 * 2.0**-52  # share of the total that its sum may miss: the variables are made feasible later


class Smoothing(NamedTuple):
    """The rows: bounds C_i, stiffness k_i, scores s_i, centres abar_i."""

    C: Vector
    stiffness: Vector
    s: Vector
    abar: Vector


Search = tuple[float, float, float, bool]  # a bracket of rho, rho, and whether it is accurate enough


@kernel
def bracket(smoothing: Smoothing, t: Vector, tau: float) -> tuple[float, float]:
    """Return a rho at which all variables are 0, and one at which all are C_i, at the scores s + tau t."""
    C, k, s, abar = smoothing
    low, high = np.inf, -np.inf
    for i in range(C.size):
        if C[i] > 0.0:
            f = s[i] + tau * t[i]
            low, high = min(low, f - abar[i] / k[i]), max(high, f + (C[i] - abar[i]) / k[i])
    return low, high


@kernel
def find_rho(smoothing: Smoothing, t: Vector, tau: float, total: float, evaluations: int, at: Search) -> Search:
    """Go on from ``at`` for some evaluations towards the rho at which the responses sum up to the total.

    Newton's method, and the middle of the bracket if that leaves it or the bracket has not become half as wide.
    """
    C, k, s, abar = smoothing
    low, high, rho, done = at
    for _ in range(evaluations):
        sum_, slope = 0.0, 0.0
        for i in range(C.size):
            a = abar[i] + k[i] * (rho - (s[i] + tau * t[i]))
            inside = (a > 0.0) & (a < C[i])
            sum_ += min(max(a, 0.0), C[i])
            slope += k[i] if inside else 0.0
        left = total - sum_
        if abs(left) <= ENOUGH * total:
            return low, high, rho, True
        width = high - low
        if left > 0.0:
            low = rho
        else:
            high = rho
        guess = rho + left / slope
        if not low < guess < high or high - low > 0.5 * width:
            guess = 0.5 * (low + high)
        if guess in (low, high):
            return low, high, rho, True
        rho = guess
    return low, high, rho, done


@kernel
def respond(smoothing: Smoothing, rho: float, alpha: Vector) -> tuple[float, float, float]:
    """Set alpha to the responses; returns sums of a_i s_i, of their sizes, and of (a_i - abar_i)^2/k_i."""
    C, k, s, abar = smoothing
    linear, size, moved = 0.0, 0.0, 0.0
    for i in range(C.size):
        if C[i] > 0.0:
            a = min(max(abar[i] + k[i] * (rho - s[i]), 0.0), C[i])
            alpha[i] = a
            linear += a * s[i]
            size += abs(a * s[i])
            moved += (a - abar[i]) ** 2 / k[i]
    return linear, size, moved


@kernel
def along_line(smoothing: Smoothing, t: Vector, tau: float, rho: float) -> tuple[float, float]:
    """First and second derivative in tau of the smoothed losses at the scores s + tau t, rho being their best."""
    C, k, s, abar = smoothing
    first, weight, mean = 0.0, 0.0, 0.0
    for i in range(C.size):
        a = abar[i] + k[i] * (rho - (s[i] + tau * t[i]))
        first -= min(max(a, 0.0), C[i]) * t[i]
        if 0.0 < a < C[i]:
            weight += k[i]
            mean += k[i] * t[i]
    second = 0.0
    if weight > 0.0:
        mean /= weight
        for i in range(C.size):
            if 0.0 < abar[i] + k[i] * (rho - (s[i] + tau * t[i])) < C[i]:
                second += k[i] * (t[i] - mean) ** 2
    return first, second
