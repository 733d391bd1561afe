"""Workers killed at random moments, over all methods: every fit must end with its certificate, and in reasonable time.

Each fit is done three times: to warm up, undisturbed, and with one worker killed by SIGKILL at a random moment of the
time that the second one took. Rows are made by tasks, which take about as long as reading them would, so Dask can make
them again; that is part of the time. The rows of a killed worker go to the others, and its nanny starts a new one,
which is warm before the next kill. A new worker process imports this file: what is imported within functions does not
keep the cores busy while others train. A kill costs about a second, however long the fit takes (the lost rows are
made again, and the new process imports Dask meanwhile), so fits are to take two to four seconds; --scale makes the
partitions larger or smaller.

    python benchmarks/dask_faults.py --kills 20
"""

from __future__ import annotations

import argparse
import os
import signal
from collections import Counter
from threading import Timer
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster
from scipy import sparse


class Case(NamedTuple):
    """A problem for a method: loss, its C, columns, stored values in a row, rows of a partition, and the gap."""

    loss: str
    C: float
    n_columns: int
    width: int
    n_rows: int
    gap: float


METHODS = {
    "newton": Case("Hinge", 1.0, 400, 400, 25_000, 1e-5),
    "newton_cg": Case("Logistic", 100.0, 20_000, 30, 150_000, 1e-5),
    "cocoa": Case("Hinge", 0.01, 3000, 30, 40_000, 1e-3),
    "one_worker": Case("SquaredHinge", 10.0, 3000, 30, 120_000, 1e-5),
}


def made(k: int, n_rows: int, n_columns: int, width: int) -> tuple[Any, np.ndarray]:
    """Return partition ``k`` of noisy linear data: dense if rows are full."""
    rng = np.random.default_rng(k)
    values = rng.standard_normal(n_rows * width, dtype=np.float32)
    X: Any = values.reshape(n_rows, width)
    if width < n_columns:
        columns = rng.integers(0, n_columns, values.size)
        X = sparse.csr_matrix((values, columns, np.arange(0, values.size + 1, width)), shape=(n_rows, n_columns))
        X.sum_duplicates()
    rule = np.random.default_rng(99).standard_normal(n_columns)
    return X, np.where(X @ rule + 0.5 * width**0.5 * rng.standard_normal(n_rows) > 0.0, 1, -1)


def partitions_of(client: Client, n_parts: int, n_rows: int, n_columns: int, width: int) -> Any:
    """Return partitions that Dask can make again."""
    from hingeline.dask.partitions import place

    rows = [client.submit(made, k, n_rows, n_columns, width, pure=False) for k in range(n_parts)]
    return place(client, [(row, None, None) for row in rows])


def kill_one(client: Client, rng: np.random.Generator) -> None:
    """Kill one of the workers."""
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[int(rng.integers(len(pids)))]], signal.SIGKILL)


def main() -> None:
    """Kill workers, and print what became of the fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--scale", type=float, default=1.0, help="of the partitions, two for each worker")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    outcomes: Counter[str] = Counter()
    with (
        LocalCluster(
            n_workers=args.workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        for kill in range(args.kills):
            method = args.methods[kill % len(args.methods)]
            client.wait_for_workers(args.workers, timeout=120)
            text, good, ratio = outcome(client, method, 2 * args.workers, args.scale, rng)
            outcomes["not certified"] += not good
            outcomes["longer than twice the time"] += ratio > 2.0
            print(f"{kill + 1:3d} {method:10s} {text}", flush=True)
    print(f"of {args.kills} kills:", ", ".join(f"{n} {what}" for what, n in outcomes.items()))


def outcome(
    client: Client, method: str, n_parts: int, scale: float, rng: np.random.Generator
) -> tuple[str, bool, float]:
    """Train undisturbed and with a kill, and say what became of it, whether it is certified, and the ratio of times."""
    import hingeline
    from hingeline.dask.target import Binary
    from hingeline.dask.train import hosts_of, train

    name, C, n_columns, width, n_rows, gap = METHODS[method]
    loss = getattr(hingeline, name)(C)
    partitions = partitions_of(client, n_parts, round(scale * n_rows), n_columns, width)
    hosts_of(partitions)
    seconds: list[float] = []
    for disturbed in (False, False, True):
        timer = Timer(float(rng.uniform(0.0, seconds[-1])) if disturbed else 0.0, kill_one, [client, rng])
        started = perf_counter()
        if disturbed:
            timer.start()
        found = train(partitions, Binary(1), loss, solver=method, gap_tol=gap)
        seconds.append(perf_counter() - started)
    timer.join()
    good, ratio = found.certificate.gap <= gap and found.stop_reason == "gap_tol", seconds[2] / seconds[1]
    text = (
        f"{'ok' if good else 'NOT CERTIFIED'} gap {found.certificate.gap:.1e}, undisturbed {seconds[1]:.2f} s, with a "
        f"kill after {timer.interval:.2f} s: {seconds[2]:.2f} s ({ratio:.1f}x)"
    )
    return text, good, ratio


if __name__ == "__main__":
    main()
