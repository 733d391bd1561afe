"""Choosing C over the paper's grid (6 C x 5 folds, hinge): LinearSVCCV beside grid searches of cold fits, and memory.

For each data set and with or without intercept, each of these runs in a separate process, one after the other:

======================  =============================================================================================
``sklearn``             GridSearchCV(sklearn.svm.LinearSVC(loss="hinge"), n_jobs=N), its ConvergenceWarnings counted
``cold``                GridSearchCV(hingeline.LinearSVC(loss="hinge"), n_jobs=N): our own fits, each from nothing
``path``                LinearSVCCV(loss="hinge", n_jobs=N)
``path, whole``         the same with early_stopping=False: every cell of the table
``six fits``            LinearSVC(loss="hinge", C=C) on all rows, one after the other: what the grid costs without folds
``one fit``             LinearSVC(loss="hinge", C=best), for its memory
======================  =============================================================================================

Seconds are those of ``fit`` without the refit, after a small fit that loads the compiled kernels; joblib's workers
are started (and have loaded theirs) too. What takes longer than ``--deadline`` is stopped, and its seconds are a lower
bound. CPU seconds are those of all threads of the process, without joblib's workers. Memory is the peak of the
resident set of the process (VmHWM, reset before ``fit``), data included, as a multiple of that of one fit.

    python benchmarks/selection.py --data a9a debian_text
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from datasets import DATA_DIR, load

CS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
KINDS = ("sklearn", "cold", "path", "path, whole", "six fits", "one fit")


def resident(field: str) -> int:
    """Return VmRSS or VmHWM of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status")


class SixFits:
    """Models for all C, each trained on all rows from nothing."""

    def __init__(self, how: dict[str, Any]) -> None:
        self.how = how

    def fit(self, X: Any, y: np.ndarray) -> None:
        """Train them, one after the other."""
        from hingeline import LinearSVC

        for C in CS:
            LinearSVC(**self.how, C=C).fit(X, y)


def searcher(kind: str, intercept: bool, n_jobs: int, best: float) -> Any:
    """Return the estimator of a kind."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import LinearSVC as SklearnLinearSVC

    from hingeline import LinearSVC, LinearSVCCV

    how = {"loss": "hinge", "fit_intercept": intercept, "random_state": 0}
    if kind == "one fit":
        return LinearSVC(**how, C=best)
    if kind == "six fits":
        return SixFits(how)
    if kind.startswith("path"):
        return LinearSVCCV(**how, Cs=CS, cv=5, n_jobs=n_jobs, refit=False, early_stopping=kind == "path")
    model = SklearnLinearSVC(**how, dual=True) if kind == "sklearn" else LinearSVC(**how)
    return GridSearchCV(model, {"C": CS}, cv=5, n_jobs=n_jobs, refit=False)


def measure(kind: str, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Search once in this process; returns seconds, scores and peak memory."""
    X, y = load(name, args.data_dir)
    X, y = X[: args.first], y[: args.first]
    estimator = searcher(kind, args.intercept, args.n_jobs, args.best)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = np.concatenate([np.flatnonzero(y == label)[:100] for label in np.unique(y)])
        estimator.fit(X[small], y[small])
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started, cpu_before = perf_counter(), process_time()
        estimator.fit(X, y)
        seconds, cpu = perf_counter() - started, process_time() - cpu_before
    found: dict[str, Any] = {"seconds": seconds, "cpu": cpu, "peak": resident("VmHWM")}
    found["warnings"] = sum("onverge" in str(warning.message) for warning in caught)
    if kind in ("six fits", "one fit"):
        return found
    if kind.startswith("path"):
        found["scores"] = estimator.mean_scores_.tolist()
        found["times"] = np.nansum(estimator.fit_times_, axis=1).tolist()
    else:
        results = estimator.cv_results_
        found["scores"] = results["mean_test_score"].tolist()
        found["times"] = (5.0 * results["mean_fit_time"]).tolist()
    found["best"] = CS[int(np.nanargmax(found["scores"]))]
    return found


