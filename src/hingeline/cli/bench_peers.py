"""``hingeline bench peers``: time to equal quality, compared with other solvers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from .bench_common import PEER_DATA, add_common, advance, datasets_of, plot, say_kept
from .options import HelpFormatter, positive_float, positive_int
from .table import make_table

if TYPE_CHECKING:
    from hingeline.bench import peers

SEVERAL_RUNS = "median of {} runs (--repeat); runs of less than 50 ms are repeated until 0.2 s in all, at most 50 times"
OWN_GAP = "the relative duality gap that a solver's own weights certify (gap)"
MISSING_PEER = "skipped, since it is not installed: {0} (pip install {0})"


def add_parser(kinds: Any, run: Any) -> None:
    """Add the experiment to the subparsers ``kinds``."""
    text = "Seconds to a relative suboptimality, each solver in its own process, on one thread, warm."
    peers = kinds.add_parser("peers", help="time to equal quality", description=text, formatter_class=HelpFormatter)
    add_common(peers, deadline=120.0)
    peers.add_argument("--loss", choices=("hinge", "squared_hinge", "logistic"), default="hinge")
    peers.add_argument("--penalty", choices=("l2", "l1"), default="l2", help="|w|^2/2, or |w|_1 (smooth losses)")
    peers.add_argument(
        "--intercept",
        action="store_true",
        help="with a constant feature 1, regularised: scikit-learn's intercept, LIBLINEAR's -B 1",
    )
    peers.add_argument(
        "--peers",
        nargs="+",
        metavar="NAME",
        help="solvers (default: all that are installed); package.module:Class for one of your own",
    )
    targets = {"type": positive_float, "nargs": "+", "default": [1e-3, 1e-5], "metavar": "S"}
    peers.add_argument("--subopt", **targets, help="targets to time (with --own-gap: relative duality gaps)")
    peers.add_argument(
        "--own-gap",
        action="store_true",
        help="quality is the relative duality gap that a solver's own weights certify (--penalty l1)",
    )
    peers.add_argument(
        "--repeat",
        type=positive_int,
        default=1,
        metavar="N",
        help="runs whose median is shown; short runs are repeated more often",
    )
    peers.add_argument(
        "--skip-late", action="store_true", help="once a solver is late or capped, do not run it at larger C"
    )
    peers.add_argument(
        "--times",
        type=positive_float,
        default=inf,
        metavar="N",
        help="also stop a solver after N times the seconds of the first one, but not before two seconds",
    )
    peers.add_argument(
        "--jobs",
        type=positive_int,
        default=1,
        metavar="N",
        help="processes at a time, for a computer with many cores; all of them compete for its memory",
    )
    peers.set_defaults(run=run, experiment=run_peers, parser=peers)


def run_peers(args: argparse.Namespace) -> list[Any]:
    """Run each solver on each data set and C; print a table, write CSV and plot."""
    from hingeline.bench import results, tables
    from hingeline.bench.peers import Cell, PeerBench, Settings
    from hingeline.bench.ratios import summary
    from hingeline.progress import StepsBar

    if args.own_gap and args.penalty != "l1":
        args.parser.error("--own-gap: only with --penalty l1")
    solvers = _installed(args.peers, args.loss, args.penalty)
    datasets = datasets_of(args, PEER_DATA)
    goal = args.loss, tuple(args.subopt), args.deadline, args.repeat, args.intercept, args.skip_late, args.penalty
    bench = PeerBench(Settings(*goal, jobs=args.jobs, times=args.times, own_gap=args.own_gap), args.out)
    command = results.command_of(bench.settings, solvers, datasets, args.c)
    name = bench.settings.name
    cells: list[peers.Cell] = []
    groups: list[dict[str, peers.Cell]] = []
    bar = StepsBar("bench", len(datasets) * len(args.c) * len(solvers), "runs")
    with make_table(
        ["data", "C", "gap" if args.own_gap else "target", *solvers, "best peer/auto"],
        [12, 6, 7, *(max(7, len(solver)) for solver in solvers), 14],
        json=args.json,
    ) as table:
        if args.jobs > 1:
            for _ in bench.run_ahead(datasets, args.c, solvers):
                advance(bar, table)
        n_kept = bench.runs.n_kept
        for dataset in datasets:
            for C in args.c:
                done: dict[float, dict[str, peers.Cell]] = {target: {} for target in args.subopt}
                for found in bench.cells(dataset, C, solvers):
                    for cell in found:
                        done[cell.target][cell.solver] = cell
                        cells.append(cell)
                    target = args.subopt[0]
                    if args.jobs == 1:
                        advance(bar, table)
                    table.show(tables.peer_row(dataset.name, C, target, done[target], solvers))
                for target, group in done.items():
                    table.add(tables.peer_row(dataset.name, C, target, group, solvers))
                    groups.append(group)
                tables.write_csv(args.out / f"{name}.csv", Cell, cells)
                results.save(args.out / f"{name}.json", command, bench, dataset, cells)
    loss = args.loss.replace("_", " ") + " loss" + ", L1 penalty" * (args.penalty == "l1")
    loss += ", intercept" * args.intercept
    beside = f", {args.jobs} processes at a time" * (args.jobs > 1)
    quality = OWN_GAP if args.own_gap else "relative suboptimality (target)"
    print(f"{loss}; seconds to {quality}, one thread, warm{beside}")
    print(SEVERAL_RUNS.format(args.repeat))
    for line in [*tables.legend(cells), *summary(groups)]:
        print(line)
    say_kept(n_kept if args.jobs > 1 else bench.runs.n_kept, bench.runs.path)
    for target in args.subopt:
        plot(tables.peer_panels(cells, solvers, target), args.out / f"{name}-{target:g}.png")
    return cells


def _installed(names: Sequence[str] | None, loss: str, penalty: str) -> list[str]:
    """Return the solvers that can run; print a line for each peer that is not installed."""
    from hingeline.bench.peer_solvers import INSTALLED_BY, PEERS
    from hingeline.bench.solvers import OURS, make_solver, missing_package

    # A column of n/a is shown only if it was asked for.
    known = [name for name in (*OURS, *PEERS) if make_solver(name).knows(loss, penalty)]
    wanted = list(dict.fromkeys(names or known))
    missing = {name: package for name in wanted if (package := missing_package(name)) is not None}
    for package in dict.fromkeys(missing.values()):
        print(MISSING_PEER.format(INSTALLED_BY.get(package, package)), file=sys.stderr)
    there = [name for name in wanted if name not in missing]
    if not any(make_solver(name).knows(loss, penalty) for name in there):
        raise ValueError(f"none of the solvers takes --loss {loss} with --penalty {penalty}: name another of these.")
    return there
