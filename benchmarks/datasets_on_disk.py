"""What converting text costs, and what renumbering features by frequency would bring.

    python benchmarks/datasets_on_disk.py convert --data debian_paths --memory 256M
    python benchmarks/datasets_on_disk.py renumber --data nycflights

``convert`` runs in a separate process, warm: seconds, and peak resident memory compared with that of a tiny conversion
(the program itself). ``renumber`` trains on the unchanged data and with features sorted by frequency, in turns, and
prints processor time per step: the ratio has been 0.86 to 1.10, medians 0.97 to 1.05, too little to justify a map from
new numbers to old ones in every dataset and every model.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DATA_DIR, load
from scipy import sparse

from hingeline import Hinge, solve
from hingeline.bench.datasets import find
from hingeline.cli.options import byte_size
from hingeline.io.dataset.convert import convert


def converted(text: Path, memory: int) -> None:
    """Convert a tiny text, then ``text``; print seconds and peaks."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny"
        tiny.write_text("1 1:1 2:0.5\n-1 1:0.1\n")
        convert(tiny, Path(folder) / "a", memory=memory)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        description = convert(text, Path(folder) / "b", memory=memory)
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{text.name}: {description.nonzeros:,} non-zeros, {seconds:.2f} s; peak {peak / 1024:.0f} MB, "
        f"{(peak - before) / 1024:.0f} MB of it for the data"
    )


def by_frequency(X: Any) -> Any:
    """Return ``X`` with its columns sorted by how often they occur."""
    order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    new = np.empty(order.size, np.int32)
    new[order] = np.arange(order.size, dtype=np.int32)
    Z = sparse.csr_matrix((X.data.copy(), new[X.indices], X.indptr.copy()), shape=X.shape)
    Z.sort_indices()
    return Z


def renumbered(name: str, data_dir: Path, C: float, sweeps: int, turns: int) -> None:
    """Print nanoseconds of processor time per step, unchanged and renumbered."""
    warnings.simplefilter("ignore")
    X, y = load(name, data_dir, np.float32)
    ratios = []
    for turn in range(turns + 1):
        cost = []
        for M in (X, by_frequency(X)):
            began = time.thread_time()
            s = solve(M, y, loss=Hinge(C=C), solver="hybrid", max_iter=sweeps, tol=1e-9, random_state=0)
            cost.append((time.thread_time() - began) / s.n_steps * 1e9)
        if turn:  # the first one compiles
            ratios.append(cost[1] / cost[0])
            print(f"unchanged {cost[0]:.0f} ns per step, renumbered {cost[1]:.0f}: ratio {ratios[-1]:.3f}", flush=True)
    print(f"{name}, C {C:g}: median ratio {np.median(ratios):.3f}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("convert", "renumber"))
    parser.add_argument("--data", default="debian_paths")
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--memory", type=byte_size, default="256M")
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--sweeps", type=int, default=8)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.what == "renumber":
        renumbered(args.data, args.data_dir, args.c, args.sweeps, args.turns)
    elif args.here:
        there, missing = find(args.data_dir, [args.data])
        if missing:
            raise SystemExit(f"{args.data} is not in {args.data_dir}")
        converted(there[0].path, args.memory)
    else:
        subprocess.run([sys.executable, *sys.argv, "--here"], check=True)


if __name__ == "__main__":
    main()
