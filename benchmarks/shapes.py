"""Generated data of shapes that the other benchmarks do not have: ``auto`` compared with scikit-learn's LinearSVC.

    python benchmarks/shapes.py [--shapes genes text ...] [--c 0.01 1 100] [--deadline 15]
    python benchmarks/shapes.py --regret   # auto compared with each engine, instead of scikit-learn

Both minimise the same objective, with an intercept. hingeline trains to a relative duality gap of 1e-3, scikit-learn
with the loosest tolerance (in steps of sqrt(10)) whose objective is within 1e-3 of the certified optimum; for the
squared hinge the better of its dual and its primal solver counts. CPU seconds of one thread, the median of three runs
if they are short. scikit-learn runs in a separate process, killed at the deadline.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from hingeline import Hinge, SquaredHinge, solve
from hingeline.solvers.engines import names_for

TARGET = 1e-3
SHORT = 0.5  # seconds; longer runs are not repeated
Data = tuple[Any, np.ndarray]


def labels(rng: np.random.Generator, scores: np.ndarray, noise: float) -> np.ndarray:
    """Return a noisy half of the scores as +1."""
    noisy = scores + noise * scores.std() * rng.standard_normal(scores.size)
    return np.where(noisy > np.median(scores), 1.0, -1.0)


def dense(n: int, d: int, informative: int, noise: float, density: float = 1.0) -> Callable[..., Data]:
    """Normal values (uniform ones if some are zero) in a dense array."""

    def make(rng: np.random.Generator) -> Data:
        X = rng.standard_normal((n, d)) if density == 1.0 else rng.random((n, d)) * (rng.random((n, d)) < density)
        return X, labels(rng, X[:, :informative].sum(axis=1), noise)

    return make


def scattered(n: int, d: int, density: float, noise: float) -> Callable[..., Data]:
    """Normal values scattered evenly over a sparse matrix."""

    def make(rng: np.random.Generator) -> Data:
        X = sparse.random(n, d, density, format="csr", random_state=1, data_rvs=rng.standard_normal)
        return X, labels(rng, X @ rng.standard_normal(d), noise)

    return make


def words(n: int, d: int, length: int, skew: float, noise: float, binary: bool) -> Callable[..., Data]:
    """Rows of words, common ones often; binary, or weighted and of length one."""

    def make(rng: np.random.Generator) -> Data:
        lengths = rng.poisson(length, n) + 3
        columns = (d * rng.random(lengths.sum()) ** skew).astype(np.int32)
        values = 1.0 + rng.random(columns.size)
        X = sparse.csr_matrix((values, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(n, d))
        X.sum_duplicates()
        if binary:
            X.data[:] = 1.0
        else:
            X = sparse.csr_matrix(sparse.diags(1.0 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X)
        return X, labels(rng, X @ rng.standard_normal(d), noise)

    return make


def unscaled(rng: np.random.Generator) -> Data:
    """Columns whose scales are four powers of ten apart."""
    X = rng.random((30_000, 20)) * 10.0 ** rng.integers(-1, 3, 20)
    return X, labels(rng, X @ (rng.standard_normal(20) / X.std(axis=0)), 0.5)


SHAPES: dict[str, Callable[[np.random.Generator], Data]] = {
    "tiny, 178 x 13": dense(178, 13, 4, 0.3),
    "genes, 72 x 7129": dense(72, 7129, 50, 0.3),
    "small, 2000 x 300": dense(2_000, 300, 40, 0.5),
    "few columns, 245000 x 3": dense(245_000, 3, 3, 0.4),
    "narrow, 500000 x 28": dense(500_000, 28, 10, 2.0),
    "unscaled, 30000 x 20": unscaled,
    "dense array of 13% non-zeros, 6000 x 2000": dense(6_000, 2_000, 60, 0.3, density=0.13),
    "dense, 20000 x 1000": dense(20_000, 1_000, 100, 0.8),
    "scattered, 20000 x 3000": scattered(20_000, 3_000, 0.01, 0.7),
    "text, 30000 x 50000": words(30_000, 50_000, 70, 4.0, 0.6, binary=False),
    "clicks, 60000 x 500000": words(60_000, 500_000, 100, 6.0, 0.3, binary=True),
}


def median_seconds(run: Callable[[int], Any]) -> tuple[float, Any]:
    """Return CPU seconds, and what the last run returned."""
    seconds = list[float]()
    while len(seconds) < 3 and (not seconds or seconds[-1] < SHORT):
        began = time.process_time()
        result = run(len(seconds))
        seconds.append(time.process_time() - began)
    return float(np.median(seconds)), result


def ours(X: Any, y: np.ndarray, loss: Any) -> tuple[float, str, float]:
    """Return hingeline's seconds, its engines, and a lower bound of the optimum."""
    for solver in ("auto", "hybrid", "newton"):  # compile, or load what was compiled
        solve(X, y, loss, solver=solver, bias=1.0, max_time=0.2)
    seconds, solution = median_seconds(lambda k: solve(X, y, loss, bias=1.0, gap_tol=TARGET, random_state=k))
    optimum = solve(X, y, loss, bias=1.0, gap_tol=1e-6, random_state=0, max_time=60.0).certificate.dual
    return seconds, solution.solver, optimum


