"""Dual variables for a free intercept: moved until sum_i alpha_i s_i = 0 holds, within their box.

An intercept that is not regularised adds this constraint to the dual, and a dual value bounds the optimum from below
only if the constraint holds. Engines end close to it. The rest is taken up by the variables between their bounds, which
cost nothing to first order, each in proportion to the room it has. If that is not enough, the heavier side is scaled
down; variables at 0 stay there.
"""

from __future__ import annotations

from math import copysign, fsum, inf, isinf
from typing import Any, Protocol

import numpy as np

from ..data.problem import Problem
from ..kernels.compile import exact_kernel, kernel
from ..kernels.losses import lower, upper
from ..kernels.types import Index, Vector

MOST_ROUNDS = 30  # of moving the variables that still have room; one is usually enough
NEGLIGIBLE = 1e-15  # sum relative to the sum of magnitudes that rounding may leave: one variable takes it
HOPELESS = 1e-6  # the same, after all that: the variables are set to zero


class Sides(Protocol):
    """Dual variables on both sides of the constraint, wherever they are stored."""

    def signed_sum(self) -> tuple[float, float]:
        """Return the sum of alpha_i s_i and the sum of |alpha_i|."""

    def room(self) -> tuple[float, Any]:
        """Return how far all variables together can move, and which one can move farthest."""

    def shift(self, step: float) -> None:
        """Move every variable by -step s_i times its room."""

    def scale_side(self, side: float, factor: float) -> None:
        """Multiply the variables whose alpha_i s_i has the sign of ``side`` by ``factor``."""

    def give(self, which: Any, excess: float) -> None:
        """Let one variable take the excess."""


def balance(sides: Sides) -> None:
    """Move dual variables within their box until they satisfy the constraint."""
    excess, size = sides.signed_sum()
    for _ in range(MOST_ROUNDS):
        total, widest = sides.room()
        if abs(excess) <= NEGLIGIBLE * size or not total > 0.0:
            break
        sides.shift(excess / total)
        excess, size = sides.signed_sum()
    if abs(excess) > NEGLIGIBLE * size:
        heavier = 0.5 * (size + abs(excess))
        left = 1.0 - abs(excess) / heavier
        factor = left if left > NEGLIGIBLE else 0.0  # less than that is rounding of nothing
        sides.scale_side(copysign(1.0, excess), factor)
        excess, size = sides.signed_sum()
        total, widest = sides.room()
    if excess != 0.0 and total > 0.0:
        sides.give(widest, excess)
        excess, size = sides.signed_sum()
    if abs(excess) > HOPELESS * size:  # numbers next to zero, which have too few digits
        sides.scale_side(1.0, 0.0)
        sides.scale_side(-1.0, 0.0)


def settle(problem: Problem, alpha: Vector) -> None:
    """Let single variables take what is left of sum_i alpha_i s_i, until it is exactly 0.

    Rounding of the variables leaves some units in the last place, which are worth as much as the intercept is large.
    Small variables have the finest units. One at a bound pays its margin for leaving it, so it is the last resort.
    """
    there = np.flatnonzero(alpha)
    own, s = alpha[there], problem.signs[there].astype(np.float64)  # labels may be of single precision
    C = np.broadcast_to(problem.C_values, alpha.shape)[there]
    low, high = C * lower(problem.loss, 1.0), C * upper(problem.loss, 1.0)
    for _ in range(MOST_ROUNDS):
        excess = fsum(own * s)
        if excess == 0.0:
            break
        inside = (low < own) & (own < high)
        moved = own - excess * s
        can = (own * moved > 0.0) & (low <= moved) & (moved <= high) & (moved != own)
        takes_all = can & (own - moved == excess * s)
        # If all that may move this way have coarser units, one goes too far, and another takes that back.
        beyond = np.nextafter(own, np.copysign(inf, -excess * s))
        can_overshoot = (own * beyond > 0.0) & (low <= beyond) & (beyond <= high)
        ways = (
            (takes_all & inside, moved),
            (takes_all, moved),
            (can & inside, moved),
            (can, moved),
            (can_overshoot, beyond),
        )
        found = next(((np.flatnonzero(those), to) for those, to in ways if those.any()), None)
        if found is None:
            break
        which, moved = found
        finest = which[np.argmin(np.abs(own[which]))]
        own[finest] = moved[finest]
    alpha[there] = own


class SidesInMemory:
    """The dual variables ``alpha`` of a problem in memory."""

    def __init__(self, problem: Problem, alpha: Vector) -> None:
        self._alpha, self._s, self._C = alpha, problem.signs, problem.C_values
        self._box = lower(problem.loss, 1.0), upper(problem.loss, 1.0)  # in units of C_i

    def signed_sum(self) -> tuple[float, float]:  # noqa: D102
        return signed_sum(self._alpha, self._s)

    def room(self) -> tuple[float, int]:  # noqa: D102
        return sum_of_room(self._alpha, self._C, self._box)

    def shift(self, step: float) -> None:  # noqa: D102
        shift(self._alpha, self._s, self._C, self._box, step)

    def scale_side(self, side: float, factor: float) -> None:  # noqa: D102
        self._alpha[self._alpha * self._s * side > 0.0] *= factor

    def give(self, which: int, excess: float) -> None:  # noqa: D102
        own = float(self._C[which if self._C.size > 1 else 0])
        moved = self._alpha[which] - excess * self._s[which]
        self._alpha[which] = min(max(moved, self._box[0] * own), self._box[1] * own)

    def widest(self, which: int) -> float:
        """Return how far variable ``which`` can move."""
        return float(room(self._alpha, self._C, self._box, which))


@exact_kernel
def signed_sum(alpha: Vector, s: Vector) -> tuple[float, float]:
    """Return the sum of alpha_i s_i, added up in twice the precision, and the sum of |alpha_i|."""
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
    """Return about how far variable i can move to either side before it meets a bound or 0; 0 if it is at one."""
    own, a = C[i] if C.size > 1 else C[0], alpha[i]
    bound = box[1] if a > 0.0 else box[0]
    if a == 0.0 or own == 0.0:
        return 0.0
    if isinf(bound):
        return own
    return max(0.0, abs(a) * (1.0 - a / (bound * own)))


@kernel
def sum_of_room(alpha: Vector, C: Vector, box: tuple[float, float]) -> tuple[float, int]:
    """Return how far all variables together can move, and the index of the one that can move farthest."""
    total, most, widest = 0.0, 0.0, 0
    for i in range(np.uint64(alpha.size)):
        own = room(alpha, C, box, i)
        total += own
        if own > most:
            most, widest = own, int(np.int64(i))
    return total, widest


@kernel
def shift(alpha: Vector, s: Vector, C: Vector, box: tuple[float, float], step: float) -> None:
    """alpha_i <- alpha_i - step s_i times its room, clipped to the box and not beyond 0.

    The epsilon-insensitive losses have a kink at 0.
    """
    for i in range(np.uint64(alpha.size)):
        far = step * s[i] * room(alpha, C, box, i)
        if far != 0.0:
            a, own = alpha[i], C[i] if C.size > 1 else C[0]
            alpha[i] = min(max(a - far, 0.0), box[1] * own) if a > 0.0 else max(min(a - far, 0.0), box[0] * own)
