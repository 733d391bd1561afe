"""Hard shrinking (Algorithm 2): the active set, its thresholds and the decision to drop a variable."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from .compile import kernel

EARLY_SWEEPS = 8  # in which violations still fall fast, so that the last sweep alone sets the thresholds


class Thresholds(NamedTuple):
    """How strongly a bounded variable must press against its bound to be dropped: the last sweep's violations."""

    v_min: float = -inf
    v_max: float = inf


def next_thresholds(v_min: float, v_max: float) -> Thresholds:
    """Thresholds from the projected gradients' range in the sweep that has just ended."""
    return Thresholds(v_min if v_min < 0.0 else -inf, v_max if v_max > 0.0 else inf)


def cautious_thresholds(sweep: int, last: Thresholds, before: Thresholds) -> Thresholds:
    """Thresholds after ``sweep`` sweeps: at first the last sweep's, later those that drop a variable only if both do.

    ``last`` and ``before`` belong to the last sweep and to the one before it.
    """
    if sweep < EARLY_SWEEPS:
        return last
    return Thresholds(min(last.v_min, before.v_min), max(last.v_max, before.v_max))


@kernel
def is_shrunk(thresholds: Thresholds, pressure: float) -> bool:
    """Tell whether a variable that presses against its bound (zero: it does not) will probably stay there."""
    return pressure < thresholds.v_min or pressure > thresholds.v_max
