"""How far the training of one problem among several has come: what its next stage is, and when it is done.

The rules are those of solvers/newton/newton.py.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from ..kernels.losses import Loss
from ..solvers.newton.newton import (
    CLOSE,
    DELTA_FIRST,
    DELTA_LAST,
    FAILED_STAGES,
    FAST,
    IDLE,
    LOOSE,
    NARROWER,
    SAMPLE_DELTA,
    WIDER,
    WIDTH_SHARE,
)
from ..solvers.newton.smoothed import INNER, SMALLEST_DECREMENT
from ..solvers.stop import Stop
from .together import Point

TIGHTER = 0.5  # times the tolerance, after an exact certificate has refuted a point


class Numbers(NamedTuple):
    """The entries of a ``Point`` that belong to one problem."""

    violation: float
    losses: float
    gap: float
    band: float
    length: float
    distance: float
    lacking: float
    promised: float

    @classmethod
    def of(cls, point: Point, k: int) -> Numbers:
        """Return the numbers of problem ``k``."""
        return cls(*(float(entry[k]) for entry in point))

    @property
    def primal(self) -> float:
        """The objective."""
        return 0.5 * self.length + self.losses


class Course:
    """One problem's way through its stages.

    Attributes
    ----------
    delta : width of the smoothing
    n_iter : steps so far
    by_gap : whether the gap met the rule, when it was done
    is_lost : whether rounding allows no more
    """

    def __init__(self, loss: Loss, stop: Stop, unit: float, longest: float, bias: float, settled: float) -> None:
        self._is_smooth, self._curvature, self._stop = loss.is_smooth, loss.curvature_scale, stop
        self._unit, self._longest, self._bias, self._settled = unit, longest, bias, settled
        self.delta = 1.0 if self._is_smooth else DELTA_FIRST * unit
        self.n_iter, self.by_gap, self.is_lost = 0, False, False
        self._asked, self._last_stage, self._least = 1.0, inf, inf
        self._idle = self._failed = 0

    def refute(self) -> None:
        """Tighten the tolerance, since an exact certificate was not good enough."""
        self._asked *= TIGHTER

    def is_done(self, at: Numbers) -> bool:
        """Tell whether the problem is solved, by its sums."""
        stop, gap = self._stop, at.gap + 0.5 * self._squared(at)
        self.by_gap = 0.0 < stop.gap_asked and gap <= self._asked * stop.gap_asked * (at.primal + self._settled)
        return self.by_gap or (stop.gap_tol is None and self._reached(at) < self._asked * stop.tol)

    def next_stage(self, at: Numbers) -> float:
        """Return the factor of the width if a new stage should begin, else 0."""
        if self._is_smooth:
            self.is_lost = at.promised <= SMALLEST_DECREMENT * at.length
            return 0.0
        solved = self._error(at) <= INNER * at.violation
        passing = at.promised <= LOOSE * at.gap and not self._is_within(at)
        exhausted = at.promised <= SMALLEST_DECREMENT * at.length
        if not (solved or passing or exhausted):
            return 0.0
        failed = not (solved or passing)
        self._failed += failed
        unsettled = min(self._reached(at), at.gap)
        halved = unsettled < 0.5 * self._least
        self._idle, self._least = (0, unsettled) if unsettled < self._least else (self._idle + 1, self._least)
        self.is_lost = self._failed >= FAILED_STAGES or self._idle >= IDLE
        fast = at.violation < FAST * self._last_stage and self.delta < DELTA_LAST * self._unit
        stays = fast or (halved and self._is_within(at, CLOSE))
        self._last_stage = at.violation
        return self._narrowed(WIDER if failed else 1.0 if stays else NARROWER ** (1 + self._idle))

    def next_of_sample(self, at: Numbers) -> float | None:
        """Return the same for a sample; None if the sample has no more to tell."""
        if at.promised > LOOSE * (at.primal if self._is_smooth else at.gap):
            return 0.0
        return None if self._is_smooth or self.delta <= SAMPLE_DELTA * self._unit else self._narrowed(NARROWER)

    def _narrowed(self, factor: float) -> float:
        self.delta *= factor
        return factor

    def begin_afresh(self, width: float = DELTA_FIRST) -> None:
        """Go back to the first width."""
        self.delta = 1.0 if self._is_smooth else width * self._unit

    def begin_near(self) -> None:
        """Begin with a smaller width, at weights near the solution."""
        self.begin_afresh(WIDTH_SHARE)

    def _squared(self, at: Numbers) -> float:
        """Return |w - Z' alpha|^2 as in solvers/newton/regulariser.py, where a free intercept counts by its cost."""
        if self._bias == 0.0:
            return at.distance
        return at.distance + (self._longest * at.lacking / self._bias) ** 2 - at.lacking * at.lacking

    def _error(self, at: Numbers) -> float:
        error = self._longest * sqrt(max(0.0, self._squared(at)))
        curvature = self._curvature / self.delta * at.band
        if self._bias != 0.0 and curvature > 0.0:
            error += abs(at.lacking) / (self._bias * curvature)
        return error

    def _reached(self, at: Numbers) -> float:
        return at.violation + self._error(at)

    def _is_within(self, at: Numbers, times: float = 1.0) -> bool:
        times *= self._asked
        if self._stop.gap_tol is None and at.violation < times * self._stop.tol:
            return True
        return at.gap <= times * self._stop.gap_asked * at.primal
