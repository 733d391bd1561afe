"""Work that is done once per process and is no training: importing numba, compiling and loading kernels."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from .interrupt import held_back
from .training_clock import standing_still

_lock = Lock()
_inside = 0  # calls of ``set_apart`` that have not returned, in all threads
_was_enabled = True
_left = 64  # times that new objects count as old: two per kernel, and a first fit needs up to thirty kernels


@contextmanager
def set_apart() -> Iterator[None]:
    """Inside the block the clock of training stands still, Ctrl-C waits, and no garbage is collected.

    An exception in the middle of LLVM's work would break later compilations. Importing numba and what it needs to
    compile makes many objects, most of which stay: looking for garbage among them takes two fifths of that time. They
    count as old afterwards, or the search would begin with the next object that anybody makes (``_let_all_be_old``).
    """
    with standing_still(), held_back(), _uncollected():
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage inside the block, in any thread; the last thread that leaves one turns that on again."""
    global _inside, _was_enabled
    with _lock:
        if _inside == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _was_enabled:
                _let_all_be_old()
                gc.enable()


def _let_all_be_old() -> None:
    """Have new objects looked at when all objects are, not at once; nothing happens if the program has frozen some.

    Each kernel leaves a megabyte of garbage, which then stays for a while. So this is for the first fit of a process,
    not for one that compiles kernels by the hundred.
    """
    global _left
    if _left > 0 and gc.get_freeze_count() == 0:
        _left -= 1
        gc.freeze()
        gc.unfreeze()


def _begin_anew() -> None:
    """Forget the threads of the parent process, which do not survive a fork."""
    global _inside, _lock
    if _inside and _was_enabled:
        gc.enable()
    _inside, _lock = 0, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