def theirs(answer: Any, X: Any, y: np.ndarray, C: float, loss: str, dual: bool, optimum: float) -> None:
    """Put scikit-learn's seconds on the queue ``answer``, once its objective is near enough."""
    from sklearn.svm import LinearSVC

    warnings.simplefilter("ignore")
    answer.put("ready")
    for tol in 10.0 ** -np.arange(0.0, 7.0, 0.5):
        model = LinearSVC(loss=loss, C=C, dual=dual, tol=tol, max_iter=10**9)
        seconds, _ = median_seconds(lambda k, model=model: model.fit(X, y))
        slack = np.maximum(0.0, 1.0 - y * model.decision_function(X))
        losses = slack.sum() if loss == "hinge" else slack @ slack
        length = float(model.coef_.ravel() @ model.coef_.ravel() + model.intercept_[0] ** 2)
        if 0.5 * length + C * losses <= optimum * (1.0 + TARGET):
            answer.put(seconds)
            return


def within(deadline: float, *args: Any) -> float:
    """Return what ``theirs`` answers, or infinity if that takes longer than the deadline."""
    context = multiprocessing.get_context("spawn")  # a fork would leave us with memory that has to be copied at writes
    answer = context.Queue()
    process = context.Process(target=theirs, args=(answer, *args))
    process.start()
    answer.get()
    process.join(deadline)
    if process.is_alive():
        process.kill()
        process.join()
    return inf if answer.empty() else float(answer.get())


def best_engine(X: Any, y: np.ndarray, loss: Any, most: float) -> tuple[float, str]:
    """Return the seconds of the fastest engine, and its name; none gets more than ``most`` seconds."""
    found = list[tuple[float, str]]()
    for solver in names_for(smooth=loss.is_smooth):
        solve(X, y, loss, solver=solver, bias=1.0, max_time=0.2)
        how = {"solver": solver, "bias": 1.0, "gap_tol": TARGET, "max_time": most}
        seconds, solution = median_seconds(lambda k, how=how: solve(X, y, loss, random_state=k, finish=False, **how))
        if solution.converged:
            found.append((seconds, solver))
    return min(found, default=(inf, "none"))


def report(ratios: list[float], worst: Callable[[list[float]], float]) -> None:
    """Print the geometric mean of the ratios, and the worst of them."""
    print(f"{np.exp(np.mean(np.log(ratios))):.2f}x in the geometric mean, {worst(ratios):.2f}x in the worst cell")


def main() -> None:
    """Print one line per cell, and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), help="those whose names begin so")
    parser.add_argument("--c", nargs="+", type=float, default=[0.01, 1.0, 100.0])
    parser.add_argument("--deadline", type=float, default=15.0, help="seconds for scikit-learn's runs in a cell")
    parser.add_argument("--regret", action="store_true", help="compare auto with each engine instead")
    asked = parser.parse_args()
    ratios = list[float]()
    for name in [name for name in SHAPES if any(name.startswith(start) for start in asked.shapes)]:
        X, y = SHAPES[name](np.random.default_rng(3))
        for kind, duals in (("hinge", [True]), ("squared_hinge", [True, False])):
            for C in asked.c:
                loss = Hinge(C) if kind == "hinge" else SquaredHinge(C)
                with threadpool_limits(1):
                    seconds, engines, optimum = ours(X, y, loss)
                    if asked.regret:
                        best, engine = best_engine(X, y, loss, 2.0 + 2.0 * seconds)
                        ratios.append(max(1.0, seconds / best))
                        print(f"{name:42} {kind:13} C {C:<6g} {seconds:.4f} {engines:17} "
                              f"{engine} {best:.4f} {ratios[-1]:.2f}x", flush=True)  # fmt: skip
                        continue
                    peer = min(within(asked.deadline, X, y, C, kind, dual, optimum) for dual in duals)
                bound = peer == inf
                ratios.append((asked.deadline if bound else peer) / seconds)
                shown = f"> {asked.deadline:g}" if bound else f"{peer:.4f}"
                print(f"{name:42} {kind:13} C {C:<6g} {seconds:.4f} {engines:17} scikit-learn {shown:>8} "
                      f"{'>' if bound else ' '}{ratios[-1]:.2f}x", flush=True)  # fmt: skip
    report(ratios, max if asked.regret else min)


if __name__ == "__main__":
    main()
