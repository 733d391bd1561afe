"""Work that is done once per process and is no training: importing numba, compiling and loading kernels."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from .interrupt import held_back
from .training_clock import standing_still

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
    """Collect no garbage inside the block, in any thread; a thread that finds it off leaves it off."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
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
