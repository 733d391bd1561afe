"""What each measure against waiting for memory is worth: nanoseconds per step of avsf with one of them left out.

Variants are built here, by replacing one part before anything is compiled, each in its own process and cache; rounds
alternate between the variants, and the best one counts (a busy machine only ever adds).

    python benchmarks/step_features.py nycflights debian_paths
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from datasets import DATA_DIR, load
from scipy import sparse

LONG, SHORT = 5, 1
HUGE_PAGES = "NUMPY_MADVISE_HUGEPAGE"  # NumPy asks for large pages by itself, unless told not to


def without_prefetch() -> None:
    """Replace the look-ahead by nothing."""
    from hingeline.kernels.compile import kernel
    from hingeline.solvers.dual import avsf

    @kernel
    def look_ahead(rows: Any, alpha: Any, y: Any, w: Any, order: Any, k: Any) -> None:
        pass

    avsf.look_ahead = look_ahead


def unpacked() -> None:
    """Give every number of a variable an array of its own."""
    from hingeline.kernels.variables import Variables, record
    from hingeline.solvers import state

    def new_variables(n: int, targets: bool, same_C: bool) -> Variables:
        arrays = {name: np.zeros(n, dtype=record(targets)[name]) for name in Variables._fields}
        arrays["p"][:] = 1.0
        return Variables(**arrays)

    state.new_variables = new_variables


def as_float64(X: Any) -> Any:
    """Values stored in eight bytes, and read."""
    X = sparse.csr_matrix((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if X.nnz and (X.data == 1.0).all():
        X.data[0] = 1.0 + 1e-15  # no longer all ones
    return X


def as_float32(X: Any) -> Any:
    """Values stored in four bytes, and read."""
    X = sparse.csr_matrix((X.data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
    if X.nnz and (X.data == 1.0).all():
        X.data[0] = np.float32(1.0 + 1e-6)
    return X


def as_it_is(X: Any) -> Any:
    """Values as the data set has them; all ones are not read."""
    return X


def renumbered(X: Any) -> Any:
    """Features by falling frequency, so that frequent ones share cache lines of w."""
    rank = np.empty(X.shape[1], dtype=X.indices.dtype)
    rank[np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")] = np.arange(X.shape[1])
    X = sparse.csr_matrix((X.data, rank[X.indices], X.indptr), shape=X.shape)
    X.sort_indices()
    return X


VARIANTS: dict[str, tuple[list[Callable[[], None]], Callable[[Any], Any], dict[str, str]]] = {
    "as it is": ([], as_it_is, {}),
    "float32 values": ([], as_float32, {}),
    "float64 values": ([], as_float64, {}),
    "no prefetch": ([without_prefetch], as_it_is, {}),
    "unpacked state": ([unpacked], as_it_is, {}),
    "small pages": ([], as_it_is, {HUGE_PAGES: "0"}),
    "renumbered": ([], renumbered, {}),
}


def measure(variant: str, name: str, data_dir: Path) -> float:
    """Return nanoseconds per step, from a long and a short run."""
    import hingeline

    patches, layout, _ = VARIANTS[variant]
    for patch in patches:
        patch()
    X, y = load(name, data_dir)
    X = layout(X)

    def fit(max_iter: int) -> tuple[float, int]:
        started = perf_counter()
        solution = hingeline.solve(
            X, y, hingeline.Hinge(C=1.0), solver="avsf", tol=1e-12, max_iter=max_iter, random_state=0
        )
        return perf_counter() - started, solution.n_steps

    fit(SHORT)
    (long, steps), (short, fewer) = (min(fit(n) for _ in range(3)) for n in (LONG, SHORT))
    return 1e9 * (long - short) / (steps - fewer)


def main() -> None:
    """Print a table, or do one variant for the process that asks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["nycflights", "debian_paths", "debian_text", "covtype"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--variant", choices=list(VARIANTS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.variant:
        print(json.dumps(measure(args.variant, args.names[0], args.data_dir)))
        return
    print(f"{'data':>14} " + " ".join(f"{variant:>15}" for variant in VARIANTS) + "  (ns per step)")
    with tempfile.TemporaryDirectory() as caches:
        for name in args.names:
            found: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
            for _ in range(args.repeat):
                for variant, (_, _, environment) in VARIANTS.items():
                    command = [sys.executable, __file__, name, "--data-dir", str(args.data_dir), "--variant", variant]
                    cache = {"NUMBA_CACHE_DIR": str(Path(caches) / variant.replace(" ", "-"))}
                    done = subprocess.run(
                        command, env=os.environ | cache | environment, check=True, capture_output=True, text=True
                    )
                    found[variant].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{name:>14} " + " ".join(f"{min(values):>15.0f}" for values in found.values()), flush=True)


if __name__ == "__main__":
    main()
