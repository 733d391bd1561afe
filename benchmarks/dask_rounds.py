"""What rounds on a cluster cost: how many there are, their bytes, and seconds computing and communicating.

Each number of partitions has as many workers, processes of this machine with one thread each. Rounds and bytes are
those of any cluster; seconds are this machine's, and with more workers than cores they say little. Without ``--solver``
the method is what "auto" would take if the rows did not fit on one worker. ``--json`` writes every round, for
``dask_simulation.py``.

    python benchmarks/dask_rounds.py --data a9a covtype --partitions 1 2 4 8 --json rounds.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from dask_speed import LOSSES, on_workers
from datasets import DATA_DIR, load
from distributed import Client, LocalCluster
from threads import made

from hingeline.dask import calls
from hingeline.dask.merge import n_bytes
from hingeline.dask.target import Binary
from hingeline.dask.train import train
from hingeline.solvers.newton.directions import LARGEST_FACTOR


@contextmanager
def recording(trace: list[dict[str, Any]]) -> Iterator[None]:
    """Note every round: its seconds, those of the slowest worker, how many workers were asked, and bytes of one."""
    ask, add = calls.Calls._asked, calls.Costs.add
    asked: list[tuple[int, int]] = []

    async def noting(self: Any, place: Any, watched: Any, function: str, *args: Any) -> Any:
        reply = await ask(self, place, watched, function, *args)
        asked.append((calls.sent(args), n_bytes(reply.values)))
        return reply

    def closing(self: Any, seconds: float, computing: float, total: int) -> None:
        down, up = (max(sizes) for sizes in zip(*asked, strict=True))
        trace.append({"seconds": seconds, "computing": computing, "hosts": len(asked), "down": down, "up": up})
        asked.clear()
        add(self, seconds, computing, total)

    calls.Calls._asked, calls.Costs.add = noting, closing  # type: ignore[method-assign]
    try:
        yield
    finally:
        calls.Calls._asked, calls.Costs.add = ask, add  # type: ignore[method-assign]


def by_rounds(loss: str, n_columns: int) -> str:
    """Return the method for rows that stay where they are."""
    if n_columns < LARGEST_FACTOR:
        return "newton"
    return "newton_cg" if LOSSES[loss].is_smooth else "cocoa"


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["a9a", "covtype", "debian_text"])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the made data")
    parser.add_argument("--columns", type=int, default=28, help="columns of the made data")
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), default=["hinge", "squared_hinge"])
    parser.add_argument("--c", nargs="+", type=float, default=[1.0])
    parser.add_argument("--solver", choices=("newton", "newton_cg", "cocoa"))
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--partitions", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--json", type=Path, help="file for every round of every fit")
    args = parser.parse_args()
    fits = []
    print("data loss C partitions | method iterations rounds | MB in all, kB per worker and round | computing rest gap")
    for n_parts in args.partitions:
        with (
            LocalCluster(n_workers=n_parts, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            for name in args.data:
                X, y = made(args.rows, args.columns) if name == "made" else load(name, args.data_dir)
                y = np.where(y == np.unique(y)[1], 1, -1)
                partitions = on_workers(client, X, y, n_parts)
                for loss in args.loss:
                    for C in args.c:
                        for _ in range(2):  # the first fit compiles and warms up
                            trace: list[dict[str, Any]] = []
                            with recording(trace):
                                solver = args.solver or by_rounds(loss, X.shape[1])
                                found = train(partitions, Binary(1), LOSSES[loss](C), gap_tol=args.gap, solver=solver)
                        last = found.history[-1]
                        sent = sum(r["hosts"] * (r["down"] + r["up"]) for r in trace)
                        each = sum(r["down"] + r["up"] for r in trace) / max(1, len(trace))
                        print(
                            f"{name} {loss} {C:g} {n_parts} | {found.solver} {found.n_iter} {len(trace)} | "
                            f"{sent / 1e6:.2f} {each / 1e3:.2f} | {last['computing']:.3f} {last['communicating']:.3f} "
                            f"{found.certificate.gap:.1e}",
                            flush=True,
                        )
                        about = {"data": name, "rows": X.shape[0], "columns": X.shape[1], "loss": loss, "C": C}
                        stored = int(X.nnz if hasattr(X, "nnz") else X.size)
                        about |= {"stored": stored, "partitions": n_parts, "method": found.solver}
                        fits.append({**about, "rounds": trace})
                del partitions
    if args.json:
        args.json.write_text(json.dumps(fits))
        print(f"written to {args.json}")


if __name__ == "__main__":
    main()
