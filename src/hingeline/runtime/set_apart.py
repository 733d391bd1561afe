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


@contextmanager
def set_apart() -> Iterator[None]:
    """Inside the block the clock of training stands still, Ctrl-C waits, and no garbage is collected.

    An exception in the middle of LLVM's work would break later compilations. Importing numba and what it needs to
    compile makes many objects, which stay: looking for garbage among them takes two fifths of that time.
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
                gc.enable()


def _begin_anew() -> None:
    """Forget the threads of the parent process, which do not survive a fork."""
    global _inside, _lock
    if _inside and _was_enabled:
        gc.enable()
    _inside, _lock = 0, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
