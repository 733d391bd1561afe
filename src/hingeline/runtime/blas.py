"""Limits the number of threads of this process's BLAS libraries.

Most of them have one number for the whole process, while several fits may run in threads and end in any order. So it is
what the last of those that still run has asked for, and what it was before when none runs any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_wanted: list[_Limit] = []  # of blocks that have not ended, in the order of their beginning
_before: list[int] = []  # the numbers without any of them


class _Limit:
    """What a block asks for."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads


@lru_cache(maxsize=1)
def blas() -> tuple[list[Any], list[Any]]:
    """Find the libraries: those with a number for the process, and those with one for each thread.

    It is done once, since it takes a millisecond or more.
    """
    found = [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    is_own = [getattr(library, "threading_layer", "") == "openmp" for library in found]
    return (
        [library for library, own in zip(found, is_own, strict=True) if not own],
        [library for library, own in zip(found, is_own, strict=True) if own],
    )


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Limit BLAS to ``n_threads`` threads."""
    limit, own = _Limit(n_threads), [(library, library.num_threads) for library in blas()[1]]
    try:
        _begin(limit)
        for library, _ in own:
            library.set_num_threads(n_threads)
        yield
    finally:
        for library, before in own:
            library.set_num_threads(before)
        _end(limit)


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread, so that our own threads may call it at the same time."""
    return blas_threads(1)


def _begin(limit: _Limit) -> None:
    with _lock:
        if not _wanted:
            _before[:] = [library.num_threads for library in blas()[0]]
        _wanted.append(limit)
        _set([limit.n_threads] * len(_before))


def _end(limit: _Limit) -> None:
    with _lock:
        if limit in _wanted:  # else Ctrl-C came before it began
            _wanted.remove(limit)
            _set([_wanted[-1].n_threads] * len(_before) if _wanted else _before)


def _set(numbers: list[int]) -> None:
    for library, number in zip(blas()[0], numbers, strict=True):
        # Since version 3.8, threadpoolctl ignores every thread but the first that sets a number. Here they take turns.
        take_turns = getattr(library, "clear_controlling_thread", None)
        if take_turns is not None:
            take_turns(force=True)
        library.set_num_threads(number)
        if take_turns is not None:
            take_turns(force=True)


def _begin_anew() -> None:
    """Forget who held the lock: threads do not survive a fork."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
