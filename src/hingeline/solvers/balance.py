"""Dual variables for a free intercept: moved until sum_i alpha_i s_i = 0 holds, within their box.

An intercept that is not regularised adds this condition to the dual, and a dual value bounds the optimum from below
only if it holds. Engines end near to it; what is left goes to the variables that can move at no price to first order,
those between their bounds, each by its share of the room that it has. If that is not enough, the heavier side is scaled
down: variables at 0 stay there.
"""

from __future__ import annotations

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.types import Vector

MOST_ROUNDS = 100  # of clipping what sticks out and sharing the rest; few are needed
NEGLIGIBLE = 1e-15  # sum, over that of the sizes, which a single variable may take


def balance(problem: Problem, alpha: Vector) -> None:
    """Make ``alpha``, which is in the box, keep the condition."""
    s, C = problem.signs, np.broadcast_to(problem.C_values, alpha.shape)
    ends = lower(problem.loss, C) * s, upper(problem.loss, C) * s
    low, high = np.minimum(*ends), np.maximum(*ends)
    beta = alpha * s
    if _total(beta) == 0.0:
        return
    # A variable of the epsilon-insensitive losses has a kink at 0; those of the others are seldom there.
    near_low, near_high = np.where(beta > 0.0, np.maximum(low, 0.0), low), np.where(beta < 0.0, 0.0, high)
    share = _room(beta, near_low, near_high) if problem.loss.is_bounded else np.where(beta != 0.0, C, 0.0)
    _shift(beta, share, near_low, near_high)
    _shift(beta, np.maximum(beta if _total(beta) > 0.0 else -beta, 0.0), np.minimum(beta, 0.0), np.maximum(beta, 0.0))
    alpha[:] = beta * s


def _total(beta: Vector) -> float:
    """Return the sum, as exactly as the computer can without much ado."""
    return float(beta.sum(dtype=np.longdouble))


def _room(beta: Vector, low: Vector, high: Vector) -> Vector:
    """Return about how far each variable is from both of its bounds; 0 if it is at one."""
    width = high - low
    return np.divide((beta - low) * (high - beta), width, out=np.zeros_like(beta), where=(width > 0.0) & (beta != 0.0))


def _shift(beta: Vector, share: Vector, low: Vector, high: Vector) -> None:
    """beta <- beta - nu share, clipped to [low, high], with the nu that makes the sum zero, or as near as it gets."""
    for _ in range(MOST_ROUNDS):
        excess = _total(beta)
        movable = np.where(beta > low if excess > 0.0 else beta < high, share, 0.0)
        total = float(movable.sum())
        if excess == 0.0 or not total > 0.0:
            return
        if abs(excess) <= NEGLIGIBLE * float(np.abs(beta).sum()):
            k = int(np.argmax(movable))
            beta[k] = min(max(beta[k] - excess, low[k]), high[k])
            return
        np.clip(beta - (excess / total) * movable, low, high, out=beta)
