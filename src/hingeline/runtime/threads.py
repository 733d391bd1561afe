"""Threads that share one pass over the rows: plain Python threads that call kernels, which release the GIL.

The rows are cut into as many parts as there are threads. Results are collected part by part, in order, so they depend
on the number of threads and never on timing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import CancelledError
from queue import SimpleQueue
from threading import Lock, Thread, local
from types import TracebackType
from typing import Any, TypeVar

from .pace import FIRST_SLICE, Pace, do_nothing

T = TypeVar("T")

WORTH_SHARING = 300_000  # stored values; a pass over fewer takes no longer than waking a thread


class _Pass:
    """One call of ``Team.each``: its work, its results, and whether the caller has abandoned it."""

    def __init__(self, work: Callable[[int], Any], n_parts: int) -> None:
        self.work = work
        self.results: list[Any] = [None] * n_parts
        self.errors: dict[int, BaseException] = {}
        self.n_ended = 0  # parts that others have done
        self.lock = Lock()  # of their number; whoever holds it sees what they have written
        self.done: SimpleQueue[None] = SimpleQueue()  # an item for each of them, to wait for
        self.abandoned = False

    def do(self, part: int) -> None:
        """Do one part; what it raises is kept for the caller."""
        try:
            self.results[part] = self.work(part)
        except BaseException as error:
            self.errors[part] = error
        finally:
            with self.lock:
                self.n_ended += 1
            self.done.put(None)

    def wait(self, n_others: int) -> None:
        """Wait for the parts of others. Ctrl-C may come right after an item was taken: parts are counted, not items."""
        while True:
            with self.lock:
                if self.n_ended >= n_others:
                    return
            self.done.get()


_current = local()  # the pass that a thread of ours works on


class _Worker:
    """A thread that waits for parts of passes. It outlives its team: starting one takes longer than a short pass."""

    def __init__(self) -> None:
        self.inbox: SimpleQueue[tuple[_Pass, int]] = SimpleQueue()
        Thread(target=self._serve, name="hingeline", daemon=True).start()

    def _serve(self) -> None:
        while True:
            _current.task, part = self.inbox.get()
            _current.task.do(part)
            _current.task = None  # keeps no arrays alive


_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


def _hire() -> _Worker:
    """Return an idle worker, or start a new one."""
    try:
        return _idle.pop()
    except IndexError:
        return _Worker()


class Team:
    """Some threads, to be used in a ``with`` statement, or dismissed in the end; a team of one thread costs nothing.

    Its threads wait between passes: waking one takes about ten microseconds.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._workers = [_hire() for _ in range(n_threads - 1)]

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dismiss()

    def dismiss(self) -> None:
        """Let others hire the threads."""
        _idle.extend(self._workers)
        self._workers = []

    def each(self, n_parts: int, work: Callable[[int], T]) -> list[T]:
        """Return work(0), ..., work(n_parts - 1), each on a thread of its own; the caller does the first part."""
        if n_parts == 1:
            return [work(0)]
        shared = _Pass(work, n_parts)
        sent = 0
        try:
            for part, worker in zip(range(1, n_parts), self._workers, strict=False):
                worker.inbox.put((shared, part))
                sent += 1
            shared.results[0] = work(0)
            shared.wait(sent)
        except BaseException:  # Ctrl-C reaches only this thread: the others are told to stop, and waited for
            shared.abandoned = True
            shared.wait(sent)
            raise
        if shared.errors:
            raise shared.errors[min(shared.errors)]
        return shared.results

    def parts(self, n: int, work: Callable[[slice], T]) -> list[T]:
        """Return ``work`` of consecutive slices of range(n), one per thread, in order."""
        return self.each(self.n_threads, lambda part: work(slice(*part_bounds(n, self.n_threads, part))))

    def check(self) -> None:
        """Leave a pass that its caller has abandoned; called between two slices of work."""
        task = getattr(_current, "task", None)
        if task is not None and task.abandoned:
            raise CancelledError

    def pace(self, between: Callable[[], None] = do_nothing, first: int = FIRST_SLICE) -> Pace:
        """Return what cuts passes into slices, and shares them if there is more than one thread."""
        return Pace(between, first) if self.n_threads == 1 else SharedPace(between, first, self)


ALONE = Team(1)


class SharedPace(Pace):
    """A pace for each of several threads; ``slices`` alone, without work to share, is that of one."""

    def __init__(self, between: Callable[[], None], first: int, team: Team) -> None:
        super().__init__(between, first)
        self.n_parts = team.n_threads
        self._team = team
        self._paces = [Pace(self._between_slices, first) for _ in range(self.n_parts)]

    def _between_slices(self) -> None:
        self._team.check()
        self.between()

    def each(self, n: int, work: Callable[[int, int, int], T]) -> list[T]:
        """Return work(part, begin, end) of every slice of range(n), in order; the caller does the first part."""
        parts = self._team.each(self.n_parts, lambda part: self._part(part, n, work))
        return [result for part in parts for result in part]

    def _part(self, part: int, n: int, work: Callable[[int, int, int], T]) -> list[T]:
        first, last = part_bounds(n, self.n_parts, part)
        return [work(part, first + begin, first + end) for begin, end in self._paces[part].slices(last - first)]


def in_parts(n_threads: int, n: int, work: Callable[[slice], T]) -> list[T]:
    """Return ``work`` of consecutive slices of range(n), in order: one per thread if n is large, else one for all.

    For passes in NumPy, which lets other threads run while it works on a large array.
    """
    with Team(n_threads if n >= WORTH_SHARING else 1) as team:
        return team.parts(n, work)


def part_bounds(n: int, n_parts: int, part: int) -> tuple[int, int]:
    """Return where part number ``part`` of range(n) begins and ends."""
    return n * part // n_parts, n * (part + 1) // n_parts
