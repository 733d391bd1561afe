"""The same optimum for any number of partitions: relative suboptimality of models trained on a cluster.

P is the objective at the weights, D the best lower bound of the optimum that one machine certifies (gap 1e-8). The last
column says whether (P - D) / P is at most the gap that was asked for. With ``--record`` every fit is written down as it
ends, and fits that a file has already are left out: a long run can be done in pieces.

    python benchmarks/dask_optimum.py --data a9a covtype --c 0.01 1 100 --partitions 1 2 5 16 --record optimum.jsonl
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from dask_speed import LOSSES, on_workers
from datasets import DATA_DIR, load
from distributed import Client, LocalCluster

from hingeline import solve
from hingeline.dask.partitions import Partitions
from hingeline.dask.target import Binary
from hingeline.dask.train import train
from hingeline.data.read import read_data

TIGHT = 1e-8


def main() -> None:
    """Train, compare, and print a line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["covtype", "a9a", "debian_text", "debian_paths", "nycflights"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    parser.add_argument("--c", nargs="+", type=float, default=[0.01, 1.0, 100.0])
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", nargs="+", type=int, default=[1, 2, 5, 16])
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--max-time", type=float, default=600.0, help="seconds for the bound of one machine")
    parser.add_argument("--record", type=Path, help="file of one JSON line for each fit")
    args = parser.parse_args()
    fits = list(map(json.loads, args.record.read_text().splitlines())) if args.record and args.record.exists() else []
    done = {(fit["data"], fit["loss"], fit["C"], fit["partitions"]) for fit in fits}
    print("data loss C partitions | method seconds gap suboptimality | within the gap?")
    with (
        LocalCluster(n_workers=args.workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for name in args.data:
            X, y = load(name, args.data_dir)
            y = np.where(y == np.unique(y)[1], 1, -1)
            data = read_data(X, 0.0)
            placed: dict[int, Partitions] = {}
            for loss, C in product(args.loss, args.c):
                left = [n for n in args.partitions if (name, loss, C, n) not in done]
                if not left:
                    continue
                known = solve(data, y, LOSSES[loss](C), gap_tol=TIGHT, max_time=args.max_time).certificate
                for n in left:
                    if n not in placed:
                        placed[n] = on_workers(client, X, y, n)
                    started = perf_counter()
                    found = train(placed[n], Binary(1), LOSSES[loss](C), gap_tol=args.gap, solver=args.solver)
                    seconds = perf_counter() - started
                    above = (found.certificate.primal - known.dual) / found.certificate.primal
                    fits.append({"data": name, "loss": loss, "C": C, "partitions": n, "above": above, "gap": args.gap})
                    if args.record:
                        with args.record.open("a") as file:
                            print(json.dumps(fits[-1]), file=file)
                    print(
                        f"{name} {loss} {C:g} {n} | {found.solver} {seconds:.2f} {found.certificate.gap:.1e} "
                        f"{above:.1e} | {'yes' if above <= args.gap else 'NO'}",
                        flush=True,
                    )
    missed = sum(fit["above"] > fit["gap"] for fit in fits)
    print(f"{missed} of {len(fits)} fits missed their gap")


if __name__ == "__main__":
    main()
