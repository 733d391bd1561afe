"""Threads that share one pass over the rows: plain Python threads over kernels that release the interpreter's lock.

The rows are cut into as many parts as there are threads, and every part is worked on in slices, as on one thread. Sums
are made part by part and added up in order, so results depend on the number of threads alone, not on their timing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from threading import Event
from types import TracebackType
from typing import TypeVar

import numpy as np

from .pace import FIRST_SLICE, Pace, do_nothing

T = TypeVar("T")

WORTH_SHARING = 300_000  # stored values; a pass over fewer takes no longer than waking a thread


class Team:
    """Some threads, to be used in a ``with`` statement; one thread is no team and costs nothing."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def pace(self, between: Callable[[], None] = do_nothing, first: int = FIRST_SLICE) -> Pace:
        """Return what cuts passes into slices, and shares them where there is more than one thread."""
        return Pace(between, first) if self._pool is None else SharedPace(between, first, self._pool, self.n_threads)


class SharedPace(Pace):
    """A pace for each of several threads; ``slices`` alone, without work to share, is that of one."""

    def __init__(self, between: Callable[[], None], first: int, pool: ThreadPoolExecutor, n_parts: int) -> None:
        super().__init__(between, first)
        self.n_parts = n_parts
        self._pool = pool
        self._leave = Event()
        self._paces = [Pace(self._between_slices, first) for _ in range(n_parts)]

    def _between_slices(self) -> None:
        if self._leave.is_set():
            raise CancelledError
        self.between()

    def each(self, n: int, work: Callable[[int, int, int], T]) -> list[T]:
        """Return work(part, begin, end) of every slice of range(n), in order; the caller does the first part."""
        others = [self._pool.submit(self._part, part, n, work) for part in range(1, self.n_parts)]
        try:
            done = self._part(0, n, work)
        except BaseException:  # Ctrl-C reaches this thread alone: the others are told, and waited for
            self._leave.set()
            wait(others)
            self._leave.clear()
            raise
        return done + [result for other in _ended(others) for result in other.result()]

    def _part(self, part: int, n: int, work: Callable[[int, int, int], T]) -> list[T]:
        first, last = n * part // self.n_parts, n * (part + 1) // self.n_parts
        return [work(part, first + begin, first + end) for begin, end in self._paces[part].slices(last - first)]


def _ended(others: list[Future[T]]) -> list[Future[T]]:
    """Wait for all, also where one of them failed: none may work on after the pass."""
    wait(others)
    return others


def summed(parts: np.ndarray) -> np.ndarray:
    """Return the sum of the rows of ``parts``, one row a part, in order."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
