"""Ctrl-C as a request: training ends where it is, and what was reached is returned with its certificate.

Otherwise Ctrl-C raises ``KeyboardInterrupt`` out of a fit, and what was computed is lost: right for a notebook, wrong
for a command that has run for hours. Signals belong to the process, so this does too.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import Any

_event = Event()


def requested() -> bool:
    """Tell whether training should end; every engine asks between two slices of its work."""
    return _event.is_set()


def _handler() -> Callable[[int, Any], Any] | None:
    """Return what handles Ctrl-C, if it may be replaced: only by the main thread, and not if Ctrl-C is ignored."""
    before = signal.getsignal(signal.SIGINT)
    return before if current_thread() is main_thread() and callable(before) else None


@contextmanager
def held_back() -> Iterator[None]:
    """Delay Ctrl-C inside the block: for work that an exception would leave broken. Other threads never see one."""
    before = _handler()
    if before is None:
        yield
        return
    waiting: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(*waiting[-1])


@contextmanager
def ends_training() -> Iterator[None]:
    """Inside the block, a first Ctrl-C asks every training in the process to end; a second raises as usual.

    A process that ignores Ctrl-C, as one in the background of a script does, goes on ignoring it.
    """
    before = _handler()
    if before is None:
        yield
        return

    def ask(number: int, frame: Any) -> None:
        _event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _event.clear()
