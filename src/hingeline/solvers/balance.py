"""Dual variables for a free intercept: moved until sum_i alpha_i s_i = 0 holds, within their box.

An intercept that is not regularised adds this condition to the dual, and a dual value bounds the optimum from below
only if it holds. Engines end near to it; what is left goes to the variables that can move at no price to first order,
those between their bounds, each by its share of the room that it has. If that is not enough, the heavier side is scaled
down: variables at 0 stay there.
"""

from __future__ import annotations

from math import isinf

import numpy as np

from ..data.problem import Problem
from ..kernels.compile import exact_kernel, kernel
from ..kernels.losses import lower, upper
from ..kernels.types import Index, Vector

MOST_ROUNDS = 30  # of moving the variables that still have room; mostly one is enough
NEGLIGIBLE = 1e-15  # sum, over that of the sizes, that rounding may leave: one variable takes it


def balance(problem: Problem, alpha: Vector) -> None:
    """Make ``alpha``, which is in the box, keep the condition."""
    s, C = problem.signs, problem.C_values
    box = lower(problem.loss, 1.0), upper(problem.loss, 1.0)  # in units of C_i
    excess, size = signed_sum(alpha, s)
    for _ in range(MOST_ROUNDS):
        total, widest = sum_of_room(alpha, C, box)
        if abs(excess) <= NEGLIGIBLE * size or not total > 0.0:
            break
        shift(alpha, s, C, box, excess / total)
        excess, size = signed_sum(alpha, s)
    if abs(excess) > NEGLIGIBLE * size:
        heavier = alpha * s > 0.0 if excess > 0.0 else alpha * s < 0.0
        alpha[heavier] *= max(0.0, 1.0 - abs(excess) / float(np.abs(alpha[heavier]).sum()))
        excess, _ = signed_sum(alpha, s)
        total, widest = sum_of_room(alpha, C, box)
    if excess != 0.0 and total > 0.0:
        own = float(C[widest if C.size > 1 else 0])
        alpha[widest] = min(max(alpha[widest] - excess * s[widest], box[0] * own), box[1] * own)


@exact_kernel
def signed_sum(alpha: Vector, s: Vector) -> tuple[float, float]:
    """Sum of alpha_i s_i, as if it were added up to twice as many digits, and of |alpha_i|."""
    total, lost, size = 0.0, 0.0, 0.0
    for i in range(np.uint64(alpha.size)):
        term = alpha[i] * s[i]
        new = total + term
        lost += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
        total = new
        size += abs(term)
    return total + lost, size


@kernel
def room(alpha: Vector, C: Vector, box: tuple[float, float], i: Index) -> float:
    """How far variable i can go to either side before it meets a bound or 0, about; 0 if it is at one."""
    own, a = C[i] if C.size > 1 else C[0], alpha[i]
    bound = box[1] if a > 0.0 else box[0]
    if a == 0.0 or own == 0.0:
        return 0.0
    if isinf(bound):
        return own
    return max(0.0, abs(a) * (1.0 - a / (bound * own)))


@kernel
def sum_of_room(alpha: Vector, C: Vector, box: tuple[float, float]) -> tuple[float, int]:
    """Sum of what all variables can move, and the number of the one that can move most."""
    total, most, widest = 0.0, 0.0, 0
    for i in range(np.uint64(alpha.size)):
        own = room(alpha, C, box, i)
        total += own
        if own > most:
            most, widest = own, int(np.int64(i))
    return total, widest


@kernel
def shift(alpha: Vector, s: Vector, C: Vector, box: tuple[float, float], step: float) -> None:
    """alpha_i <- alpha_i - step s_i times its room, as far as the box goes, and not beyond 0.

    The epsilon-insensitive losses have a kink there.
    """
    for i in range(np.uint64(alpha.size)):
        far = step * s[i] * room(alpha, C, box, i)
        if far != 0.0:
            a, own = alpha[i], C[i] if C.size > 1 else C[0]
            alpha[i] = min(max(a - far, 0.0), box[1] * own) if a > 0.0 else max(min(a - far, 0.0), box[0] * own)
