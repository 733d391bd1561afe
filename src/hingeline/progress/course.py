"""How far a fit has come towards its stop rule, and how long the rest will take."""

from __future__ import annotations

from math import isfinite, log

from ..solution import Progress
from ..solvers.trend import Trend

MOST_SAMPLES = 256  # beyond, every second one is dropped: a trend needs no more, however long the fit


class Course:
    """Follows a fit by samples of its progress.

    Convergence is linear, so the logarithm of the criterion falls at a steady rate: on a logarithmic scale from the
    first value to the tolerance, a fit advances about evenly. A limit may end it sooner.

    Parameters
    ----------
    max_iter, max_time : optional
        The caps.
    """

    def __init__(self, max_iter: int | None = None, max_time: float | None = None) -> None:
        self.max_iter, self.max_time = max_iter, max_time
        self.fraction = 0.0
        self._worst = self._capped = self._at = 0.0
        self._trend = Trend(MOST_SAMPLES)
        self._last: Progress | None = None

    def add(self, now: float, progress: Progress) -> None:
        """Add a sample, ``now`` seconds after the beginning, unless it was added before."""
        if progress is self._last:
            return
        self._last, self._at = progress, now
        self._trend.add(now, progress.times_tol)
        if isfinite(progress.times_tol):
            self._worst = max(self._worst, progress.times_tol)
            if progress.times_tol <= 1.0:
                self.fraction = 1.0
            elif self._worst > progress.times_tol:
                self.fraction = max(self.fraction, 1.0 - log(progress.times_tol) / log(self._worst))
        if self.max_iter:
            self._capped = progress.n_iter / self.max_iter
        if self.max_time:
            self._capped = max(self._capped, now / self.max_time)
        self.fraction = min(1.0, max(self.fraction, self._capped))

    def seconds_left(self, now: float) -> float:
        """Return how many seconds it will take from ``now`` on, by the measured rate; infinity if there is none yet."""
        left = self._trend.steps_left()
        if self._capped > 0.0:
            left = min(left, self._at * (1.0 / self._capped - 1.0))
        return max(0.0, left - (now - self._at))  # goes down between two samples
