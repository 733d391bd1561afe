"""Where problems start from: kept in memory along a path of C, and in a file for trainings that may be interrupted."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from ..io.csr import checksums
from ..io.models.native_file import read_native, write_native
from ..io.models.solver_types import SOLVER_TYPES
from .settings import Settings

KIND = "checkpoint of hingeline train"
FIRST_SLICE, LONGEST_SLICE, GROWTH = 20.0, 300.0, 2.0  # seconds between two saves
PROBLEM = ("type", "C", "p", "nu", "bias", "free_bias", "weights")  # the settings that a problem depends on


class Starts:
    """Remembers the variables that each problem has reached."""

    def __init__(self) -> None:
        self._reached: dict[int, np.ndarray] = {}

    def start(self, k: int) -> np.ndarray | None:
        """Return where problem ``k`` is to start; None: from scratch."""
        return self._reached.get(k)

    def keep(self, k: int, variables: np.ndarray) -> None:
        """Remember what problem ``k`` has reached."""
        self._reached[k] = variables

    def slice(self) -> float:
        """Return the seconds after which training pauses, so that what it has reached can be saved."""
        return inf

    def save(self) -> None:
        """Save everything that was reached. (Not here: memory is all there is.)"""


class Checkpoint(Starts):
    """Remembers the variables in a file as well, which is written now and then, and when ``save`` is called.

    Parameters
    ----------
    path : path
        If the file exists, training continues from it; it must be that of the same problem.
    problem : dict
        From ``fingerprint``.
    """

    def __init__(self, path: str | Path, problem: dict[str, Any]) -> None:
        super().__init__()
        self.path, self.problem = Path(path), problem
        self._slice, self._saved, self._lock = FIRST_SLICE, perf_counter(), Lock()
        if self.path.exists():
            self._reached = self._read()

    def _read(self) -> dict[int, np.ndarray]:
        content = read_native(self.path)
        if content.get("kind") != KIND:
            raise ValueError(f"{self.path} is no checkpoint of 'hingeline train': name another file.")
        if content.get("problem") != self.problem:
            found = content.get("problem")
            known = found if isinstance(found, dict) else {}
            differ = [key for key, value in self.problem.items() if known.get(key) != value]
            raise ValueError(
                f"{self.path} is the checkpoint of another problem (differs in {', '.join(differ)}): delete it, or "
                "name another file."
            )
        reached = content.get("reached")
        sound = isinstance(reached, dict) and all(
            type(k) is int and isinstance(part, np.ndarray) and self._fits(part) for k, part in reached.items()
        )
        if not sound:
            raise ValueError(f"{self.path} is damaged: delete it, or name another file.")
        return dict(reached or {})

    def _fits(self, part: np.ndarray) -> bool:
        over_columns = SOLVER_TYPES[self.problem["type"]].penalty == "l1"
        length = self.problem["columns"] + 1 if over_columns else self.problem["rows"]
        return part.dtype == np.float64 and part.shape[:1] == (length,) and bool(np.isfinite(part).all())

    def keep(self, k: int, variables: np.ndarray) -> None:
        """Remember what problem ``k`` has reached, and write the file if that was long ago."""
        with self._lock:
            super().keep(k, variables)
            if perf_counter() - self._saved >= self._slice:
                self._slice = min(LONGEST_SLICE, GROWTH * self._slice)
                self._write()

    def slice(self) -> float:
        """Return the seconds from one writing of the file to the next."""
        return self._slice

    def save(self) -> None:
        """Write the file."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        write_native({"kind": KIND, "problem": self.problem, "reached": self._reached}, self.path)
        self._saved = perf_counter()


def fingerprint(X: Any, y: np.ndarray, settings: Settings) -> dict[str, Any]:
    """Return what identifies a problem: its settings, the shape of its data and checksums of samples."""
    options = {name: value for name, value in asdict(settings).items() if name in PROBLEM}
    options["weights"] = [list(pair) for pair in settings.weights]
    shape = {"rows": X.shape[0], "columns": X.shape[1], "nonzeros": int(X.nnz)}
    return {**options, **shape, "data": checksums(X, y)}
