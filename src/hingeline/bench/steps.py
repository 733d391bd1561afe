"""Steps to equal quality: hybrid against the better of the paper's two engines, baseline and avsf.

At equal eps avsf stops at a larger gap than baseline, so each engine is asked for the same certified duality gap. Steps
depend on the order of visits and not on the computer, so the median over seeds counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, inf, isnan, log, nan
from pathlib import Path
from statistics import median

from .datasets import Dataset
from .store import Record, Store
from .training import Trainer

RIVALS = ("baseline", "avsf")
SOLVERS = (*RIVALS, "hybrid")
LARGE_C = 1.0  # from here on, adaptive frequencies have something to gain


@dataclass(frozen=True)
class Cell:
    """Medians over ``seeds`` trainings; ``steps`` is infinite if at least half of them were late."""

    dataset: str
    C: float
    solver: str
    gap_tol: float
    steps: float
    seconds: float
    seeds: int
    deadline: float


class StepsBench:
    """The experiment; finished trainings are kept in ``out`` and not run again."""

    def __init__(self, gap_tol: float, deadline: float, out: Path, seeds: int = 5) -> None:
        self.gap_tol, self.deadline, self.seeds = gap_tol, deadline, seeds
        self.store = Store(out / "steps.jsonl", ("source", "C", "solver", "gap_tol", "seed"))
        self.trainer = Trainer(out / "data")

    def cell(self, dataset: Dataset, C: float, solver: str) -> Cell:
        """Return the medians of one engine; as soon as half of the seeds are late, the others are not run."""
        done = list[Record]()
        late = 0
        while len(done) < self.seeds and 2 * late < self.seeds:
            key: Record = {"C": C, "solver": solver, "gap_tol": self.gap_tol, "seed": len(done)}
            done.append(self.trainer.kept(self.store, dataset, self.deadline, key, gap_tol=self.gap_tol))
            late += not done[-1]["finished"]
        steps = median(record["steps"] if record["finished"] else inf for record in done)
        return Cell(
            dataset=dataset.name,
            C=C,
            solver=solver,
            gap_tol=self.gap_tol,
            steps=inf if 2 * late >= self.seeds else steps,
            seconds=median(record["seconds"] for record in done),
            seeds=self.seeds,
            deadline=self.deadline,
        )


def ratio(cells: Mapping[str, Cell]) -> float:
    """Return hybrid's steps over those of the better rival, NaN if both rivals were late."""
    best = min(cells[solver].steps for solver in RIVALS)
    return nan if best == inf else cells["hybrid"].steps / best


def row(cells: Mapping[str, Cell]) -> list[str]:
    """Return a line of the table: the steps of each engine, and the ratio."""
    hybrid, value = cells["hybrid"], ratio(cells)
    texts = [
        f"{steps:.3e}" if (steps := cells[solver].steps) < inf else f">{hybrid.deadline:g} s" for solver in SOLVERS
    ]
    return [hybrid.dataset, f"{hybrid.C:g}", *texts, "" if isnan(value) else f"{value:.3f}"]


def summary(groups: Iterable[Mapping[str, Cell]]) -> list[str]:
    """Return the worst ratio over all data sets and C, and the geometric mean over those with a large C."""
    found = [(value, cells["hybrid"]) for cells in groups if not isnan(value := ratio(cells))]
    lines = []
    if found:
        value, cell = max(found, key=lambda pair: pair[0])
        where = f"{cell.dataset}, C {cell.C:g}"
        lines.append(f"hybrid / better of baseline and avsf: {value:.3g}x in the worst of {len(found)} cells ({where})")
    large = [value for value, cell in found if cell.C >= LARGE_C]
    if large:
        mean = exp(sum(map(log, large)) / len(large))
        lines.append(f"C >= {LARGE_C:g}: {mean:.3g}x in the geometric mean of {len(large)} cells")
    return lines
