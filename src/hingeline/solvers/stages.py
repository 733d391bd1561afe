"""Stages of a proximal Newton method: each solves a smoothed problem, which is then centred anew and made stiffer.

With the losses smoothed around abar, the minimum of a stage is a step of the method of multipliers for the dual, whose
fixed point is the exact optimum for any stiffness kappa (as in solvers/newton, for the hinge). kappa begins at one, a
very easy stage, and grows faster the fewer steps a stage takes; it stays the same while stages gain fast. Each stage
takes a few Newton steps with a line search.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Protocol

from ..solution import Certificate
from .clock import Ended
from .driver import Run, Verdict
from .rounding import NEAR_FLOOR
from .stop import GOOD_GAP, Stop

EASY, MODERATE, HARD = (2, 30.0), (6, 8.0), (60, 2.5)  # most steps of a stage, and the factor of kappa after it
SOFTER, RECOVERY = 0.04, 3.0  # after a failed stage: factor of kappa; factor by which its limit rises per stage
FAST = 0.1  # fraction of the last stage's violation below which a new centre is enough
CLOSE = 4.0  # times the requested tolerance: from here on it need only be BETTER
INNER = 0.1  # residual, as a fraction of the violation, at which a stage counts as solved
LOOSE = 3e-2  # promised decrease, as a fraction of what the stage has moved, at which a stage other than the last ends
NO_DECREASE = 1e-14  # relative decrease of the objective that is hidden by rounding
BETTER, WORTH_A_STAGE = 0.5, 1e-2  # times the best violation or gap; dual gain, as a fraction of the gap
FEW_STAGES, MANY_STAGES = 4, 30  # stages without progress before training ends: with a good gap, and without one
MOST_STAGES = 500  # in any case
SOON = 1_000  # steps after which a problem that decimals can solve (solvers/exact) is left to them
NO_GAP, FINE_GAP, GAP_PER_TOL = 1e-14, 1e-4, 100.0  # relative gaps: zero; good enough to end by tol, also per tol


class Smoothed(Protocol):
    """A smoothed problem at one point w, with the responses alpha of its losses and their weights v.

    Attributes
    ----------
    kappa : stiffness of the stage
    violation : largest violation of alpha's optimality conditions at the scores of w
    error : how much larger that may be at the scores of v
    moved : twice what the smoothing takes away at alpha
    gap_at_v, gap : P - D if w were v, and with the distance between them
    primal, size : the objective, and what gaps are relative to
    is_precise : whether scores are computed in twice the precision, so that rounding hides nothing
    """

    kappa: float
    violation: float
    error: float
    moved: float
    gap_at_v: float
    gap: float
    primal: float
    size: float

    @property
    def is_precise(self) -> bool:
        """Whether scores are computed in twice the precision."""

    def step(self) -> float:
        """Take a Newton step; returns twice the decrease that it promised, or infinity if it failed."""

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the current responses, with ``factor`` times kappa."""


def run_stages(
    smoothed: Smoothed, run: Run, start: Certificate, take: Callable[[], None], most_steps: float = inf
) -> None:
    """Run stages until ``run``, ``most_steps`` or lack of progress ends them.

    ``take`` is called for each point that is better than ``start`` and all points before it: a run may end at any time,
    and then this is the model.
    """
    last = run.n_iter + most_steps
    stages = Stages(smoothed, run.stop, start.primal - start.dual)
    for _ in run.sweeps():
        decrement = smoothed.step()
        reached = smoothed.violation + smoothed.error
        # At large C the gap may be large even if the violation is small; then the rule is not met yet.
        meets_tol = reached < run.stop.tol and smoothed.gap <= stages.fine_gap * smoothed.size
        if smoothed.gap < stages.best_gap or meets_tol:
            stages.best_gap, stages.size = min(smoothed.gap, stages.best_gap), smoothed.size
            take()
        run.dual = smoothed.size - smoothed.gap
        criterion = reached if meets_tol else inf
        if run.sweep(0, reached, nan, smoothed.gap, criterion, True, smoothed.primal) is Verdict.SATISFIED:
            break
        if run.n_iter >= last or not stages.go_on(decrement):
            is_rounding = stages.best_gap <= GOOD_GAP * stages.size or smoothed.violation <= NEAR_FLOOR * run.floor()
            raise Ended("rounding" if is_rounding else "stalled")


class Stages:
    """Decides when a stage ends, how stiff the next one is, and when no further one pays.

    Gaps are relative to the best point's ``size``: at other points w may be far from v, and their sizes meaningless.
    """

    def __init__(self, smoothed: Smoothed, stop: Stop, best_gap: float) -> None:
        self._smoothed, self._stop = smoothed, stop
        self.best_gap, self.size = best_gap, smoothed.size
        self.fine_gap = min(FINE_GAP, GAP_PER_TOL * stop.tol)
        self._best_violation, self._last_violation, self._gap = inf, inf, inf
        self._steps, self._stages, self._stalled, self._largest_kappa = 0, 0, 0, inf

    def go_on(self, decrement: float) -> bool:
        """Begin the next stage if this one is done; tells whether more progress is likely."""
        smoothed = self._smoothed
        if self.best_gap <= NO_GAP * self.size:
            return False
        self._steps += 1
        visible = 0.0 if smoothed.is_precise else NO_DECREASE
        solved = smoothed.error <= INNER * smoothed.violation or decrement <= visible * self.size
        # A stiffer stage is worth more than the last digits of this one, unless it is to be the last.
        may_pass = not smoothed.is_precise or smoothed.gap <= 2.0 * smoothed.gap_at_v
        passing = may_pass and decrement <= LOOSE * smoothed.moved and not self._is_within(1.0)
        failed = not (solved or passing)
        if failed and decrement < inf and self._steps < HARD[0]:
            return True
        fine = self.fine_gap * self.size
        if self._is_stalled(FEW_STAGES if self.best_gap <= fine else MANY_STAGES):
            return False
        factor = SOFTER if smoothed.gap_at_v <= fine < smoothed.gap else self._factor(failed)
        self._last_violation, self._steps = smoothed.violation, 0
        smoothed.next_stage(factor)
        return True

    def _is_within(self, times: float) -> bool:
        """Tell whether the model would meet ``times`` the requested tolerance if w were equal to v."""
        violation, gap, stop = self._smoothed.violation, self._smoothed.gap_at_v, self._stop
        if stop.gap_tol is None:
            return violation < times * stop.tol and gap <= times * self.fine_gap * self.size
        return gap <= times * stop.gap_tol * self.size

    def _is_stalled(self, most: int) -> bool:
        """Count a stage; tells whether ``most`` stages in a row have brought nothing."""
        violation, gap = self._smoothed.violation, self.best_gap
        improved = violation < BETTER * self._best_violation or gap < BETTER * self._gap
        if improved:
            self._best_violation, self._gap = min(self._best_violation, violation), gap
        self._stalled = 0 if improved or self._smoothed.moved > WORTH_A_STAGE * gap else self._stalled + 1
        self._stages += 1
        return self._stalled >= most or self._stages >= MOST_STAGES

    def _factor(self, failed: bool) -> float:
        """Return the factor for the next stage's kappa."""
        smoothed = self._smoothed
        if failed:
            self._largest_kappa = 0.2 * smoothed.kappa
            return SOFTER
        self._largest_kappa *= RECOVERY
        if smoothed.violation < (BETTER if self._is_within(CLOSE) else FAST) * self._last_violation:
            return 1.0
        growth = next(growth for most, growth in (EASY, MODERATE, HARD) if self._steps <= most)
        return max(1.0, min(growth, self._largest_kappa / smoothed.kappa))
