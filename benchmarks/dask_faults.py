"""Workers killed at random moments, over all methods: every fit must end with its certificate, and in reasonable time.

Each fit is done twice: undisturbed, and with one worker killed by SIGKILL at a random moment of the time that the first
one took. Rows are made by tasks, so Dask can make them again; that is part of the time. Every kill has a cluster of its
own.

    python benchmarks/dask_faults.py --kills 20
"""

from __future__ import annotations

import argparse
import os
import signal
from threading import Timer
from time import perf_counter

import numpy as np
from distributed import Client, LocalCluster
from scipy import sparse

from hingeline import Hinge, Logistic, SquaredHinge
from hingeline.dask.partitions import Partitions, place
from hingeline.dask.target import Binary
from hingeline.dask.train import hosts_of, train

METHODS = {
    "newton": (Hinge(1.0), 40, 1.0),
    "newton_cg": (Logistic(1.0), 3000, 0.01),
    "cocoa": (Hinge(0.1), 3000, 0.01),
    "one_worker": (SquaredHinge(1.0), 3000, 0.01),
}


def made(k: int, n_rows: int, n_columns: int, density: float) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return partition ``k`` of noisy linear data."""
    rng = np.random.default_rng(k)
    X = sparse.random(n_rows, n_columns, density, format="csr", random_state=rng)
    rule = np.random.default_rng(99).standard_normal(n_columns)
    return X, np.where(X @ rule + 0.3 * rng.standard_normal(n_rows) > 0.0, 1, -1)


def partitions_of(client: Client, n_rows: int, n_columns: int, density: float) -> Partitions:
    """Return four partitions that Dask can make again."""
    return place(
        client, [(client.submit(made, k, n_rows, n_columns, density, pure=False), None, None) for k in range(4)]
    )


def kill_one(client: Client, rng: np.random.Generator) -> None:
    """Kill one of the workers."""
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[int(rng.integers(len(pids)))]], signal.SIGKILL)


def main() -> None:
    """Kill workers, and print what became of the fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=50_000, help="of each of four partitions")
    parser.add_argument("--gap", type=float, default=1e-5)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    for kill in range(args.kills):
        method = args.methods[kill % len(args.methods)]
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            print(f"{kill + 1:3d} {method:10s} {outcome(client, method, args.rows, args.gap, rng)}", flush=True)


def outcome(client: Client, method: str, n_rows: int, gap: float, rng: np.random.Generator) -> str:
    """Train undisturbed and with a kill, and say what became of it."""
    loss, n_columns, density = METHODS[method]
    partitions = partitions_of(client, n_rows, n_columns, density)
    hosts_of(partitions)
    seconds: list[float] = []
    for disturbed in (False, False, True):  # the first one warms up
        timer = Timer(float(rng.uniform(0.0, seconds[-1])) if disturbed else 0.0, kill_one, [client, rng])
        started = perf_counter()
        if disturbed:
            timer.start()
        found = train(partitions, Binary(1), loss, solver=method, gap_tol=gap)
        seconds.append(perf_counter() - started)
    timer.join()
    good = found.certificate.gap <= gap and found.stop_reason == "gap_tol"
    return (
        f"{'ok' if good else 'NOT CERTIFIED'} gap {found.certificate.gap:.1e}, undisturbed {seconds[1]:.2f} s, with a "
        f"kill after {timer.interval:.2f} s: {seconds[2]:.2f} s ({seconds[2] / seconds[1]:.1f}x)"
    )


if __name__ == "__main__":
    main()
