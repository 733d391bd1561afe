"""The paper's experiments: seconds and steps of baseline and avsf (and auto) for six values of C and two of eps.

Each cell is one training of the paper's machine (hinge loss, no intercept) to its own criterion, on one thread, with
kernels compiled beforehand. The paper's figures (Tables 2 and 3) are part of the package, for comparison.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .datasets import Dataset, read_arrays
from .store import Record, Store

SOLVERS = ("baseline", "avsf", "auto")
CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
EPS = (0.01, 0.001)
# Table 1 of the paper: rows and columns.
SIZES = {
    "covtype": (581_012, 54),
    "kdda": (8_407_752, 20_216_830),
    "kddb": (19_264_097, 29_890_095),
    "news20": (19_996, 1_355_191),
    "rcv1": (20_242, 47_236),
    "url": (2_396_130, 3_231_961),
}


@dataclass(frozen=True)
class Cell:
    """One training; ``seconds`` is a lower bound where it did not finish, None where the paper gives none."""

    dataset: str
    eps: float
    solver: str
    C: float
    seconds: float | None
    steps: float | None
    finished: bool
    gap: float | None = None


@cache
def paper_cells() -> dict[tuple[str, float, str, float], Cell]:
    """Return the paper's Tables 2 and 3 by data set, eps, solver and C."""
    text = files("hingeline.bench").joinpath("paper_tables.csv").read_text(encoding="utf-8")
    cells = {}
    for row in csv.DictReader(text.splitlines()):
        key = row["problem"], float(row["epsilon"]), row["solver"], float(row["C"])
        seconds, steps = (float(row[name]) if row[name] else None for name in ("seconds", "steps"))
        cells[key] = Cell(*key, seconds, steps, finished=not row["note"])
    return cells


class PaperBench:
    """The experiments on what data there is; finished cells are kept in ``out`` and not run again."""

    def __init__(self, deadline: float, out: Path, seed: int = 0) -> None:
        self.deadline, self.out, self.seed = deadline, out, seed
        self.store = Store(out / "paper.jsonl", ("source", "eps", "solver", "C"))
        self._loaded: tuple[str, Any, Any] = ("", None, None)
        self._warm = set[tuple[str, str]]()

    def size(self, dataset: Dataset) -> tuple[int, int]:
        """Return rows and columns."""
        rows, columns = self._arrays(dataset)[0].shape
        return int(rows), int(columns)

    def cell(self, dataset: Dataset, eps: float, solver: str, C: float) -> Cell:
        """Return one training's seconds and steps, from an earlier run where it finished (or had as much time)."""
        key: Record = {"source": dataset.source, "eps": eps, "solver": solver, "C": C}
        record = self.store.find(self.deadline, **key)
        if record is None:
            record = key | {"dataset": dataset.name, "deadline": self.deadline} | self._train(dataset, eps, solver, C)
            self.store.add(record)
        result = {name: record[name] for name in ("seconds", "steps", "finished", "gap")}
        return Cell(dataset.name, eps, solver, C, **result)

    def _train(self, dataset: Dataset, eps: float, solver: str, C: float) -> Record:
        from threadpoolctl import threadpool_limits

        from hingeline import Hinge, solve

        X, y = self._arrays(dataset)
        with threadpool_limits(1):
            self._warm_up(dataset, solver)
            s = solve(X, y, Hinge(C=C), solver=solver, tol=eps, max_time=self.deadline, random_state=self.seed)
        return {"seconds": s.seconds, "steps": s.n_steps, "finished": s.converged, "gap": s.certificate.gap}

    def _warm_up(self, dataset: Dataset, solver: str) -> None:
        from .solvers import Hingeline, Task

        if (dataset.name, solver) not in self._warm:
            Hingeline(solver).warm_up(Task(*self._arrays(dataset), C=1.0, loss="hinge"))
            self._warm.add((dataset.name, solver))

    def _arrays(self, dataset: Dataset) -> tuple[Any, Any]:
        """Return the arrays, one data set at a time in memory."""
        if self._loaded[0] != dataset.source:
            self._loaded = ("", None, None)
            self._loaded = (dataset.source, *read_arrays(dataset.parsed(self.out / "data")))
        return self._loaded[1:]
