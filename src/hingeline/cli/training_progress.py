"""One line on a terminal that tells how far training is; nothing anywhere else."""

from __future__ import annotations

import sys
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hingeline.solution import Progress

EVERY = 0.1  # seconds
ERASE = "\r\x1b[K"


class ProgressLine:
    """Tells of sweeps on standard error where that is a terminal. Used in a ``with`` statement."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()
        self._last, self._lock, self._drawn = 0.0, Lock(), False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawn:
            print(ERASE, end="", file=sys.stderr, flush=True)

    def report(self, machine: int, progress: Progress) -> None:
        """Draw the line again, unless that was a moment ago."""
        with self._lock:
            now = perf_counter()
            if now - self._last < EVERY:
                return
            self._last, self._drawn = now, True
        text = f"machine {machine + 1}: sweep {progress.n_iter}, {progress.n_steps:.2e} steps"
        text += f", violation {progress.violation:.2e}, {progress.seconds:.1f} s"
        print(f"{ERASE}{text}", end="", file=sys.stderr, flush=True)
