"""A parabola plus an L1 penalty in one weight: how far from optimal it is, and its minimum."""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.compile import kernel
from ...kernels.losses.tube import soft


class Seen(NamedTuple):
    """What the sweeps over a sub-problem have seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0


@kernel
def subgradient(z: float, g: float, l1: float) -> float:
    """How far a weight z is from optimal if the smooth part has slope g: the length of the shortest subgradient."""
    if z > 0.0:
        return abs(g + l1)
    return abs(g - l1) if z < 0.0 else max(0.0, abs(g) - l1)


@kernel
def best_weight(z: float, G: float, H: float, l1: float) -> tuple[float, float]:
    """Minimise l1 |z| plus a parabola of slope G and curvature H at z; returns the best weight and what it gains."""
    if H > 0.0:
        best = soft(z - G / H, l1 / H)
        mu = best - z
        return best, l1 * (abs(z) - abs(best)) - mu * (G + 0.5 * H * mu)
    if G == 0.0 and l1 > 0.0:  # no curvature, no slope: the penalty decides
        return 0.0, l1 * abs(z)
    return z, 0.0
