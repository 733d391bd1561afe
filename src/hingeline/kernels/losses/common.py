"""Implementations of verbs that several losses share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compile import kernel
from .verbs import diagonal, gap_term, lower, primal_term, pull, upper

if TYPE_CHECKING:
    from . import Loss

# What is missing, and the side that a row is on.


def margin_missing(loss: Loss, y: float, f: float) -> float:
    return 1.0 - y * f


def target_missing(loss: Loss, y: float, f: float) -> float:
    return y - f


def label_sign(loss: Loss, y: float) -> float:
    return y


def target_sign(loss: Loss, y: float) -> float:
    return 1.0


# The box, and the diagonal that a squared loss adds to the dual's curvature.


def zero_bound(loss: Loss, C: float) -> float:
    return 0.0


def C_bound(loss: Loss, C: float) -> float:
    return C


def minus_C_bound(loss: Loss, C: float) -> float:
    return -C


def no_upper_bound(loss: Loss, C: float) -> float:
    return np.inf


def no_lower_bound(loss: Loss, C: float) -> float:
    return -np.inf


def no_diagonal(loss: Loss, C: float) -> float:
    return 0.0


def squared_diagonal(loss: Loss, C: float) -> float:
    return 0.5 / C


# One variable whose dual is a parabola, or a line, in the box.


def box_pull(loss: Loss, m: float, alpha: float, C: float) -> tuple[float, float]:
    g = m - diagonal(loss, C) * alpha
    if (alpha == lower(loss, C) and g < 0.0) or (alpha == upper(loss, C) and g > 0.0):
        return 0.0, g
    return g, 0.0


def box_step(loss: Loss, m: float, alpha: float, q: float, C: float) -> tuple[float, float]:
    D = diagonal(loss, C)
    g = m - D * alpha
    stepped = min(max(alpha + g / (q + D), lower(loss, C)), upper(loss, C))
    mu = stepped - alpha
    return stepped, mu * (g - 0.5 * mu * (q + D))


# Both terms at a margin of twice the digits. A kink at zero needs no more than the sum's own digits.


def terms_of_sum(loss: Loss, m: float, low: float, alpha: float, C: float) -> tuple[float, float]:
    return primal_term(loss, m + low, C), gap_term(loss, m + low, alpha, C)


# What smoothing leaves to be done.


# These two run over all rows of Newton's method: without branches, so that the compiler makes vectors of them.


def box_proximal(loss: Loss, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    a = abar + C * (0.5 / delta) * m  # no division by C, which may be 0
    least, most = lower(loss, C), upper(loss, C)
    return min(max(a, least), most), C if least < a < most else 0.0


def box_unsettled(loss: Loss, m: float, alpha: float, C: float) -> tuple[float, float]:
    above, below = max(0.0, m), max(0.0, -m)
    to_most, to_least = max(0.0, upper(loss, C) - alpha), max(0.0, alpha - lower(loss, C))
    violation = max(above if to_most > 0.0 else 0.0, below if to_least > 0.0 else 0.0)
    return violation, to_most * above + to_least * below


def unsettled_if_smoothed(loss: Loss, m: float, alpha: float, C: float) -> tuple[float, float]:
    if C == 0.0:
        return 0.0, 0.0
    return abs(pull(loss, m, alpha, C)[0]), gap_term(loss, m, alpha, C)


def settled(loss: Loss, m: float, alpha: float, C: float) -> tuple[float, float]:
    return 0.0, 0.0


@kernel
def near_share(distance: float, caution: float) -> float:
    """Curvature of the parabola that touches a flat loss there and meets its square ``caution`` further on.

    Squared losses are flat on one side of a bend, and a step may cross it: rows up to ``caution`` away from it have
    this share of the curvature beyond.
    """
    return (1.0 - distance / caution) ** 2 if distance < caution else 0.0
