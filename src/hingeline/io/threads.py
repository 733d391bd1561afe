"""Threads that work on a stream of items while it is consumed, in order and in bounded memory."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_order(function: Callable[[T], R], items: Iterable[T], n_threads: int) -> Generator[R]:
    """Yield ``function(item)`` for each item, in order; several threads compute the next few of them."""
    if n_threads == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="hingeline-map")
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # nobody waits after an interrupt


def read_ahead(items: Iterator[T], depth: int) -> Generator[T]:
    """Yield ``items``, which a thread of its own takes up to ``depth`` ahead of use."""
    ready: queue.Queue[tuple[T | None, BaseException | None, bool]] = queue.Queue(depth)
    stopped = threading.Event()

    def run() -> None:
        last: tuple[None, BaseException | None, bool] = (None, None, True)
        try:
            for item in items:
                if not _put(ready, (item, None, False), stopped):
                    return
        except BaseException as error:
            last = (None, error, True)
        _put(ready, last, stopped)

    thread = threading.Thread(target=run, name="hingeline-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error, ended = ready.get()
            if error is not None:
                raise error
            if ended:
                return
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join(timeout=1.0)  # it may wait for bytes that never come


def _put(ready: queue.Queue[Any], item: Any, stopped: threading.Event) -> bool:
    """Put an item when there is room; return False if nobody waits for it any more."""
    while not stopped.is_set():
        try:
            ready.put(item, timeout=0.05)
            return True
        except queue.Full:
            continue
    return False
