"""Replays the rounds that ``dask_rounds.py`` has recorded on a cluster that is not there.

A round takes the time to reach all workers, to compute on the slowest one, and to add up their answers:

- Seconds of computing are those that were measured, in proportion to the stored values that a worker holds.
- Up to 3 workers, and for small answers, the client talks to every worker: its connection carries all bytes.
- Otherwise messages go down a binary tree of workers and answers go up, as ``hingeline.dask.rounds`` does it: each
  level costs a latency and the bytes of two workers.

First it says how well this describes what was measured here: latency and bandwidth of this machine are fitted to the
rounds of the fits with the fewest workers, and all others are predicted. Then it replays for ``--workers``, beside what
the formula of docs/dask.md says on paper: as many rounds, all with the mean bytes. With ``--ns`` a pass over a stored
value takes so many nanoseconds on a worker, instead of what was measured.

    python benchmarks/dask_rounds.py --data made debian_paths --partitions 2 4 --json rounds.json
    python benchmarks/dask_simulation.py rounds.json --fits made --stored 2.5e11 --ns 0.1  # 1 TB of float32
    python benchmarks/dask_simulation.py rounds.json --fits debian_paths --stored 5.66e8 --columns 29890095 --ns 0.3
"""

from __future__ import annotations

import argparse
import json
from math import ceil, log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hingeline.dask.rounds import TREE_BYTES, TREE_HOSTS


class Network(NamedTuple):
    """What messages cost."""

    latency: float  # seconds of a message, Dask's share included
    bandwidth: float  # bytes per second of one machine's connection
    per_host: float = 0.0  # seconds that the client is busy with each worker

    def seconds(self, down: float, up: float, hosts: int) -> float:
        """Return the seconds that a round communicates."""
        if hosts >= TREE_HOSTS and up >= TREE_BYTES:
            depth = ceil(log2(hosts + 1))
            return 2.0 * self.latency * (depth + 1) + (2.0 * depth + 1.0) * (down + up) / self.bandwidth
        return 2.0 * self.latency + hosts * (self.per_host + (down + up) / self.bandwidth)


def fitted(fits: list[dict[str, Any]]) -> Network:
    """Return the network that describes measured rounds best, by least squares of relative errors."""
    rounds = [r for fit in fits for r in fit["rounds"]]
    rest = np.array([max(1e-4, r["seconds"] - r["computing"]) for r in rounds])
    hosts = np.array([r["hosts"] for r in rounds], dtype=float)
    sent = np.array([r["hosts"] * (r["down"] + r["up"]) for r in rounds], dtype=float)
    columns = np.column_stack([np.full(rest.size, 2.0), sent, hosts])
    found = np.linalg.lstsq(columns / rest[:, None], np.ones(rest.size), rcond=None)[0]
    latency, per_byte, per_host = np.maximum(found, [1e-5, 1e-11, 0.0])
    return Network(float(latency), float(1.0 / per_byte), float(per_host))


def replayed(fit: dict[str, Any], network: Network, hosts: int, to: argparse.Namespace) -> tuple[float, float]:
    """Return seconds computing and communicating of a fit, round by round, on so many workers with other data."""
    stored, times_bytes = to.stored or fit["stored"], (to.columns or fit["columns"]) / fit["columns"]
    if to.ns is None:
        computing = sum(r["computing"] for r in fit["rounds"]) * stored / fit["stored"] * fit["partitions"] / hosts
    else:
        computing = len(fit["rounds"]) * 1e-9 * to.ns * stored / hosts
    rest = sum(network.seconds(times_bytes * r["down"], times_bytes * r["up"], hosts) for r in fit["rounds"])
    return computing, rest


def on_paper(fit: dict[str, Any], network: Network, hosts: int, to: argparse.Namespace) -> float:
    """Return the seconds of a fit by the formula: all rounds are alike."""
    rounds = fit["rounds"]
    down, up = (sum(r[way] for r in rounds) / len(rounds) for way in ("down", "up"))
    mean = {**fit, "rounds": [{"computing": sum(r["computing"] for r in rounds), "down": down, "up": up}]}
    computing, _ = replayed(fit, network, hosts, to)
    return computing + len(rounds) * replayed(mean, network, hosts, to)[1]


def main() -> None:
    """Check the model on what was measured, then print what it says about other clusters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=Path, help="what dask_rounds.py --json has written")
    parser.add_argument("--workers", nargs="+", type=int, default=[16, 64, 256])
    parser.add_argument("--fits", nargs="+", help="data sets whose fits are replayed (default: all)")
    parser.add_argument("--stored", type=float, help="stored values (default: those that were measured)")
    parser.add_argument("--columns", type=float, help="features; bytes grow with them (default: likewise)")
    parser.add_argument("--ns", type=float, help="nanoseconds of a worker for a stored value in a round (likewise)")
    parser.add_argument("--gbit", type=float, default=10.0, help="bandwidth of a connection, Gbit/s")
    parser.add_argument("--latency", type=float, default=1e-3, help="seconds of a message, Dask's share included")
    args = parser.parse_args()
    fits = json.loads(args.rounds.read_text())
    fewest = min(fit["partitions"] for fit in fits)
    here = fitted([fit for fit in fits if fit["partitions"] == fewest])
    print(f"this machine: {here.latency * 1e3:.2f} ms per message, {here.bandwidth / 1e9:.2f} GB/s")
    print("data loss C partitions | rounds | communicating: measured, predicted")
    for fit in fits:
        measured = sum(r["seconds"] - r["computing"] for r in fit["rounds"])
        predicted = sum(here.seconds(r["down"], r["up"], r["hosts"]) for r in fit["rounds"])
        print(
            f"{fit['data']} {fit['loss']} {fit['C']:g} {fit['partitions']} | {len(fit['rounds'])} | "
            f"{measured:.3f} {predicted:.3f}"
        )
    network = Network(args.latency, args.gbit * 1e9 / 8.0)
    print(f"\n{args.gbit:g} Gbit/s, {args.latency * 1e3:g} ms for a message")
    print("| data, loss, C | method | rounds | workers | computing | communicating | seconds | on paper |")
    print("|---|---|---|---|---|---|---|---|")
    most = max(fit["partitions"] for fit in fits)
    for fit in fits:
        if fit["partitions"] != most or (args.fits and fit["data"] not in args.fits):
            continue
        for hosts in args.workers:
            computing, rest = replayed(fit, network, hosts, args)
            name = f"{fit['data']}, {fit['loss'].replace('_', ' ')}, {fit['C']:g}"
            print(
                f"| {name} | {fit['method']} | {len(fit['rounds'])} | {hosts} | {computing:.1f} | {rest:.1f} "
                f"| {computing + rest:.1f} | {on_paper(fit, network, hosts, args):.1f} |"
            )


if __name__ == "__main__":
    main()
