"""Resident memory over thousands of small fits of every estimator, after a warm-up: it stays flat within 2%.

python benchmarks/resident_memory.py [--fits 5000]
"""

from __future__ import annotations

import argparse
import gc
import itertools
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hingeline import (
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
    c_path,
)

ROWS, PROBLEMS = 40, 10
SEEDS = itertools.cycle(range(PROBLEMS))  # the same few problems: all that they need is compiled by the warm-up


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("VmRSS is not in /proc/self/status")


def problems() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of the next problem, labels of two and of three classes, and targets."""
    rng = np.random.default_rng(next(SEEDS))
    X = rng.normal(size=(ROWS, 5))
    return X, np.arange(ROWS) % 2, np.arange(ROWS) % 3, X @ rng.normal(size=5)


def fits() -> list[Callable[[], Any]]:
    """Return one small fit for each estimator and kind of problem, on new data at each call."""

    def fit(model: Any, y: int, as_rows: Callable[[np.ndarray], Any] = np.asarray) -> Callable[[], Any]:
        def run() -> Any:
            X, *targets = problems()
            fitted = model.fit(as_rows(X), targets[y])
            return fitted.predict(as_rows(X))

        return run

    few = {"Cs": [0.1, 1.0], "cv": 2}
    return [
        *(fit(LinearSVC(loss="hinge", solver=name), 0) for name in ("auto", "baseline", "avsf", "hybrid", "newton")),
        fit(LinearSVC(), 0, sparse.csr_matrix),
        fit(LinearSVC(warm_start=True), 0),
        fit(LinearSVC(n_jobs=2), 1),
        fit(LinearSVC(fit_intercept="free"), 0),
        fit(LinearSVC(multi_class="crammer_singer"), 1),
        fit(LinearSVC(penalty="l1"), 0),
        fit(LogisticRegression(), 0),
        fit(LogisticRegression(solver="newton_cg"), 1),
        fit(LogisticRegression(penalty="elasticnet", l1_ratio=0.5), 0),
        fit(LinearSVR(), 2),
        fit(LinearSVR(loss="pinball", quantile=0.9), 2),
        fit(OneClassSVM(nu=0.3), 0),
        fit(LinearSVCCV(**few), 0),
        fit(LinearSVRCV(**few), 2),
        fit(LogisticRegressionCV(**few), 0),
        lambda: c_path(problems()[0], 2 * (np.arange(ROWS) % 2) - 1, Cs=[0.1, 1.0]),
    ]


def growth(n_fits: int, warm_up: int) -> tuple[int, int, int]:
    """Return the resident memory after ``warm_up`` fits and after ``n_fits`` more, and the threads that are left."""
    warnings.simplefilter("ignore")
    kinds = fits()
    for k in range(warm_up):
        kinds[k % len(kinds)]()
    before = resident()
    for k in range(n_fits):
        kinds[k % len(kinds)]()
    return before, resident(), threading.active_count()


def main() -> None:
    """Print memory before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=5000)
    parser.add_argument("--warm-up", type=int, default=500)
    args = parser.parse_args()
    before, after, threads = growth(args.fits, args.warm_up)
    change = 100.0 * (after - before) / before
    print(
        f"{before / 1e6:.1f} MB after {args.warm_up} fits, {after / 1e6:.1f} MB after {args.fits} more: {change:+.2f}%"
    )
    print(f"{threads} threads")


if __name__ == "__main__":
    main()
