"""Bars: work reports to them, and the screen draws them.

Work calls a bar, in any thread, and the screen's thread asks it for its ``line``. Neither waits for the other: a report
sets one attribute.
"""

from __future__ import annotations

from math import inf, isnan, nan
from typing import NamedTuple

from ..runtime.training_clock import now
from ..solution import Progress
from .course import Course
from .text import duration, short, times


class Line(NamedTuple):
    """What is drawn of a bar; the fraction is None if it is not known."""

    title: str
    fraction: float | None
    text: str


class Bar:
    """Something that takes time and has a title."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.started = now()

    @property
    def elapsed(self) -> float:
        """Seconds since the bar was made."""
        return now() - self.started

    def line(self) -> Line | None:
        """Return what to draw now; None if nothing."""
        return Line(self.title, None, duration(self.elapsed))


class FitBar(Bar):
    """A fit: its iterations, the violation on a logarithmic scale towards ``tol``, the gap, the time left.

    On a cluster it shows rounds, and what they cost.

    It is a callback for ``solve``, ``c_path`` and ``set_callbacks``.

    Parameters
    ----------
    title : str
    tol, gap_tol : float, optional
        Shown as the goal.
    max_iter, max_time : optional
        The caps, if there are any: they bound the time left.
    n_problems : int, optional
        How many problems are solved in a row, as along a path. The next one has begun when sweeps count from one again.
    """

    def __init__(
        self,
        title: str,
        *,
        tol: float | None = None,
        gap_tol: float | None = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        n_problems: int | None = None,
    ) -> None:
        super().__init__(title)
        self.tol, self.gap_tol, self.n_problems = tol if gap_tol is None else None, gap_tol, n_problems
        self._caps = (max_iter, max_time)
        self._course, self._begun = Course(*self._caps), 0.0
        self._latest: Progress | None = None
        self._gap, self._problem = nan, 1

    def __call__(self, progress: Progress) -> None:
        """Report progress."""
        if self._latest is not None and progress.n_iter <= self._latest.n_iter:
            self._problem, self._gap = self._problem + 1, nan
            self._course, self._begun = Course(*self._caps), self.elapsed
        self._latest = progress
        if progress.gap == progress.gap:  # not NaN
            self._gap = progress.gap
        elif progress.objective > progress.lower_bound:
            self._gap = (progress.objective - progress.lower_bound) / progress.objective

    def line(self) -> Line:
        """Return what to draw now."""
        progress, elapsed = self._latest, self.elapsed
        if progress is None:
            return Line(self.title, None, duration(elapsed))
        course, spent = self._course, elapsed - self._begun
        course.add(spent, progress)
        parts = [] if self.n_problems is None else [f"{self._problem} of {self.n_problems}"]
        unit = "iteration" if progress.traffic is None else "round"
        parts += [f"{unit} {progress.n_iter:,}", f"violation {progress.violation:.1e}{_goal(self.tol)}"]
        if not isnan(self._gap) or self.gap_tol is not None:
            gap = "" if isnan(self._gap) else f" {self._gap:.1e}"
            parts.append(f"gap{gap}{_goal(self.gap_tol)}")
        if progress.traffic is not None:
            computing, communicating, n_bytes = progress.traffic
            parts.append(f"computing {computing:.3g} s, communicating {communicating:.3g} s, {short(n_bytes, 'B')}")
        parts.append(times(elapsed, course.seconds_left(spent)))
        return Line(self.title, course.fraction, " · ".join(parts))


def _goal(value: float | None) -> str:
    return "" if value is None else f" → {value:.0e}"


class StepsBar(Bar):
    """Several pieces of work of about the same size: classes, folds, values of C."""

    def __init__(self, title: str, total: int, unit: str) -> None:
        super().__init__(title)
        self.done, self.total, self.unit = 0, total, unit
        self._at = self.started

    def advance(self, count: int = 1) -> None:
        """Report that ``count`` more are done, from one thread at a time."""
        self.done += count
        self._at = now()

    def line(self) -> Line:
        """Return what to draw now."""
        left = inf
        if self.done:
            rate = (self._at - self.started) / self.done
            left = max(0.0, rate * (self.total - self.done) - (now() - self._at))
        text = f"{self.done} of {self.total} {self.unit} · {times(self.elapsed, left)}"
        return Line(self.title, self.done / max(1, self.total), text)


class CountBar(Bar):
    """Bytes or rows: called with the amount done and the total (None if unknown). Shown from the first call on."""

    def __init__(self, title: str, unit: str = "B") -> None:
        super().__init__(title)
        self.unit = unit
        self._report: tuple[float, float | None] | None = None

    def __call__(self, done: float, total: float | None) -> None:
        """Report progress."""
        if self._report is None:
            self.started = now()
        self._report = (done, total)

    def line(self) -> Line | None:
        """Return what to draw now."""
        if self._report is None:
            return None
        (done, total), elapsed = self._report, self.elapsed
        rate = done / max(elapsed, 1e-9)
        speed = f"{short(rate, self.unit)}/s"
        if not total:
            return Line(self.title, None, f"{short(done, self.unit)} · {speed} · {duration(elapsed)}")
        left = (total - done) / rate if rate > 0.0 else inf
        text = f"{short(done, self.unit)} of {short(total, self.unit)} · {speed} · {times(elapsed, left)}"
        return Line(self.title, min(1.0, done / total), text)
