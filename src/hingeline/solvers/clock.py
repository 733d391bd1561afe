"""The clock of a run, and how a run ends: by an exception raised inside the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from ..runtime import interrupt
from ..runtime.training_clock import now

NEXT_PHASE = "next phase"  # the stop reason of an engine whose budget is spent


class Ended(Exception):
    """Raised out of an engine when training ends; the state it worked on is valid at any time."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Clock:
    """Checks, between two slices of work, the time, Ctrl-C, and whether another thread was interrupted.

    It is separate from ``Run`` so that no reference cycle keeps a run's arrays alive after the run. Steps are counted
    here for the same reason.
    """

    def __init__(self, max_time: float | None, cancelled: Callable[[], bool] | None) -> None:
        self._started = now()
        self._max_time = max_time
        self._cancelled = cancelled
        self._is_finishing = False
        self.n_steps = 0

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return now() - self._started

    def check_cancelled(self) -> None:
        """Raise at once if another thread was interrupted."""
        if self._cancelled is not None and self._cancelled():
            raise CancelledError

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Let work inside the block go on even if time is up: what a run has reached must still be certified."""
        before, self._is_finishing = self._is_finishing, True
        try:
            yield
        finally:
            self._is_finishing = before

    def check(self) -> None:
        """End the run if it was cancelled or interrupted, or if its time is up."""
        self.check_cancelled()
        if self._is_finishing:
            return
        if interrupt.requested():
            raise Ended("interrupted")
        if self._max_time is not None and self.seconds >= self._max_time:
            raise Ended("max_time")
