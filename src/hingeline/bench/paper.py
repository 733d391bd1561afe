"""The paper's experiments: seconds and steps of baseline and avsf (and auto) for six values of C and two of eps.

Each cell is a training of the paper's model (hinge loss, no intercept) to the paper's criterion, on one thread, with
kernels compiled beforehand, or the mean of several trainings (in the paper, ten for news20 and rcv1). The paper's
figures (Tables 2 and 3) are part of the package, for comparison.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean

from .datasets import Dataset
from .store import Record, Store
from .training import Trainer

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
    """Means over ``seeds`` trainings and their largest gap.

    ``seconds`` is a lower bound if not all finished, None if the paper gives no number.
    """

    dataset: str
    eps: float
    solver: str
    C: float
    seconds: float | None
    steps: float | None
    finished: bool
    gap: float | None = None
    seeds: int = 1


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
    """The experiments on the available data; finished trainings are kept in ``out`` and not run again."""

    def __init__(self, deadline: float, out: Path, seeds: int = 1) -> None:
        self.deadline, self.seeds = deadline, seeds
        self.store = Store(out / "paper.jsonl", ("source", "eps", "solver", "C", "seed"), older={"seed": 0})
        self.trainer = Trainer(out / "data")

    def size(self, dataset: Dataset) -> tuple[int, int]:
        """Return rows and columns."""
        rows, columns = self.trainer.tasks(dataset, C=1.0).X.shape
        return int(rows), int(columns)

    def cell(self, dataset: Dataset, eps: float, solver: str, C: float) -> Cell:
        """Return the means over the seeds; after a training that does not finish, no other seed is tried."""
        done = list[Record]()
        while len(done) < self.seeds and all(record["finished"] for record in done):
            key: Record = {"eps": eps, "solver": solver, "C": C, "seed": len(done)}
            done.append(self.trainer.kept(self.store, dataset, self.deadline, key, tol=eps))
        seconds, steps = (fmean(record[name] for record in done) for name in ("seconds", "steps"))
        gap = max(record["gap"] for record in done)
        return Cell(dataset.name, eps, solver, C, seconds, steps, done[-1]["finished"], gap, len(done))
