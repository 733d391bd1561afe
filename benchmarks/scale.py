"""Training at the scale of kdd-b: 19,264,097 x 29,890,095 with 29 non-zeros per row, all 1; hinge, C 0.01, eps 0.1.

Prints the seconds, the seconds per sweep and the peak of the resident set (mapped pages counted) as a multiple of the
bytes of the index array. The data is made in a temporary folder (2.4 GB) unless a dataset folder is given.

    python benchmarks/scale.py [--data FOLDER] [--rows N --cols D --nnz K]
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from memory import resident

from hingeline.io import make_dataset, open_dataset


def main() -> None:
    """Train once and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a dataset, see hingeline convert")
    parser.add_argument("--rows", type=int, default=19_264_097)
    parser.add_argument("--cols", type=int, default=29_890_095)
    parser.add_argument("--nnz", type=int, default=29)
    parser.add_argument("--C", type=float, default=0.01)
    parser.add_argument("--tol", type=float, default=0.1)
    parser.add_argument("--max-iter", type=int)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.data is None:
            make_dataset(Path(folder) / "made", args.rows, args.cols, args.nnz)
        train(args.data or Path(folder) / "made", args)


def train(folder: Path, args: argparse.Namespace) -> None:
    """Open the data, fit, and print."""
    from hingeline import LinearSVC

    warnings.simplefilter("ignore")
    X, y = open_dataset(folder)
    model = LinearSVC(loss="hinge", C=args.C, tol=args.tol, fit_intercept=False, max_iter=args.max_iter, random_state=0)
    started = perf_counter()
    model.fit(X, y)
    wall = perf_counter() - started
    sweeps = np.diff(model.history_["seconds"], prepend=0.0)
    peak = resident("VmHWM")
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.indices.size:,} non-zeros, indices {X.indices.nbytes / 1e9:.2f} GB")
    print(f"{model.solver_}, {model.stop_reason_}: {wall:.1f} s with validation, {model.fit_time_:.1f} s without")
    each = ", ".join(f"{s:.1f}" for s in sweeps)
    print(f"{model.n_iter_} sweeps, {model.n_steps_:,} steps; seconds per sweep: {each}")
    print(f"violation {model.kkt_violation_:.2e}, gap {model.duality_gap_:.2e}")
    print(f"peak resident memory {peak / 1e9:.2f} GB, {peak / X.indices.nbytes:.2f}x the index array")


if __name__ == "__main__":
    main()