def in_process(kind: str, name: str, args: argparse.Namespace, best: float) -> dict[str, Any]:
    """Measure in a separate process. Warnings of joblib's workers reach its standard error alone: counted there."""
    words = ["--measure", kind, "--data", name, "--data-dir", str(args.data_dir), "--n-jobs", str(args.n_jobs)]
    words += ["--best", str(best), *(["--intercept"] if args.intercept else [])]
    words += ["--first", str(args.first)] if args.first else []
    command, pipe = [sys.executable, __file__, *words], subprocess.PIPE
    child = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        answer, errors = child.communicate(timeout=args.deadline)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # joblib's workers too
        child.wait()
        return {"seconds": args.deadline, "late": True, "warnings": 0, "peak": 0}
    if child.returncode:
        raise SystemExit(f"{kind} on {name} failed:\n{errors}")
    found: dict[str, Any] = json.loads(answer.splitlines()[-1])
    found["warnings"] += errors.count("ConvergenceWarning:")
    return found


def report(name: str, args: argparse.Namespace) -> None:
    """Measure all kinds on one data set and print a table."""
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        if kind in args.kinds:
            best = found.get("path", {}).get("best", 1.0)
            runs = [in_process(kind, name, args, best) for _ in range(args.repeats)]
            found[kind] = min(runs, key=lambda run: run["seconds"])
    rows = f"first {args.first} rows, " if args.first else ""
    intercept = "intercept" if args.intercept else "no intercept"
    print(f"\n{name}, {rows}{intercept}, {args.n_jobs} jobs; best of {args.repeats}")
    print("  ".join(["kind".ljust(12), "seconds", "best C", "warnings", "peak MB", *(f"{C:g}".rjust(8) for C in CS)]))
    for kind, run in found.items():
        cells = [f"{score:.4f}".rjust(8) for score in run.get("scores", [])]
        late = ">" if "late" in run else " "
        row = [kind.ljust(12), f"{late}{run['seconds']:6.2f}", f"{run.get('best', 0):6g}", f"{run['warnings']:8d}"]
        print("  ".join([*row, f"{run['peak'] / 1e6:7.0f}", *cells]))
        print("  ".join([" " * 46, *(f"{seconds:6.2f} s" for seconds in run.get("times", []))]))
    for kind in ("sklearn", "cold"):
        if kind in found:
            more = "more than " if "late" in found[kind] else ""
            ratios = [
                f"{more}{found[kind]['seconds'] / found[p]['seconds']:.1f}x ({p})" for p in KINDS[2:4] if p in found
            ]
            print(f"faster than {kind}: {', '.join(ratios)}")
    if all("cpu" in found.get(kind, {}) for kind in ("path, whole", "six fits")):
        whole, six = found["path, whole"]["cpu"], found["six fits"]["cpu"]
        print(f"five folds x six C: {whole:.2f} CPU seconds, {whole / six:.2f}x the six fits on all rows ({six:.2f})")
    if {"sklearn", "path"} <= set(found) and "late" not in found["sklearn"]:
        apart = np.nanmax(np.abs(np.subtract(found["sklearn"]["scores"], found["path"]["scores"])))
        print(f"scores apart from scikit-learn's by at most {100 * apart:.2f} points")
    if {"path", "one fit"} <= set(found):
        print(f"memory: {found['path']['peak'] / found['one fit']['peak']:.2f}x that of one fit")


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["a9a", "debian_text"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--first", type=int, metavar="N", help="the first N rows alone")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--deadline", type=float, help="seconds of each process, reading its data included")
    parser.add_argument(
        "--intercept", action="store_true", help="with the default intercept (else: the paper's problem)"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--best", type=float, default=1.0, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.data[0], args)))
        return
    for name in args.data:
        report(name, args)


if __name__ == "__main__":
    main()
