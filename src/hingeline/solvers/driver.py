"""The outer loop that all engines share.

An engine runs compiled slices of work and reports each sweep to its ``Run``; the run paces the slices, keeps the
clock and the history, calls back, and decides when training ends. Between two slices Python gets its turn, so Ctrl-C
never waits longer than a slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from enum import Enum
from itertools import count
from math import isnan, nan
from time import perf_counter
from typing import Any

import numpy as np

from ..runtime import interrupt
from ..runtime.pace import Pace
from ..runtime.threads import Team
from ..solution import HISTORY, Certificate, Look, Progress, Snapshot
from .stop import Stop
from .trend import Budget

NEXT_PHASE = "next phase"
ALONE = Team(1)
SWEEP = 1000.0  # what a sweep costs by itself, in steps: schedule, bookkeeping, the clock
CHECK_RATIO = 0.5  # share of a sweep's sum of gap terms that is, at first, believed to be left after the sweep
LAG = 2.0  # ... or, where that sum falls fast, this many times what is left of the sum of the sweep before
FADING = 0.9  # a sweep; what a check measured is believed less and less, so that another one always comes
STALLED = 8  # sweeps without a better violation after which the rounding floor is looked at (then at 16, 32, ...)
BETTER = 0.99  # share of the best violation that counts as a better one: last digits may go on changing for ever
NEAR_FLOOR, STALLED_NEAR_FLOOR = 1000.0, 256  # this near to the floor, and that long without progress: rounding


class Verdict(Enum):
    """What a run answers to a sweep."""

    GO_ON = "go on"
    SATISFIED = "satisfied"  # as far as the sweep can tell: the engine verifies as printed in the paper
    REFUTED = "refuted"  # the sweep looked good, an exact check over all variables did not


class Ended(Exception):
    """Raised out of an engine when training ends; the state it worked on is valid at any time."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Clock:
    """What is looked at between two slices of work: the time, and whether another thread was interrupted.

    Apart from ``Run``, so that no cycle of references keeps a run's arrays alive after it. Steps are counted here for
    the same reason.
    """

    def __init__(self, max_time: float | None, cancelled: Callable[[], bool] | None) -> None:
        self._started = perf_counter()
        self._max_time = max_time
        self._cancelled = cancelled
        self.n_steps = 0

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return perf_counter() - self._started

    def check_cancelled(self) -> None:
        """Leave at once where another thread was interrupted."""
        if self._cancelled is not None and self._cancelled():
            raise CancelledError

    def check(self) -> None:
        """End the run where it was cancelled, someone asked for what was reached, or its time is up."""
        self.check_cancelled()
        if interrupt.requested():
            raise Ended("interrupted")
        if self._max_time is not None and self.seconds >= self._max_time:
            raise Ended("max_time")


class _Stall:
    """Tells when the best violation is so old that rounding may be the reason: at 8, 16, 32, ... sweeps."""

    def __init__(self, sweep: int = 0) -> None:
        self._best, self._sweep, self._look = np.inf, sweep, STALLED

    def age(self, violation: float, sweep: int) -> int:
        """Return the age of the best violation where it is time for a look, else 0."""
        if violation < BETTER * self._best:
            self._best, self._sweep, self._look = violation, sweep, STALLED
        age = sweep - self._sweep
        if age < self._look:
            return 0
        self._look = 2 * age
        return age


