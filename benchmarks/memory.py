"""Peak resident memory that ``fit`` adds, as a multiple of the bytes of X (float32 CSR with int32 indices).

Each fit runs in a process of its own: the data is loaded, a tiny fit loads the compiled kernels, then the peak of the
resident set during the fit (VmHWM, reset before) is compared with the resident set just before. ``search`` is a
LinearSVCCV over two C, and ``sklearn`` scikit-learn's LinearSVC, for comparison. The last column is the whole process
at its peak, data included, beside that of the first fit.

    python benchmarks/memory.py --data debian_paths --times 2
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DATA_DIR, load
from scipy import sparse

LOSSES = {"newton_cg": "squared_hinge"}  # of engines that do not train the hinge
KINDS = ("auto", "hybrid", "avsf", "baseline", "newton", "newton_cg", "search", "sklearn")


def resident(field: str) -> int:
    """Return VmRSS or VmHWM of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status")


def estimator(kind: str, sweeps: int) -> Any:
    """Return what is fitted."""
    from sklearn.svm import LinearSVC as SklearnLinearSVC

    from hingeline import LinearSVC, LinearSVCCV

    how = {"loss": LOSSES.get(kind, "hinge"), "max_iter": sweeps, "random_state": 0}
    if kind == "sklearn":
        return SklearnLinearSVC(C=1.0, dual=True, **how)
    if kind == "search":
        return LinearSVCCV(Cs=[0.1, 1.0], cv=5, early_stopping=False, **how)
    return LinearSVC(C=1.0, solver=kind, **how)


def measure(kind: str, args: argparse.Namespace) -> dict[str, float]:
    """Fit once in this process and return the bytes of X, those added at the peak, and those of the whole process."""
    warnings.simplefilter("ignore")
    X, y = load(args.data, args.data_dir, np.float32)
    if args.times > 1:
        X, y = sparse.vstack([X] * args.times, format="csr"), np.tile(y, args.times)
    model = estimator(kind, args.sweeps)
    tiny = sparse.csr_matrix(X[:50])
    tiny.data[:] = X.data[: tiny.nnz]
    model.fit(tiny, np.resize([-1.0, 1.0], 50))
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident("VmRSS")
    model.fit(X, y)
    peak, size = resident("VmHWM"), X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return {"bytes": size, "added": peak - before, "peak": peak}


def main() -> None:
    """Print bytes and ratios for each engine, a search, and scikit-learn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="debian_paths")
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--times", type=int, default=1, help="how often the rows are repeated")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args)))
        return
    first = 0.0
    for kind in args.kinds:
        answer = subprocess.run(
            [sys.executable, *sys.argv, "--measure", kind], check=True, capture_output=True, text=True
        )
        found = json.loads(answer.stdout.splitlines()[-1])
        first = first or found["peak"]
        print(
            f"{kind:>10} on {args.data}: X {found['bytes'] / 1e6:.0f} MB, fit adds {found['added'] / 1e6:.0f} MB, "
            f"{found['added'] / found['bytes']:.2f}x; the process {found['peak'] / first:.2f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
