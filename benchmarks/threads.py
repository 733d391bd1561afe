"""What more threads are worth: the same work with 1, 2, 4, ... threads, side by side in one run.

=================  ==============================================================================================
``made``           4,000,000 x 28 dense float32, labels from a rule that is not linear
``covtype``        cover type, from ``--data-dir``; ``nycflights`` and any other set of two classes by name
=================  ==============================================================================================

=================  ==============================================================================================
``hinge``          LinearSVC(loss="hinge", C=1, fit_intercept=False)
``default``        LinearSVC(C=1)
``classes``        LinearSVC(loss="hinge", C=1) on seven classes: which of seven random rules is largest
``search``         LinearSVCCV(loss="hinge"), four C and five folds, all 20 of them
=================  ==============================================================================================

All to default tolerances. Seconds are those of ``fit``, the median of ``--repeat`` warm runs; rounds go through all
numbers of threads, so that a busy moment of the machine meets all of them. Ratios to one thread follow, and the CPU
seconds of all threads together, which say something on a busy machine too.

    python benchmarks/threads.py --data made covtype nycflights --threads 1 2 4 8 16
    python benchmarks/threads.py --data covtype debian_paths --calls search classes --first 200000 --threads 1 16
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from datasets import DATA_DIR, load

from hingeline import LinearSVC, LinearSVCCV

SEARCH = {"Cs": [0.01, 0.1, 1.0, 10.0], "cv": 5, "early_stopping": False, "refit": False}
CALLS: dict[str, tuple[type, dict[str, Any]]] = {
    "hinge": (LinearSVC, {"loss": "hinge", "fit_intercept": False}),
    "default": (LinearSVC, {}),
    "classes": (LinearSVC, {"loss": "hinge"}),
    "search": (LinearSVCCV, {"loss": "hinge", **SEARCH}),
}


def made(n_rows: int, n_columns: int = 28) -> tuple[np.ndarray, np.ndarray]:
    """Return dense float32 rows and labels that a linear rule fits roughly: a product of columns takes part."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, :8] @ np.linspace(1.0, 0.2, 8) + X[:, 8] * X[:, 9] + rng.standard_normal(n_rows, dtype=np.float32)
    return X, np.where(score > 0.0, 1, -1)


def seven_classes(X: Any) -> np.ndarray:
    """Return labels from 0 to 6: which of seven random rules, with noise, is largest."""
    rng = np.random.default_rng(1)
    scores = np.asarray(X @ rng.standard_normal((X.shape[1], 7)))
    return np.argmax(scores + 0.5 * scores.std() * rng.standard_normal(scores.shape), axis=1)


def summary(model: Any) -> str:
    """Return the engine, iterations and gap of a fit, or how a search ended."""
    if isinstance(model, LinearSVCCV):
        return f"best score {np.nanmax(model.mean_scores_):.4f}"
    return f"{model.solver_}, {np.max(model.n_iter_)} iterations, gap {np.max(model.duality_gap_):.1e}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["made", "covtype", "nycflights"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the made data")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--first", type=int, help="rows of other data that are used; default: all")
    parser.add_argument("--calls", nargs="+", choices=list(CALLS), default=["hinge", "default"])
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    args = parser.parse_args()
    for name in args.data:
        X, y = made(args.rows) if name == "made" else load(name, args.data_dir)
        X, y = (X, y) if name == "made" else (X[: args.first], y[: args.first])
        for call in args.calls:
            kind, how = CALLS[call]
            if kind is LinearSVC:
                how = {**how, "C": args.c}
            labels = seven_classes(X) if call == "classes" else y
            seconds: dict[int, list[float]] = {n: [] for n in args.threads}
            cpu: dict[int, list[float]] = {n: [] for n in args.threads}
            ends: dict[int, str] = {}
            for turn in range(1 + args.repeat):  # the first round compiles and warms up
                for n in args.threads:
                    model = kind(**how, n_jobs=n, random_state=0)
                    started, cpu_started = perf_counter(), process_time()
                    model.fit(X, labels)
                    if turn:
                        seconds[n].append(perf_counter() - started)
                        cpu[n].append(process_time() - cpu_started)
                    ends[n] = summary(model)
            times = {n: median(values) for n, values in seconds.items()}
            cpu_times = {n: median(values) for n, values in cpu.items()}
            first = times[args.threads[0]]
            if args.json:
                print(json.dumps({"data": name, "call": call, "seconds": times, "cpu_seconds": cpu_times}), flush=True)
                continue
            print(f"{name}, {call}")
            for n, value in times.items():
                ratio, work = f"{first / value:5.2f}x", f"{cpu_times[n]:8.3f} s of CPU"
                print(f"  {n:3d} threads  {value:8.3f} s  {ratio}  {work}  {ends[n]}", flush=True)


if __name__ == "__main__":
    main()
