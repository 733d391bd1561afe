"""Tells a run that rounding has stopped from one that is merely slow, and makes good what rounding does to margins."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from ..kernels.losses import Loss
from ..solution import Certificate
from .stop import GOOD_GAP

STALLED = 8  # sweeps without a better violation after which the rounding floor is computed (then after 16, 32, ...)
BETTER = 0.99  # a violation below this share of the best is a better one: last digits may go on changing for ever
NEAR_FLOOR, STALLED_NEAR_FLOOR = 1000.0, 256  # this near to the floor, and that long without progress: rounding
LONGER = (1.0, 4.0, 16.0)  # times what rounding may take from a margin


class Stall:
    """The age of the best violation so far, told when it is 8, 16, 32, ... sweeps."""

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
        The exact violation at the present variables.
    floor : callable () -> float
        About what rounding makes of the violation at the optimum. It costs a pass, so it is asked for rarely.
    """

    def __init__(self, violation: Callable[[], float], floor: Callable[[], float]) -> None:
        self._violation, self._floor = violation, floor
        self._complete, self._partial = Stall(), Stall()  # of complete sweeps; of the partial ones since the last

    def is_rounding(self, sweep: int, violation: float, gain: float, complete: bool) -> bool:
        """Judge the sweep of this number by its violation and gain, and by whether it saw every variable."""
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

    Margins of 1 that rounding makes a little less cost C each. In a problem that can be separated that may be far more
    than |w|^2/2, and a w that is longer by so little costs next to nothing.
    """
    return not (certificate.gap <= GOOD_GAP or loss.is_regression or loss.is_smooth)


def best_length(primal_at: Callable[[float], float], noise: float) -> float:
    """Return 1, or a little more: the factor of w that has the least primal value, for margins with this noise."""
    factors = (1.0, *(1.0 + times * noise for times in LONGER))
    return min(factors, key=primal_at)
