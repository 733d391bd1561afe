"""Work that is done once per process and is no training: importing numba, compiling and loading kernels."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from .interrupt import held_back
from .training_clock import standing_still


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
    """Collect no garbage inside the block, in any thread; a thread that finds it off leaves it off."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
