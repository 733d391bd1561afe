"""What a fit on a cluster takes of the client's memory: it must not depend on the number of rows.

The workers make their rows themselves. The scheduler and the workers are processes of their own, started by Dask's
commands; the peak of the client's resident memory is sampled during ``fit``, beyond what it had before.

    python benchmarks/dask_memory.py --rows 1_000_000 10_000_000
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np
from dask.delayed import delayed
from distributed import Client

from hingeline.dask import LinearSVC

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Return the bytes of this process that are in memory (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def made(k: int, n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a partition."""
    random = np.random.default_rng(k)
    X = random.standard_normal((n_rows, n_columns), dtype=np.float32)
    return X, np.where(X[:, 0] + random.standard_normal(n_rows, dtype=np.float32) > 0.0, 1, -1)


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    """Start a scheduler and workers, and yield a client of them."""
    with tempfile.TemporaryDirectory() as folder:
        file, dask = str(Path(folder) / "scheduler.json"), [sys.executable, "-m", "dask"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        worker = [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        commands = [[*dask, "scheduler", "--scheduler-file", file, "--port", "0", "--no-dashboard"]]
        started = [subprocess.Popen(command, **quiet) for command in commands + n_workers * [worker]]
        try:
            with Client(scheduler_file=file, timeout="60s") as client:
                client.wait_for_workers(n_workers, timeout=60)
                yield client
        finally:
            for process in started:
                process.kill()
                process.wait()


def peak_during(function: Any) -> tuple[Any, int]:
    """Return what a function returns, and the most that the process has grown meanwhile."""
    before, ended = resident(), Event()
    peak = [before]

    def watch() -> None:
        while not ended.wait(0.005):
            peak[0] = max(peak[0], resident())

    thread = Thread(target=watch)
    thread.start()
    try:
        return function(), peak[0] - before
    finally:
        ended.set()
        thread.join()


def main() -> None:
    """Fit data of several sizes, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--loss", default="hinge")
    args = parser.parse_args()
    print("rows | client grew by (MB) | seconds, gap")
    with cluster(args.workers) as client:
        for n_rows in (1000, *args.rows):  # the first fit imports and compiles
            each = n_rows // args.partitions
            parts = [delayed(made)(k, each, args.columns) for k in range(args.partitions)]
            model = LinearSVC(loss=args.loss, gap_tol=1e-3, client=client)
            started = perf_counter()
            _, grown = peak_during(lambda model=model, parts=parts: model.fit(parts))
            seconds = perf_counter() - started
            if n_rows > 1000:
                print(f"{n_rows} | {grown / 1e6:.1f} | {seconds:.1f} {model.duality_gap_:.1e}", flush=True)


if __name__ == "__main__":
    main()
