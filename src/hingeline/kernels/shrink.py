"""Hard shrinking (Algorithm 2): the active set, its thresholds and the decision to drop a variable."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from .compile import kernel


class Thresholds(NamedTuple):
    """How strongly a bounded variable must press against its bound to be dropped: the last sweep's violations."""

    v_min: float = -inf
    v_max: float = inf


def next_thresholds(v_min: float, v_max: float) -> Thresholds:
    """Thresholds from the projected gradients' range in the sweep that has just ended."""
    return Thresholds(v_min if v_min < 0.0 else -inf, v_max if v_max > 0.0 else inf)


def wider(one: Thresholds, other: Thresholds) -> Thresholds:
    """Thresholds that drop a variable only where both would."""
    return Thresholds(min(one.v_min, other.v_min), max(one.v_max, other.v_max))


@kernel
def is_shrunk(thresholds: Any, pressure: Any) -> Any:
    """Tell whether a variable that presses against its bound (zero: it does not) will probably stay there."""
    return pressure < thresholds.v_min or pressure > thresholds.v_max
