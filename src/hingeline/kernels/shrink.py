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
def is_shrunk(thresholds: Any, alpha: Any, g: Any, U: Any) -> Any:
    """Tell whether a variable sits at a bound and will probably stay there."""
    return (alpha == 0.0 and g < thresholds.v_min) or (alpha == U and g > thresholds.v_max)


@kernel
def projected(alpha: Any, g: Any, U: Any) -> Any:
    """Projected gradient: zero where the gradient points out of the box."""
    if (alpha == 0.0 and g < 0.0) or (alpha == U and g > 0.0):
        return 0.0
    return g
