"""Fidelity: steps of baseline and avsf at eps 0.01 compared with the paper's (its tables as CSV).

covtype.scale: median of three seeds, and its ratio to the paper's figure. news20 (a rebuild of the paper's set): range
over ten seeds, and whether the paper's figure lies within a factor of 1.3 of that range.

    python benchmarks/fidelity.py
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from datasets import DATA_DIR, load

import hingeline

SLACK = 1.3


def paper_steps(tables: Path) -> dict[tuple[str, str, float], float]:
    """Return the paper's steps at eps 0.01 by data set, solver and C."""
    with tables.open(newline="") as file:
        return {
            (row["problem"], row["solver"], float(row["C"])): float(row["steps"])
            for row in csv.DictReader(file)
            if float(row["epsilon"]) == 0.01 and row["steps"]
        }


def steps(name: str, data_dir: Path, solver: str, C: float, seeds: int) -> np.ndarray:
    """Return the steps to eps 0.01 for each seed."""
    X, y = load(name, data_dir)
    loss = hingeline.Hinge(C=C)
    return np.array(
        [hingeline.solve(X, y, loss, solver=solver, tol=0.01, random_state=seed).n_steps for seed in range(seeds)]
    )


def main() -> None:
    """Print a table of both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--tables", type=Path, default=DATA_DIR.parent / "paper" / "tables.csv")
    parser.add_argument("--datasets", nargs="+", default=["covtype", "news20"])
    args = parser.parse_args()
    paper = paper_steps(args.tables)
    grids = {"covtype": ((0.01, 1.0), 3), "news20": ((0.01, 0.1, 1.0, 10.0, 100.0), 10)}
    print(f"{'data':>8} {'C':>6} {'solver':>9} {'paper':>9} {'median':>9} {'low':>9} {'high':>9}  verdict")
    for name in args.datasets:
        Cs, seeds = grids[name]
        for C in Cs:
            for solver in ("baseline", "avsf"):
                ours = steps(name, args.data_dir, solver, C, seeds)
                printed, median = paper[name, solver, C], float(np.median(ours))
                if name == "covtype":
                    verdict = f"{median / printed:.3f}x the paper's"
                else:
                    inside = ours.min() / SLACK <= printed <= ours.max() * SLACK
                    verdict = "within 1.3 of the range" if inside else "outside"
                figures = " ".join(f"{v:>9.3g}" for v in (printed, median, ours.min(), ours.max()))
                print(f"{name:>8} {C:>6g} {solver:>9} {figures}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