class Run:
    """One training run.

    Parameters
    ----------
    stop : Stop
    clock : Clock
    certify : callable (Pace) -> Certificate
        Exact certificate at the present dual variables.
    floor : callable () -> float
        What rounding makes of the violation even at the optimum.
    callback : callable (Progress) -> bool or None
        Told of every sweep; a true answer ends training.
    team : Team
        The threads that may be used.
    take : callable () -> Snapshot
        Copies the variables, for callbacks that look at them.
    """

    def __init__(
        self,
        stop: Stop,
        clock: Clock,
        certify: Callable[[Pace], Certificate],
        floor: Callable[[], float],
        callback: Callable[[Progress], Any] | None = None,
        team: Team = ALONE,
        take: Callable[[], Snapshot] | None = None,
    ) -> None:
        self.team = team
        self.stop = stop
        self.clock = clock
        self.n_iter = 0
        self.effort = 0.0  # what sweeps and passes cost besides, in steps
        self.budget, self._spent_before = Budget(), 0.0  # of the present phase
        self._certify = certify
        self.floor = floor
        self._callback, self._look = callback, Look(take)
        self._records: list[tuple[float, int, float, float]] = []
        self.dual = 0.0
        self.certificate: Certificate | None = None  # the last one that a sweep asked for
        self._stalled, self._stalled_hiding = _Stall(), _Stall()  # of complete sweeps; of the others since then
        self._check_ratio, self._gap_before = CHECK_RATIO, 0.0
        self.visits = Pace(clock.check)  # a unit of work: a step,
        self.passes = team.pace(clock.check)  # a row of a pass,
        self.shuffles = Pace(clock.check)  # an entry of a schedule

    @property
    def n_steps(self) -> int:
        """Visits of variables so far."""
        return self.clock.n_steps

    @property
    def history(self) -> np.ndarray:
        """One record a sweep."""
        return np.array(self._records, dtype=HISTORY)

    def finish(self, gap: float) -> None:
        """Add the final certificate's gap to the last sweep's record; from now on nobody can look."""
        self._look.close()
        if self._records:
            self._records[-1] = (*self._records[-1][:3], gap)

    def begin_phase(self, stop: Stop, budget: Budget) -> None:
        """Take the rules of the next phase."""
        self.stop, self.budget, self._spent_before = stop, budget, self.n_steps + self.effort

    @property
    def spent(self) -> float:
        """What the present phase has cost so far, in steps."""
        return self.n_steps + self.effort - self._spent_before

    def sweeps(self) -> Iterator[int]:
        """Yield the numbers of the phase's sweeps from 0 on, without end unless a cap sets one."""
        for sweep in count():
            if self.stop.max_iter is not None and self.n_iter >= self.stop.max_iter:
                raise Ended("max_iter")
            if self.budget.is_spent(self.spent):
                raise Ended(NEXT_PHASE)
            yield sweep

    def sweep(self, steps: int, violation: float, gain: float, gap: float, criterion: float, complete: bool) -> Verdict:
        """Report a sweep; returns what the engine is to make of it, or raises ``Ended``.

        Parameters
        ----------
        steps : int
            Visits in this sweep.
        violation, gain, gap : float
            As seen during the sweep: largest violation, dual progress, sum of the gap terms. A gain of NaN says that
            the engine sets ``dual``, knows its gap, and looks for rounding by itself.
        criterion : float
            What the engine compares with eps.
        complete : bool
            Whether no variable was hidden from the sweep.
        """
        self.n_iter += 1
        self.clock.n_steps += steps
        self.effort += SWEEP
        if not isnan(gain):
            self.dual += gain
        asked = self.stop.tol if self.stop.gap_tol is None else self.stop.gap_tol * self.dual
        times_tol = nan
        if asked > 0.0:
            times_tol = (criterion if self.stop.gap_tol is None else gap) / asked
            self.budget.trend.add(self.spent, times_tol)
        verdict, exact_gap = Verdict.GO_ON, nan
        try:
            verdict, exact_gap = self._judge(violation, gain, gap, criterion, complete)
        finally:  # time may be up in the middle of a certificate: the sweep counts nevertheless
            self._records.append((self.clock.seconds, self.n_steps, violation, exact_gap))
        if self._callback is not None:
            reached = (violation, exact_gap, times_tol)
            if self._callback(Progress(self.n_iter, self.n_steps, self.clock.seconds, *reached, look=self._look)):
                raise Ended("callback")
        if verdict is Verdict.SATISFIED and self.stop.gap_tol is not None:
            raise Ended("gap_tol")
        if verdict is not Verdict.SATISFIED and not isnan(gain) and self._is_rounding(violation, gain, complete):
            if complete:
                raise Ended("rounding")
            return Verdict.REFUTED
        return verdict

    def _judge(
        self, violation: float, gain: float, gap: float, criterion: float, complete: bool
    ) -> tuple[Verdict, float]:
        """Compare a sweep with the stop rule."""
        if self.stop.gap_tol is None:
            if criterion < self.stop.tol:
                return Verdict.SATISFIED, np.nan
        else:
            estimate = gap if isnan(gain) else gap * self._left_after(gap)
            if estimate <= self.stop.gap_tol * (self.dual + estimate):
                certificate = self.certificate = self._certify(self.passes)
                if self.stop.met(certificate):
                    return Verdict.SATISFIED, certificate.gap
                if complete and gap > 0.0:  # aim the next check at the gap that this one measured
                    self._check_ratio = max(CHECK_RATIO, certificate.gap * certificate.primal / gap)
                return Verdict.REFUTED, certificate.gap
        if gain <= 0.0 and not complete:
            return Verdict.REFUTED, np.nan
        return Verdict.GO_ON, np.nan

    def _left_after(self, gap: float) -> float:
        """Return the share of a sweep's sum of gap terms that is believed to be left after it.

        A sum sees most variables before the sweep has done its work; how much that is, the sum before it tells.
        """
        self._check_ratio = max(CHECK_RATIO, FADING * self._check_ratio)
        before, self._gap_before = self._gap_before, gap
        if before == 0.0 or self._check_ratio > CHECK_RATIO:
            return self._check_ratio
        return min(CHECK_RATIO, LAG * gap / before)

    def _is_rounding(self, violation: float, gain: float, complete: bool) -> bool:
        """Tell a run that cannot go on: nothing moves, or the violation is at the floor that rounding sets.

        The floor is looked at when the best violation is 8, 16, 32, ... sweeps old: rarely, since it costs a pass.
        """
        if complete:
            self._stalled_hiding = _Stall(self.n_iter)
            stalled = self._stalled.age(violation, self.n_iter)
        else:
            stalled = self._stalled_hiding.age(violation, self.n_iter)
        if gain <= 0.0 and complete:  # an adaptive schedule may have missed the one variable that can move
            return self._certify(self.passes).violation <= NEAR_FLOOR * self.floor()
        if not stalled:
            return False
        floor = self.floor()
        return violation <= floor or (stalled >= STALLED_NEAR_FLOOR and violation <= NEAR_FLOOR * floor)
