"""The search along a line if every evaluation is a round of messages: interpolation instead of further rounds.

The derivative along a line increases. Its values and slopes at two nearby steps tell where it is zero almost as well as
another round would; Newton's next direction corrects the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.types import Matrix, Vector
from ..solvers.shards.line import MOST_EVALUATIONS, Line, next_taus

NEAR = 2.0  # ratio of two steps with the minimum between them: interpolation is good enough
HALVINGS = 30


def search(derivatives: Callable[[Vector], Matrix], line: Line, taus: Vector, values: Matrix) -> float:
    """Return approximately the step to the minimum; ``values`` are the losses' ``derivatives`` at ``taus``."""
    low, high = (0.0, line.slope, 0.0), (np.inf, np.inf, 0.0)  # a step, the first and the second derivative there
    for _ in range(MOST_EVALUATIONS // taus.size):
        first, second = values[:, 0] + line.wp + taus * line.pp, values[:, 1] + line.pp
        best = int(np.argmin(np.abs(first)))
        if abs(first[best]) <= line.accuracy * abs(line.slope):
            return float(taus[best])
        width, guesses = high[0] - low[0], taus - first / second
        for at in zip(taus.tolist(), first.tolist(), second.tolist(), strict=True):
            if at[1] < 0.0 and at[0] > low[0]:
                low = at
            elif at[1] >= 0.0 and at[0] < high[0]:
                high = at
        if high[0] <= NEAR * low[0]:
            return interpolated(low, high)
        taus = next_taus(*low[:2], *high[:2], guesses[np.argsort(np.abs(first))], width, taus.size)
        values = derivatives(taus)
    tau = low[0] if low[0] > 0.0 else float(taus[0])
    return tau if tau < np.inf else 0.0


def interpolated(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """Return a zero of the cubic that has these values and slopes at two steps; the first value is negative."""
    (a, f_a, slope_a), (b, f_b, slope_b) = low, high
    h = b - a
    left, right = 0.0, 1.0
    for _ in range(HALVINGS):
        s = 0.5 * (left + right)
        r = 1.0 - s
        value = r * r * ((1.0 + 2.0 * s) * f_a + s * h * slope_a) + s * s * ((1.0 + 2.0 * r) * f_b - r * h * slope_b)
        left, right = (s, right) if value < 0.0 else (left, s)
    return a + 0.5 * (left + right) * h
