"""Makes dual variables on a device satisfy the constraint of a free intercept: solvers/balance.py over arrays."""

from __future__ import annotations

from math import isinf
from typing import Any

from ..solvers.balance import balance
from .namespace import to_numpy
from .problem import ArrayProblem


class SidesOnDevice:
    """The dual variables ``alpha`` of a problem on a device."""

    def __init__(self, problem: ArrayProblem, alpha: Any) -> None:
        self.alpha, self._s, self._C, self._xp = alpha, problem.signs, problem.C, problem.place.xp
        ones = problem.place.full((1,), 1.0)
        self._box = tuple(float(bound[0]) for bound in problem.verbs.bounds(ones))  # in units of C_i

    def signed_sum(self) -> tuple[float, float]:  # noqa: D102
        xp, terms = self._xp, self.alpha * self._s
        total, size = to_numpy(xp.stack([precise_sum(xp, terms), xp.sum(xp.abs(terms))])).tolist()
        return total, size

    def _room(self) -> Any:
        xp, a, C = self._xp, self.alpha, self._C
        if isinf(self._box[1]):
            room = C + 0.0 * a
        else:
            bound = xp.where(a > 0.0, self._box[1] * C, self._box[0] * C)
            room = xp.abs(a) * (1.0 - a / xp.where((a == 0.0) | (C <= 0.0), xp.ones_like(bound), bound))
        return xp.where((a == 0.0) | (C <= 0.0) | (room < 0.0), xp.zeros_like(room), room)

    def room(self) -> tuple[float, int]:  # noqa: D102
        room = self._room()
        return float(self._xp.sum(room)), int(self._xp.argmax(room))

    def shift(self, step: float) -> None:  # noqa: D102
        xp, a, C = self._xp, self.alpha, self._C
        far = step * self._s * self._room()
        zero, moved = xp.zeros_like(a), a - far
        if not isinf(self._box[1]):
            moved = xp.minimum(xp.maximum(moved, self._box[0] * C), self._box[1] * C)
        moved = xp.where(a > 0.0, xp.maximum(moved, zero), xp.minimum(moved, zero))
        self.alpha = xp.where(far == 0.0, a, moved)

    def scale_side(self, side: float, factor: float) -> None:  # noqa: D102
        self.alpha = self._xp.where(self.alpha * self._s * side > 0.0, factor * self.alpha, self.alpha)

    def give(self, which: int, excess: float) -> None:  # noqa: D102
        xp = self._xp

        def own(array: Any) -> float:
            return float(array[which if array.shape[0] > 1 else 0])

        C, moved = own(self._C), own(self.alpha) - excess * own(self._s)
        moved = min(max(moved, self._box[0] * C), self._box[1] * C)
        self.alpha = xp.concat([self.alpha[:which], xp.full_like(self.alpha[:1], moved), self.alpha[which + 1 :]])


def balanced(problem: ArrayProblem, alpha: Any) -> Any:
    """Return dual variables that keep the condition of a free intercept."""
    sides = SidesOnDevice(problem, alpha)
    balance(sides)
    return sides.alpha


def precise_sum(xp: Any, x: Any) -> Any:
    """Return the sum, added up in twice the precision: pairwise, with the rounding error of each addition."""
    lost = xp.zeros_like(x)
    while x.shape[0] > 1:
        if x.shape[0] % 2:
            x, lost = (xp.concat([part, xp.zeros_like(part[:1])]) for part in (x, lost))
        half = x.shape[0] // 2
        a, b = x[:half], x[half:]
        total = a + b
        of_b = total - a
        lost = lost[:half] + lost[half:] + ((a - (total - of_b)) + (b - of_b))
        x = total
    return xp.sum(x + lost)
