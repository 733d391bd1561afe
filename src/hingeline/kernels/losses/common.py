"""Implementations of verbs that several losses share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compile import kernel
from .verbs import diagonal, gap_term, lower, pull, upper

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


# What smoothing leaves to be done.


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
