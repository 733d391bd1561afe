"""Tells runs that rounding has stopped from runs that are merely slow, and repairs what rounding does to margins."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from ..kernels.losses import Loss
from ..solution import Certificate
from .stop import GOOD_GAP

STALLED = 8  # sweeps without a better violation after which the rounding floor is computed (then after 16, 32, ...)
BETTER = 0.99  # a violation must fall below this fraction of the best to be better: last digits may change for ever
NEAR_FLOOR, STALLED_NEAR_FLOOR = 1000.0, 256  # within this factor of the floor, so many sweeps without progress
LONGER = (1.0, 4.0, 16.0)  # multiples of what rounding may take from a margin


class Stall:
    """The age of the best violation so far, reported when it reaches 8, 16, 32, ... sweeps."""

    def __init__(self, sweep: int = 0) -> None:
        self._best, self._sweep, self._next = inf, sweep, STALLED

    def age(self, violation: float, sweep: int) -> int:
        """Return the age of the best violation if it is time to check for rounding, else 0."""
        if violation < BETTER * self._best:
            self._best, self._sweep, self._next = violation, sweep, STALLED
        age = sweep - self._sweep
        if age < self._next:
            return 0
        self._next = 2 * age
        return age


class RoundingCheck:
    """Ends a run that cannot go on: nothing moves, or the violation is at the floor that rounding sets.

    Parameters
    ----------
    violation : callable () -> float
        The exact violation at the current variables.
    floor : callable () -> float
        Estimates the violation that rounding leaves at the optimum. It costs a pass, so it is called rarely.
    """

    def __init__(self, violation: Callable[[], float], floor: Callable[[], float]) -> None:
        self._violation, self._floor = violation, floor
        self._complete, self._partial = Stall(), Stall()  # of complete sweeps; of the partial ones since the last

    def is_rounding(self, sweep: int, violation: float, gain: float, complete: bool) -> bool:
        """Judge sweep number ``sweep`` by its violation and gain, and by whether it saw every variable."""
        if complete:
            self._partial = Stall(sweep)
            age = self._complete.age(violation, sweep)
        else:
            age = self._partial.age(violation, sweep)
        if gain <= 0.0 and complete:  # an adaptive schedule may have missed the one variable that can move
            return self._violation() <= NEAR_FLOOR * self._floor()
        if age == 0:
            return False
        floor = self._floor()
        return violation <= floor or (age >= STALLED_NEAR_FLOOR and violation <= NEAR_FLOOR * floor)


def may_be_longer(loss: Loss, certificate: Certificate) -> bool:
    """Tell whether w may be so short that rounding of its margins costs more than the rest of the objective.

    A margin that rounding pushes slightly below 1 costs C times the difference. In a separable problem that may be far
    more than |w|^2/2, while lengthening w by so little costs almost nothing.
    """
    return not (certificate.gap <= GOOD_GAP or loss.is_regression or loss.is_smooth)


def best_length(primal_at: Callable[[float], float], noise: float) -> float:
    """Return the factor of w, 1 or a little more, that has the least primal value for margins with this noise."""
    factors = (1.0, *(1.0 + times * noise for times in LONGER))
    return min(factors, key=primal_at)
