"""The outer loop that all engines share.

An engine runs compiled slices of work and reports each sweep to its ``Run``; the run paces the slices, keeps the
history, calls back, and decides when training ends. Between two slices Python gets its turn, so Ctrl-C never waits
longer than a slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from itertools import count
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from ..runtime.pace import Pace
from ..runtime.threads import ALONE, Team
from ..solution import Certificate, Look, Progress, Snapshot
from .clock import NEXT_PHASE, Clock, Ended
from .history import Bounds, History
from .rounding import RoundingCheck
from .stall import StallCheck
from .stop import Stop
from .stretch import Stretch
from .trend import Account, Budget

SWEEP = 1000.0  # fixed cost of a sweep, in steps: schedule, bookkeeping, the clock
CHECK_RATIO = 0.5  # first guess of the fraction of a sweep's sum of gap terms that is left after the sweep
FEW_SWEEPS = 10  # cost so little that a run need not end as soon as w is near enough
LAG = 2.0  # ... or, if that sum falls fast, this many times the ratio to the sum of the previous sweep
STRETCHED = 0.1  # first guess of the fraction of such a sum that is left at the best multiple of w
STUCK = 0.8  # what is left there, over what was left the last time, if variables outside the active set leave it
FADING = 0.9  # per sweep: a measured gap is trusted less and less, so that another check always comes
SLOWLY = 0.97  # the same for what a multiple of w leaves, which changes little


class Verdict(Enum):
    """What a run answers to a sweep."""

    GO_ON = "go on"
    SATISFIED = "satisfied"  # as far as the sweep can tell; the engine still verifies it as the paper does
    REFUTED = "refuted"  # the sweep looked good, but an exact check over all variables did not


class Run:
    """One training run.

    Parameters
    ----------
    stop : Stop
    clock : Clock
    certify : callable (Pace) -> Certificate
        Exact certificate at the current dual variables.
    floor : callable () -> float
        The violation that rounding leaves even at the optimum.
    callback : callable (Progress) -> bool or None
        Called after every sweep; a true answer ends training.
    team : Team
        The threads that may be used.
    take : callable () -> Snapshot
        Copies the variables, for callbacks that look at them.
    half_square : callable () -> float
        |w|^2/2 of the engine's weights, for a rule that compares the gap with it.
    stretch : Stretch, optional
        Offers a multiple of w as the model, where sweeps go by the gap.
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
        half_square: Callable[[], float] = lambda: 0.0,
        stretch: Stretch | None = None,
    ) -> None:
        self.team = team
        self.stop = stop
        self.clock = clock
        self.n_iter = 0
        self.effort = 0.0  # cost of sweeps and passes besides the steps themselves, in steps
        self.account, self._spent_before = Account(Budget()), 0.0  # of the current phase
        self._certify, self._half_square = certify, half_square
        self.floor = floor
        self._callback, self._look = callback, Look(take)
        self._history, self._bounds = History(), Bounds()
        self.engine = 0  # which of the engines that the solution will name is running
        self.dual = 0.0
        self.certificate: Certificate | None = None  # the last one computed after a sweep
        self._check_ratio, self._gap_before = CHECK_RATIO, 0.0
        self._stretch, self._stretched, self._apart = stretch, STRETCHED, inf
        self.visits = Pace(clock.check)  # unit of work: a step
        self.passes = team.pace(clock.check)  # unit of work: a row of a pass
        self.shuffles = Pace(clock.check)  # unit of work: an entry of a schedule
        passes = self.passes  # a local name, since a reference to self would be a cycle
        self._rounding = RoundingCheck(lambda: certify(passes).violation, floor)
        self._stall = StallCheck()

    @property
    def n_steps(self) -> int:
        """Visits of variables so far."""
        return self.clock.n_steps

    @property
    def history(self) -> np.ndarray:
        """One record per sweep, thinned if there are many."""
        return self._history.as_array()

    def certificate_after(self, reason: str, pace: Pace) -> Certificate:
        """Return the final certificate; one that ended the run is still valid, since nothing has moved."""
        if reason == "gap_tol" and self.certificate is not None:
            return self.certificate
        with self.clock.finishing():
            return self._certify(pace)

    def finish(self, certificate: Certificate) -> None:
        """Add the final certificate to the last sweep's record; callbacks can take no snapshot after this."""
        self._look.close()
        self._history.conclude(certificate)

    def begin_phase(self, stop: Stop, budget: Budget) -> None:
        """Continue with the rules of the next phase."""
        self.stop, self.account, self._spent_before = stop, Account(budget), self.n_steps + self.effort
        self._stall = StallCheck()

    @property
    def spent(self) -> float:
        """The cost of the current phase so far, in steps."""
        return self.n_steps + self.effort - self._spent_before

    def sweeps(self) -> Iterator[int]:
        """Yield the numbers of the phase's sweeps from 0, without end unless there is a cap."""
        for sweep in count():
            if self.stop.max_iter is not None and self.n_iter >= self.stop.max_iter:
                raise Ended("max_iter")
            if self.account.is_spent(self.spent):
                raise Ended(NEXT_PHASE)
            yield sweep

    def sweep(
        self,
        steps: int,
        violation: float,
        gain: float,
        gap: float,
        criterion: float,
        complete: bool,
        objective: float | None = None,
    ) -> Verdict:
        """Report a sweep; returns what the engine should do next, or raises ``Ended``.

        Parameters
        ----------
        steps : int
            Visits in this sweep.
        violation, gain, gap : float
            As seen during the sweep: largest violation, dual progress, sum of the gap terms. A gain of NaN means that
            the engine sets ``dual``, knows its gap, and checks for rounding itself.
        criterion : float
            The value that the engine compares with eps.
        complete : bool
            Whether the sweep visited every variable.
        objective : float, optional
            The objective, if the engine knows it; the lower bound is then ``objective - gap``. By default the lower
            bound is ``dual``.
        """
        self.n_iter += 1
        self.clock.n_steps += steps
        self.effort += SWEEP
        if not isnan(gain):
            self.dual += gain
        objective = self.dual + gap if objective is None else objective
        self._bounds.see(objective, objective - gap)
        times_tol = self.stop.multiple(criterion, gap, self.dual)
        self.account.trend.add(self.spent, times_tol)
        self.account.see(objective)
        verdict, exact_gap = Verdict.GO_ON, nan
        try:
            verdict, exact_gap = self._judge(violation, gain, gap, criterion, complete)
        finally:  # time may run out while the certificate is computed; the sweep counts all the same
            at, best = (self.clock.seconds, self.n_steps), (self._bounds.objective, self._bounds.lower)
            self._history.add((self.n_iter, *at, violation, exact_gap, *best, self.engine))
        if self._callback is not None and self._callback(
            Progress(
                self.n_iter,
                self.n_steps,
                self.clock.seconds,
                violation,
                exact_gap,
                times_tol,
                look=self._look,
                objective=self._bounds.objective,
                lower_bound=self._bounds.lower,
            )
        ):
            raise Ended("callback")
        if verdict is Verdict.SATISFIED and not isnan(exact_gap):
            raise Ended("gap_tol")
        if verdict is Verdict.SATISFIED or isnan(gain):
            return verdict
        if self._rounding.is_rounding(self.n_iter, violation, gain, complete):
            if complete:
                raise Ended("rounding")
            return Verdict.REFUTED
        if self._stall.is_stalled(self.n_iter, self.dual, violation):
            raise Ended("stalled")
        return verdict

    def _judge(
        self, violation: float, gain: float, gap: float, criterion: float, complete: bool
    ) -> tuple[Verdict, float]:
        """Compare a sweep with the stop rule; the gap is NaN if it was not computed."""
        stop = self.stop
        if stop.gap_tol is None and criterion < stop.tol:
            return Verdict.SATISFIED, np.nan
        if stop.gap_tol is not None or stop.enough > 0.0:
            estimate = gap if isnan(gain) else gap * self._left_after(gap)
            if isfinite(estimate) and estimate <= self._gap_allowed(estimate, gain):
                certificate = self.certificate = self._certify(self.passes)
                self._bounds.see(certificate.primal, certificate.dual)
                if certificate.gap <= stop.gap_asked or self._is_near(certificate, gain):
                    return Verdict.SATISFIED, certificate.gap
                if complete and gap > 0.0:  # time the next check by the gap that this one measured
                    self._check_ratio = max(CHECK_RATIO, certificate.gap * certificate.primal / gap)
                return Verdict.REFUTED, certificate.gap
            if self._may_stretch(gap, gain):
                return self._try_stretch(gap, gain, complete)
        if gain <= 0.0 and not complete:
            return Verdict.REFUTED, np.nan
        return Verdict.GO_ON, np.nan

    def _may_stretch(self, gap: float, gain: float) -> bool:
        """Tell whether a multiple of w may be good enough, by what the last one left of a sweep's sum of gap terms."""
        if self._stretch is None or isnan(gain) or not 0.0 < gap < inf or self.n_iter <= FEW_SWEEPS:
            return False
        self._stretched *= SLOWLY
        left = self._stretched * gap
        return left <= self._gap_allowed(left, gain)

    def _try_stretch(self, gap: float, gain: float, complete: bool) -> tuple[Verdict, float]:
        """Compute what the best multiple of w leaves of the gap; if that is enough, make it the model."""
        assert self._stretch is not None
        before, self._apart = self._apart, self._stretch.objective(self.passes) - self.dual
        self._stretched = self._apart / gap
        if self._apart <= self._gap_allowed(self._apart, gain):
            self._stretch.take()
            certificate = self._certify(self.passes)
            if certificate.gap <= self.stop.gap_asked or self._is_near(certificate, gain):
                self.certificate = certificate
                self._bounds.see(certificate.primal, certificate.dual)
                return Verdict.SATISFIED, certificate.gap
            self._stretch.undo()
        # What does not fall any more is left by variables that no sweep visits.
        is_stuck = not complete and self._apart > STUCK * before
        return Verdict.REFUTED if is_stuck else Verdict.GO_ON, nan

    def _gap_allowed(self, gap: float, gain: float) -> float:
        """Return the P - D that the rule allows, if it is ``gap`` now; a gain of NaN means that it is no sweep's."""
        if not isnan(gain) and self.n_iter <= FEW_SWEEPS:
            return self.stop.gap_asked * (self.dual + gap)
        return self.stop.gap_allowed(gap, self.dual, self._half_square)

    def _is_near(self, certificate: Certificate, gain: float) -> bool:
        """Tell whether w is certainly near enough to the exact one, though the gap is larger than asked for."""
        left = certificate.gap * certificate.primal
        return self.stop.near > 0.0 and left <= self._gap_allowed(left, gain)

    def _left_after(self, gap: float) -> float:
        """Estimate the fraction of a sweep's sum of gap terms that is left after the sweep.

        The sum sees most variables before the sweep has improved the others, so it is too large; the sum of the
        previous sweep tells by how much.
        """
        self._check_ratio = max(CHECK_RATIO, FADING * self._check_ratio)
        before, self._gap_before = self._gap_before, gap
        if before == 0.0 or self._check_ratio > CHECK_RATIO:
            return self._check_ratio
        return min(CHECK_RATIO, LAG * gap / before)


def run_apart(stop: Stop) -> Run:
    """Return a separate run for work that nobody watches, such as training on a sample."""

    def nothing_to_certify(pace: Pace) -> Certificate:
        raise AssertionError("A separate run is never asked for a certificate.")

    return Run(stop, Clock(None, None), nothing_to_certify, floor=lambda: 0.0)
