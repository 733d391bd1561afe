"""Runs long calls of NumPy and SciPy on a separate thread: Python notices Ctrl-C only when such a call returns."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import Any, TypeVar

T = TypeVar("T")

LONG = 2**21  # values; copying or converting fewer takes no longer than a slice of work


def aside(work: Callable[[], T], n: int) -> T:
    """Return ``work()``, which goes over ``n`` values, run on another thread if it takes long.

    Ctrl-C then reaches the caller at once; the work ends by itself, and its result is dropped. It is for calls that
    release the GIL and have no side effects.
    """
    if n < LONG or current_thread() is not main_thread():  # no other thread is ever interrupted
        return work()
    answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answer.put((work(), None))
        except BaseException as error:
            answer.put((None, error))

    Thread(target=run, name="hingeline-aside", daemon=True).start()
    result, error = answer.get()
    if error is not None:
        raise error
    return result
