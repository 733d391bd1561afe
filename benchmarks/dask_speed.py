"""One thread in one process beside a cluster of single-thread worker processes: seconds to the same relative gap.

Rows are resident in both cases: read and checked before the clock starts, and kernels are compiled. Runs alternate, so
that a busy moment of the machine meets both, with the same seed: it decides how many steps dual ascent takes. The time
of the cluster includes scheduling, rounds and the certificate;
``rounds``, ``computing``, ``communicating`` and ``bytes`` are what they were made of.

    python benchmarks/dask_speed.py --data covtype made debian_text debian_paths --loss hinge squared_hinge --c 1
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from datasets import DATA_DIR, load
from distributed import Client, LocalCluster
from threads import made

from hingeline import Hinge, Logistic, SquaredHinge, solve
from hingeline.dask.partitions import Partitions, place
from hingeline.dask.target import Binary
from hingeline.dask.train import hosts_of, train
from hingeline.data.read import read_data
from hingeline.runtime.threads import part_bounds

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}


def on_workers(client: Client, X: Any, y: np.ndarray, n_parts: int) -> Partitions:
    """Return the rows cut into partitions on the workers, as far as possible equally many on each."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    pieces = []
    for k in range(n_parts):
        begin, end = part_bounds(len(y), n_parts, k)
        home = [workers[k * len(workers) // n_parts]]
        pieces.append((*(client.scatter(part[begin:end], workers=home, hash=False) for part in (X, y)), None))
    return place(client, pieces)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["covtype", "made", "debian_text", "debian_paths"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the made data")
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), default=["hinge", "squared_hinge"])
    parser.add_argument("--c", nargs="+", type=float, default=[1.0])
    parser.add_argument("--solver", default="auto", help="of the cluster; one thread is always on auto")
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", nargs="+", type=int, default=[2])
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    columns = "data loss C parts | alone engine | cluster engine iter rounds computing communicating MB gap | ratio"
    print(columns)
    with (
        LocalCluster(n_workers=args.workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for name in args.data:
            X, y = made(args.rows) if name == "made" else load(name, args.data_dir)
            y = np.where(y == np.unique(y)[1], 1, -1)
            data = read_data(X, 0.0)
            for n_parts in args.partitions:
                partitions = on_workers(client, X, y, n_parts)
                hosts = hosts_of(partitions)
                for loss in args.loss:
                    for C in args.c:
                        alone, together = [], []
                        for turn in range(1 + args.repeat):  # the first one compiles and warms up
                            started = perf_counter()
                            one = solve(data, y, LOSSES[loss](C), gap_tol=args.gap, random_state=turn)
                            middle = perf_counter()
                            many = train(
                                partitions,
                                Binary(1),
                                LOSSES[loss](C),
                                gap_tol=args.gap,
                                solver=args.solver,
                                seed=int(np.random.SeedSequence(turn).generate_state(1, np.uint64)[0]),
                            )
                            if turn:
                                alone.append(middle - started)
                                together.append(perf_counter() - middle)
                        ratio = median(a / b for a, b in zip(together, alone, strict=True))
                        cost = hosts.costs
                        print(
                            f"{name} {loss} {C:g} {n_parts} | {median(alone):.3f} {one.solver} | "
                            f"{median(together):.3f} {many.solver} {many.n_iter} {cost.rounds} {cost.computing:.3f} "
                            f"{cost.communicating:.3f} {cost.bytes / 1e6:.2f} {many.certificate.gap:.1e} | {ratio:.2f}",
                            flush=True,
                        )
                del partitions, hosts


if __name__ == "__main__":
    main()
