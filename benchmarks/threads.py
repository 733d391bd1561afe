"""What more threads are worth: the same fits with 1, 2, 4, ... threads, side by side in one run.

=================  ==============================================================================================
``made``           4,000,000 x 28 dense float32, labels from a rule that is not linear
``covtype``        cover type, from ``--data-dir``; ``nycflights`` and any other set of two classes by name
=================  ==============================================================================================

Each is trained with the hinge loss (C = 1, no intercept) and by the default call, to default tolerances. Seconds are
those of ``fit``, the median of ``--repeat`` warm runs; rounds go through all numbers of threads, so that a busy moment
of the machine meets all of them. The last columns are ratios to one thread.

    python benchmarks/threads.py --data made covtype nycflights --threads 1 2 4 8 16
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from datasets import DATA_DIR, load

from hingeline import LinearSVC

CALLS: dict[str, dict[str, Any]] = {"hinge": {"loss": "hinge", "fit_intercept": False}, "default": {}}


def made(n_rows: int, n_columns: int = 28) -> tuple[np.ndarray, np.ndarray]:
    """Return dense float32 rows and labels that a linear rule fits roughly: a product of columns takes part."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, :8] @ np.linspace(1.0, 0.2, 8) + X[:, 8] * X[:, 9] + rng.standard_normal(n_rows, dtype=np.float32)
    return X, np.where(score > 0.0, 1, -1)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["made", "covtype", "nycflights"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the made data")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--calls", nargs="+", choices=list(CALLS), default=list(CALLS))
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    args = parser.parse_args()
    for name in args.data:
        X, y = made(args.rows) if name == "made" else load(name, args.data_dir)
        for call in args.calls:
            seconds: dict[int, list[float]] = {n: [] for n in args.threads}
            fitted: dict[int, LinearSVC] = {}
            for turn in range(1 + args.repeat):  # the first round compiles and warms up
                for n in args.threads:
                    model = LinearSVC(**CALLS[call], C=args.c, n_jobs=n, random_state=0)
                    started = perf_counter()
                    model.fit(X, y)
                    if turn:
                        seconds[n].append(perf_counter() - started)
                    fitted[n] = model
            times = {n: median(values) for n, values in seconds.items()}
            first = times[args.threads[0]]
            if args.json:
                print(json.dumps({"data": name, "call": call, "seconds": times}), flush=True)
                continue
            gap = max(model.duality_gap_ for model in fitted.values())
            print(f"{name}, {call}, C {args.c:g} ({fitted[args.threads[0]].solver_}, gap at most {gap:.1e})")
            for n, value in times.items():
                print(
                    f"  {n:3d} threads  {value:8.3f} s  {first / value:5.2f}x  {fitted[n].n_iter_} iterations",
                    flush=True,
                )


if __name__ == "__main__":
    main()
