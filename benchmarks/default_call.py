"""The call as people type it: LinearSVC(C=C).fit(X, y), ours and scikit-learn's, and LIBLINEAR's train -s 1 and -s 2.

Squared hinge, intercept, one thread, every solver at its default tolerance; no ladder, no gap_tol. One process per
solver and data set, warm (the second fit counts, or the median of several short ones), killed at the deadline. A peer
counts if its objective is within 1e-3 of the best: one that stops far from the optimum is fast for no good reason. The
ratio is the time of the fastest peer that counts over ours; ">": the peers that would count were late.

    python benchmarks/default_call.py --datasets a9a w8a covtype news20 debian_text --deadline 60
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from collections.abc import Callable
from math import exp, inf, log
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from datasets import CACHE, DATA_DIR

from hingeline.bench.datasets import find, read_arrays

SOLVERS = ("hingeline", "sklearn", "liblinear-1", "liblinear-2")
GOOD = 1e-3
ENOUGH, MOST_RUNS = 0.5, 9
SETUP = 600.0  # seconds for reading the data and compiling


def main() -> None:
    """Print a line for each data set and C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["a9a", "w8a", "covtype", "news20", "debian_text"])
    parser.add_argument("--c", nargs="+", type=float, default=[0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])
    parser.add_argument("--deadline", type=float, default=60.0)
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    args = parser.parse_args()
    there, _ = find(args.data_dir, args.datasets)
    print(f"{'data':>14} {'C':>7}" + "".join(f"{name:>22}" for name in SOLVERS) + "   best peer/ours")
    ratios = []
    for dataset in there:
        source = dataset.parsed(CACHE)
        results = {name: measure(name, source, args.c, args.deadline) for name in SOLVERS}
        for C in args.c:
            cells = {name: results[name].get(C, (inf, inf)) for name in SOLVERS}
            best = min(objective for _, objective in cells.values())
            shown = "".join(f"{show(*cell, best, args.deadline):>22}" for cell in cells.values())
            peers = [s for name, (s, P) in cells.items() if name != "hingeline" and P <= (1.0 + GOOD) * best]
            late = [name for name, (s, _) in cells.items() if s == inf]
            ratio = min(peers, default=args.deadline if late else inf) / cells["hingeline"][0]
            print(f"{dataset.name:>14} {C:7g}{shown}   {'' if peers else '> '}{ratio:.2f}", flush=True)
            if 0.0 < ratio < inf:
                ratios.append((ratio, f"{dataset.name}, C {C:g}"))
    mean = exp(sum(log(r) for r, _ in ratios) / len(ratios))
    worst, where = min(ratios)
    print(f"{mean:.3g}x in the geometric mean of {len(ratios)} cells, {worst:.3g}x in the worst ({where})")


def show(seconds: float, objective: float, best: float, deadline: float) -> str:
    """Return seconds and how far the objective is from the best one."""
    return f"> {deadline:g}" if seconds == inf else f"{seconds:.4g} ({objective / best - 1.0:.0e})"


def measure(solver: str, source: Path, Cs: list[float], deadline: float) -> dict[float, tuple[float, float]]:
    """Return seconds and objective for each C that was solved in time; after a kill, a new process goes on."""
    found: dict[float, tuple[float, float]] = {}
    waiting = list(Cs)
    while waiting:
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(target=work, args=(solver, source, waiting, theirs))
        process.start()
        theirs.close()
        limit = SETUP
        try:
            while ours.poll(limit):
                message = ours.recv()
                if message is not None:  # None: ready for the next one
                    found[message[0]] = message[1:]
                    waiting.remove(message[0])
                limit = (MOST_RUNS + 1) * deadline if message is not None else deadline
        except EOFError:
            break
        process.kill()
        if waiting:
            waiting.pop(0)
    return found


def work(solver: str, source: Path, Cs: list[float], pipe: Any) -> None:
    """Solve for each C; tells seconds and objective."""
    warnings.simplefilter("ignore")
    X, y = read_arrays(source)
    train = {"hingeline": ours, "sklearn": scikit_learn}.get(solver) or liblinear(X, y, int(solver[-1]))
    few = np.concatenate([np.flatnonzero(y == label)[:10] for label in np.unique(y)])
    if solver in ("hingeline", "sklearn"):
        train(X[few], y[few], 1.0)
        train(X, y, Cs[0] if Cs[0] < 0.1 else 0.01)  # kernels for this layout, memory
    for C in Cs:
        pipe.send(None)
        runs = []
        while sum(runs) < ENOUGH and len(runs) < MOST_RUNS:
            began = perf_counter()
            W = train(X, y, C)
            runs.append(perf_counter() - began)
        pipe.send((C, median(runs), objective(X, y, W, C)))
    pipe.close()


def ours(X: Any, y: np.ndarray, C: float) -> np.ndarray:
    """Fit hingeline's estimator; returns weights, one row per binary problem, the intercept last."""
    from hingeline import LinearSVC

    model = LinearSVC(C=C, random_state=0).fit(X, y)
    return np.column_stack([model.coef_, model.intercept_])


def scikit_learn(X: Any, y: np.ndarray, C: float) -> np.ndarray:
    """Fit scikit-learn's."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C, random_state=0).fit(X, y)
    return np.column_stack([model.coef_, model.intercept_])


def liblinear(X: Any, y: np.ndarray, code: int) -> Callable[[Any, np.ndarray, float], np.ndarray]:
    """Return a function that trains; its structure is made once and not timed."""
    from liblinear.liblinearutil import parameter, problem, train

    prob, classes = problem(y, X, 1), np.unique(y)

    def run(X: Any, y: np.ndarray, C: float) -> np.ndarray:
        model = train(prob, parameter(f"-s {code} -c {C!r} -B 1 -q"))
        n = 1 if model.nr_class == 2 else model.nr_class
        W = np.ctypeslib.as_array(model.w, shape=(X.shape[1] + 1, n)).T.copy()
        labels = np.array(model.label[: model.nr_class])
        return (W if labels[0] == classes[1] else -W) if n == 1 else W[np.argsort(labels)]

    return run


def objective(X: Any, y: np.ndarray, W: np.ndarray, C: float) -> float:
    """Return |W|^2/2 + C sum of squared slacks, summed over the binary problems."""
    classes, total = np.unique(y), 0.5 * float((W * W).sum())
    for w, label in zip(W, classes[1:] if len(W) == 1 else classes, strict=True):
        slack = np.maximum(0.0, 1.0 - np.where(y == label, 1.0, -1.0) * (X @ w[:-1] + w[-1]))
        total += C * float(slack @ slack)
    return total


if __name__ == "__main__":
    main()
