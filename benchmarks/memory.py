"""Peak resident memory that ``fit`` adds, as a multiple of the bytes of X (float32 CSR with int32 indices).

Each fit runs in a separate process: the data is loaded, a tiny fit loads the compiled kernels, and then the peak of the
resident set during the fit (VmHWM, reset before) is compared with the resident set just before.

    python benchmarks/memory.py --data debian_paths --solver avsf
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from datasets import DATA_DIR, load
from scipy import sparse


def resident(field: str) -> int:
    """Return VmRSS or VmHWM of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status")


def measure(library: str, name: str, data_dir: Path, solver: str, sweeps: int) -> dict[str, float]:
    """Fit once in this process and return bytes of X and bytes added at the peak."""
    warnings.simplefilter("ignore")
    X, y = load(name, data_dir, np.float32)
    if library == "hingeline":
        from hingeline import LinearSVC

        model = LinearSVC(loss="hinge", C=1.0, solver=solver, max_iter=sweeps, random_state=0)
    else:
        from sklearn.svm import LinearSVC as SklearnLinearSVC

        model = SklearnLinearSVC(loss="hinge", C=1.0, max_iter=sweeps, random_state=0, dual=True)
    tiny = sparse.csr_matrix(X[:50])
    tiny.data[:] = X.data[: tiny.nnz]
    labels = np.resize([-1.0, 1.0], 50)
    model.fit(tiny, labels)
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident("VmRSS")
    model.fit(X, y)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return {"bytes": size, "added": resident("VmHWM") - before}


def main() -> None:
    """Print bytes and ratios for hingeline and scikit-learn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="debian_paths")
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--solver", default="avsf")
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.data, args.data_dir, args.solver, args.sweeps)))
        return
    for library in ("hingeline", "sklearn"):
        answer = subprocess.run(
            [sys.executable, *sys.argv, "--measure", library], check=True, capture_output=True, text=True
        )
        found = json.loads(answer.stdout.splitlines()[-1])
        print(
            f"{library:>10} on {args.data}: X {found['bytes'] / 1e6:.0f} MB, fit adds {found['added'] / 1e6:.0f} MB, "
            f"{found['added'] / found['bytes']:.2f}x"
        )


if __name__ == "__main__":
    main()
