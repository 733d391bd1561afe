"""Cost of a step: avsf compared with LIBLINEAR's loop as scikit-learn builds it, one thread, warm, in one run.

Both are differences of two runs, so that set-up, validation and copies cancel: LinearSVC(loss="hinge") at max_iter 4
minus max_iter 1 (three sweeps, warm), ours the same. Medians over --repeat rounds that alternate between the two.

    python benchmarks/step_cost.py covtype debian_text nycflights debian_paths
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from datasets import DATA_DIR, load
from scipy import sparse
from sklearn.svm import LinearSVC as SklearnLinearSVC

import hingeline

LONG, SHORT = 4, 1


def seconds(fit: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = perf_counter()
    fit()
    return perf_counter() - started


def ours(X: sparse.csr_matrix, y: np.ndarray, solver: str, max_iter: int) -> Callable[[], object]:
    """Return a fit of ``max_iter`` sweeps."""
    return lambda: hingeline.solve(
        X, y, hingeline.Hinge(C=1.0), solver=solver, tol=1e-12, max_iter=max_iter, random_state=0
    )


def theirs(X: sparse.csr_matrix, y: np.ndarray, max_iter: int) -> Callable[[], object]:
    """Return a fit of ``max_iter`` of LIBLINEAR's sweeps."""
    model = SklearnLinearSVC(
        loss="hinge", fit_intercept=False, C=1.0, tol=1e-12, max_iter=max_iter, random_state=0, dual=True
    )
    return lambda: model.fit(X, y)


def difference(fits: dict[int, Callable[[], object]], rounds: int) -> float:
    """Median of long minus short, each the best of two neighbouring tries (a busy machine only ever adds)."""
    tries = [
        min(seconds(fits[LONG]) for _ in range(2)) - min(seconds(fits[SHORT]) for _ in range(2)) for _ in range(rounds)
    ]
    return float(np.median(tries))


def main() -> None:
    """Print nanoseconds per step and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["covtype", "debian_text", "nycflights", "debian_paths"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'data':>14} {'LIBLINEAR':>10} {'avsf f64':>9} {'ratio':>6} {'avsf f32':>9} {'ratio':>6}  (ns per step)")
    for name in args.names:
        X, y = load(name, args.data_dir)
        X32 = sparse.csr_matrix((X.data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
        steps = (LONG - SHORT) * X.shape[0]
        reference = {n: theirs(X, y, n) for n in (LONG, SHORT)}
        runs = [{n: ours(Z, y, "avsf", n) for n in (LONG, SHORT)} for Z in (X, X32)]
        for fits in (reference, *runs):
            fits[SHORT]()
        cost = [difference(fits, args.repeat) / steps * 1e9 for fits in (reference, *runs)]
        print(
            f"{name:>14} {cost[0]:>10.0f} {cost[1]:>9.0f} {cost[1] / cost[0]:>6.2f} "
            f"{cost[2]:>9.0f} {cost[2] / cost[0]:>6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
