"""Where problems start from: kept in memory along a path of C, and in a file for trainings that may be killed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from ..atomic import checked_target, remove_leftovers
from ..models.native_file import read_native, write_native

FIRST_INTERVAL, LONGEST_INTERVAL, GROWTH = 20.0, 300.0, 2.0  # seconds between two saves, if nothing else is asked for


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


class Starts:
    """Remembers the variables that each problem has reached."""

    saves_sweeps = False  # whether ``after_sweep`` is of any use

    def __init__(self) -> None:
        self._reached: dict[int, np.ndarray] = {}

    def start(self, k: int) -> np.ndarray | None:
        """Return where problem ``k`` is to start; None: from scratch."""
        return self._reached.get(k)

    def after_sweep(self, k: int, take: Callable[[], np.ndarray]) -> None:
        """Take what problem ``k`` has reached, if it is time to save it."""

    def keep(self, k: int, variables: np.ndarray) -> None:
        """Remember where problem ``k`` has ended."""
        self._reached[k] = variables

    def save(self) -> None:
        """Save everything that was reached. (Not here: memory is all there is.)"""


class CheckpointFile(Starts):
    """Remembers the variables in a file as well, which is written at intervals, and when ``save`` is called.

    A file that is due is written as soon as every running problem has ended a sweep, so that all of it is fresh.

    Parameters
    ----------
    path : path
        If the file exists, training continues from it. One of another problem is refused, unless it is finished.
    maker : str
        Whose checkpoint it is, such as "hingeline train".
    problem : dict
        What identifies the problem.
    shape : tuple of int
        Shape of the variables of each problem.
    every : float, optional
        Seconds between two saves; None: first FIRST_INTERVAL, growing to LONGEST_INTERVAL.
    warn : callable
        Called with a text if the file cannot be written during training (a full disk); training goes on.
    """

    saves_sweeps = True

    def __init__(
        self,
        path: str | PathLike[str],
        maker: str,
        problem: dict[str, Any],
        shape: tuple[int, ...],
        every: float | None = None,
        warn: Callable[[str], object] = _warn,
    ) -> None:
        super().__init__()
        self.path, self.maker, self.problem, self.shape = Path(path), maker, problem, shape
        self._grows, self._warn = every is None, warn
        self._interval, self._saved, self._lock = FIRST_INTERVAL if every is None else every, perf_counter(), Lock()
        self._at_work: set[int] = set()
        self._fresh: set[int] = set()  # those at work that have been taken since the file is due
        remove_leftovers(checked_target(self.path))  # an error is better before training than after it
        if self.path.exists():
            self._reached = self._read()

    @property
    def _kind(self) -> str:
        return f"checkpoint of {self.maker}"

    def _read(self) -> dict[int, np.ndarray]:
        content = read_native(self.path)
        if content.get("kind") != self._kind:
            raise ValueError(f"{self.path} is not a {self._kind}: choose another file.")
        if content.get("problem") != self.problem:
            if content.get("finished") is True:
                return {}
            found = content.get("problem")
            known = found if isinstance(found, dict) else {}
            differ = [key for key, value in self.problem.items() if known.get(key) != value]
            raise ValueError(
                f"{self.path} is the checkpoint of another problem (differs in {', '.join(differ)}): delete it, or "
                "choose another file."
            )
        reached = content.get("reached")
        sound = isinstance(reached, dict) and all(type(k) is int and self._fits(part) for k, part in reached.items())
        if not sound:
            raise ValueError(f"{self.path} is damaged: delete it, or choose another file.")
        return dict(reached or {})

    def _fits(self, part: Any) -> bool:
        is_ours = isinstance(part, np.ndarray) and part.dtype == np.float64 and part.shape == self.shape
        return is_ours and bool(np.isfinite(part).all())

    def after_sweep(self, k: int, take: Callable[[], np.ndarray]) -> None:
        """Take what problem ``k`` has reached if the file is due, and write it if that was the last one at work."""
        with self._lock:
            self._at_work.add(k)
            if k not in self._fresh and perf_counter() - self._saved >= self._interval:
                self._reached[k] = take()
                self._fresh.add(k)
                self._write_if_complete()

    def keep(self, k: int, variables: np.ndarray) -> None:
        """Remember where problem ``k`` has ended; the file gets it when it is due."""
        with self._lock:
            self._reached[k] = variables
            self._at_work.discard(k)
            self._fresh.discard(k)
            if perf_counter() - self._saved >= self._interval:
                self._write_if_complete()

    def save(self) -> None:
        """Write the file."""
        with self._lock:
            self._write()

    def finish(self, converged: bool) -> None:
        """Write the file at the end; if training has ``converged``, another problem may replace it.

        If it cannot be written there is only a warning: what was trained is not lost.
        """
        with self._lock:
            self._try_to_write(converged)

    def _write_if_complete(self) -> None:
        """Write the file if all that is at work has been taken; if that fails, training goes on."""
        if self._fresh == self._at_work:
            if self._grows:
                self._interval = min(LONGEST_INTERVAL, GROWTH * self._interval)
            self._try_to_write()

    def _try_to_write(self, finished: bool = False) -> None:
        try:
            self._write(finished)
        except OSError as error:
            self._warn(f"the checkpoint {self.path} could not be saved; training continues without it: {error}")

    def _write(self, finished: bool = False) -> None:
        self._saved = perf_counter()
        self._fresh.clear()
        state = {"problem": self.problem, "reached": self._reached, "finished": finished}
        write_native({"kind": self._kind, **state}, self.path)
