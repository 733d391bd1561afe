"""Pacing: long work is cut into compiled calls that each last about 50 ms.

Between two calls Python code runs, so Ctrl-C, clocks and progress never wait longer than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

SLICE_SECONDS = 0.05
FIRST_SLICE = 4096  # units of work; rows of a few thousand non-zeros stay within a few milliseconds
NUMBERS = 2**20  # units of work that are one number each: a few milliseconds
FASTEST_GROWTH = 8.0


def do_nothing() -> None:
    """Do nothing between two slices: the default."""


class Pace:
    """Cuts work into slices by the measured cost of its unit; calls ``between`` after each of them.

    ``threads.SharedPace`` is the same for several threads: each of them works on one of ``n_parts`` parts.
    """

    n_parts = 1

    def __init__(self, between: Callable[[], None] = do_nothing, first: int = FIRST_SLICE) -> None:
        self.size = first
        self.between = between

    def slices(self, n: int) -> Iterable[tuple[int, int]]:
        """Return the bounds of consecutive slices of range(n)."""
        if 0 < n < self.size:  # a single slice needs no clock, and small problems make thousands of them
            self.between()
            return ((0, n),)
        return self._timed_slices(n)

    def each(self, n: int, work: Callable[[int, int, int], T]) -> list[T]:
        """Return work(part, begin, end) of every slice of range(n), in order."""
        return [work(0, begin, end) for begin, end in self.slices(n)]

    def _timed_slices(self, n: int) -> Iterator[tuple[int, int]]:
        begin = 0
        while begin < n:
            end = min(n, begin + self.size)
            started = perf_counter()
            yield begin, end
            if end - begin == self.size:
                growth = SLICE_SECONDS / max(perf_counter() - started, 1e-9)
                self.size = max(1, int(self.size * min(FASTEST_GROWTH, growth)))
            self.between()
            begin = end
