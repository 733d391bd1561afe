"""``hingeline bench``: the paper's experiments, other solvers on the same data, and steps to equal quality."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from io import StringIO
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import bench_gpu
from .options import HelpFormatter, positive_float, positive_int
from .plots import can_plot
from .table import make_table
from .train_results import finite, print_json

if TYPE_CHECKING:
    from hingeline.bench import paper, peers
    from hingeline.bench.datasets import Dataset
    from hingeline.progress import StepsBar
    from hingeline.viz import CGridDisplay

    from .table import PlainTable

NUMBERS = {0.01: "Table 2", 0.001: "Table 3"}  # in the paper, by eps
GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PEER_DATA = ("covtype", "news20", "debian_text", "nycflights", "debian_paths", "a9a", "w8a", "mnist20k")
OUT = "hingeline-bench"
SEVERAL_RUNS = "median of {} runs (--repeat); runs of less than 50 ms are repeated until 0.2 s in all, at most 50 times"
MISSING_PEER = "skipped, since it is not installed: {0} (pip install {0})"
MISSING_DATA = "skipped: {}, not found in --data-dir"


def add_parser(commands: Any) -> None:
    """Add the command and its experiments to the subparsers ``commands``."""
    parser = commands.add_parser("bench", help="the paper's experiments, and other solvers on the same data")
    kinds = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True)
    shared = {"formatter_class": HelpFormatter}

    text = "Seconds and steps as in the paper's Tables 2 and 3 and its figure, on the data sets found in --data-dir."
    paper = kinds.add_parser("paper", help="the paper's tables and figure", description=text, **shared)
    _add_common(paper, deadline=3600.0)
    paper.add_argument(
        "--eps", type=positive_float, nargs="+", default=[0.01, 0.001], metavar="EPS", help="the paper's criterion"
    )
    paper.add_argument(
        "--seeds",
        type=positive_int,
        default=1,
        metavar="N",
        help="trainings per cell, whose mean is shown (the paper: 10 for news20 and rcv1)",
    )
    paper.set_defaults(run=run, experiment=run_paper)

    text = "Seconds to a relative suboptimality, each solver in its own process, on one thread, warm."
    peers = kinds.add_parser("peers", help="time to equal quality", description=text, **shared)
    _add_common(peers, deadline=120.0)
    peers.add_argument("--loss", choices=("hinge", "squared_hinge"), default="hinge")
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
    peers.add_argument("--subopt", **targets, help="targets to time")
    peers.add_argument(
        "--repeat",
        type=positive_int,
        default=1,
        metavar="N",
        help="runs whose median is shown; short runs are repeated more often",
    )
    peers.add_argument("--skip-late", action="store_true", help="once a solver is late, do not run it at larger C")
    peers.set_defaults(run=run, experiment=run_peers)

    text = "Steps of hybrid against the better of baseline and avsf, to the same certified gap."
    steps = kinds.add_parser("steps", help="steps to equal quality", description=text, **shared)
    _add_common(steps, deadline=120.0)
    steps.add_argument("--gap", type=positive_float, default=1e-3, metavar="G", help="relative duality gap to reach")
    steps.add_argument("--seeds", type=positive_int, default=5, metavar="N", help="trainings whose median is shown")
    steps.set_defaults(run=run, experiment=run_steps)
    bench_gpu.add_parser(kinds, run, _add_common)


def _add_common(parser: argparse.ArgumentParser, deadline: float) -> None:
    parser.add_argument("--data-dir", type=Path, default=Path("data"), metavar="DIR", help="folder of svmlight files")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="names (default: all known ones in --data-dir)")
    parser.add_argument(
        "--c", type=positive_float, nargs="+", default=list(GRID), metavar="C", help="weights of the loss"
    )
    parser.add_argument("--deadline", type=positive_float, default=deadline, metavar="S", help="seconds for one cell")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(OUT),
        metavar="DIR",
        help="results, CSV, plot; an earlier benchmark there is continued",
    )
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object, and nothing else")


def run(args: argparse.Namespace) -> int:
    """Run the experiment; with ``--json``, print its cells instead."""
    with redirect_stdout(StringIO() if args.json else sys.stdout):
        cells = args.experiment(args)
    if args.json:
        print_json({"out": str(args.out), "cells": [_plain(cell) for cell in cells]}, sys.stdout)
    return 0


def _plain(cell: Any) -> dict[str, Any]:
    """Return a cell in JSON's terms: None for what is not finite."""
    return {name: finite(value) if isinstance(value, float) else value for name, value in asdict(cell).items()}


def run_peers(args: argparse.Namespace) -> list[Any]:
    """Run each solver on each data set and C; print a table, write CSV and plot."""
    from hingeline.bench import results, tables
    from hingeline.bench.peers import Cell, PeerBench, Settings
    from hingeline.bench.ratios import summary
    from hingeline.progress import StepsBar

    solvers = _installed(args.peers, args.loss)
    datasets = _datasets(args, PEER_DATA)
    goal = args.loss, tuple(args.subopt), args.deadline, args.repeat, args.intercept, args.skip_late
    bench = PeerBench(Settings(*goal), args.out)
    command = results.command_of(bench.settings, solvers, datasets, args.c)
    name = f"peers-{args.loss}" + "-intercept" * args.intercept
    cells: list[peers.Cell] = []
    groups: list[dict[str, peers.Cell]] = []
    bar = StepsBar("bench", len(datasets) * len(args.c) * len(solvers), "runs")
    with make_table(
        ["data", "C", "target", *solvers, "best peer/auto"],
        [12, 6, 7, *(max(7, len(solver)) for solver in solvers), 14],
        json=args.json,
    ) as table:
        for dataset in datasets:
            for C in args.c:
                done: dict[float, dict[str, peers.Cell]] = {target: {} for target in args.subopt}
                for found in bench.cells(dataset, C, solvers):
                    for cell in found:
                        done[cell.target][cell.solver] = cell
                        cells.append(cell)
                    target = args.subopt[0]
                    _advance(bar, table)
                    table.show(tables.peer_row(dataset.name, C, target, done[target], solvers))
                for target, group in done.items():
                    table.add(tables.peer_row(dataset.name, C, target, group, solvers))
                    groups.append(group)
                tables.write_csv(args.out / f"{name}.csv", Cell, cells)
                results.save(args.out / f"{name}.json", command, bench, dataset, cells)
    loss = args.loss.replace("_", " ") + " loss" + ", intercept" * args.intercept
    print(f"{loss}; seconds to relative suboptimality (target), one thread, warm")
    print(SEVERAL_RUNS.format(args.repeat))
    for line in [*tables.legend(cells), *summary(groups)]:
        print(line)
    _say_kept(bench.runs.n_kept, bench.runs.path)
    for target in args.subopt:
        _plot(tables.peer_panels(cells, solvers, target), args.out / f"{name}-{target:g}.png")
    return cells


def run_paper(args: argparse.Namespace) -> list[Any]:
    """Run the paper's cells; print Tables 1, 2, 3, write CSV and plot."""
    from hingeline.bench import tables
    from hingeline.bench.datasets import PAPER, STAND_INS
    from hingeline.bench.paper import SIZES, SOLVERS, Cell, PaperBench
    from hingeline.progress import StepsBar

    datasets = _datasets(args, (*PAPER, *STAND_INS), most_classes=2)
    bench = PaperBench(args.deadline, args.out, args.seeds)
    print("Table 1: rows and columns")
    with make_table(
        ["data", "rows", "columns", "paper's rows", "columns"], [12, 12, 12, 12, 12], json=args.json
    ) as table:
        for dataset in datasets:
            sizes = (*bench.size(dataset), *SIZES.get(dataset.name, ()))
            table.add([dataset.name, *(f"{n:,}" for n in sizes), *[""] * (4 - len(sizes))])
    cells: list[paper.Cell] = []
    bar = StepsBar("bench", len(args.eps) * len(datasets) * len(SOLVERS) * len(args.c), "cells")
    for eps in args.eps:
        means = f", means of {args.seeds} seeds" if args.seeds > 1 else ""
        print(f"\n{NUMBERS.get(eps, 'Not in the paper')}: seconds and steps, eps {eps:g}{means}")
        with make_table(
            ["data", "solver", "", *(f"C={C:g}" for C in args.c)], [12, 16, 5, *[9] * len(args.c)], json=args.json
        ) as table:
            for dataset in datasets:
                done: dict[tuple[str, float], paper.Cell] = {}
                for solver in SOLVERS:
                    for C in args.c:
                        row = [dataset.name, solver, "", *("..." if c == C else "" for c in args.c)]
                        table.show(row)
                        done[solver, C] = bench.cell(dataset, eps, solver, C)
                        cells.append(done[solver, C])
                        _advance(bar, table)
                        tables.write_csv(args.out / "paper.csv", Cell, cells)
                for row in tables.paper_rows(dataset.name, done, args.c, eps):
                    table.add(row)
    if not all(cell.finished for cell in cells):
        print(f"--- not finished after {args.deadline:g} s (--deadline); * lower bound, if another solver finished")
    _say_kept(bench.store.n_kept, bench.store.path)
    _plot(tables.paper_panels(cells), args.out / "paper.png")
    return cells


def run_steps(args: argparse.Namespace) -> list[Any]:
    """Count the steps of each engine on each data set and C; print a table, write CSV."""
    from hingeline.bench import steps, tables
    from hingeline.progress import StepsBar

    datasets = _datasets(args, PEER_DATA)
    bench = steps.StepsBench(args.gap, args.deadline, args.out, args.seeds)
    groups: list[dict[str, steps.Cell]] = []
    cells: list[steps.Cell] = []
    bar = StepsBar("bench", len(datasets) * len(args.c), "rows")
    with make_table(["data", "C", *steps.SOLVERS, "ratio"], [12, 6, 10, 10, 10, 6], json=args.json) as table:
        for dataset in datasets:
            for C in args.c:
                table.show([dataset.name, f"{C:g}", *["..."] * len(steps.SOLVERS), ""])
                groups.append({solver: bench.cell(dataset, C, solver) for solver in steps.SOLVERS})
                _advance(bar, table)
                table.add(steps.row(groups[-1]))
                cells = [cell for group in groups for cell in group.values()]
                tables.write_csv(args.out / "steps.csv", steps.Cell, cells)
    print(f"hinge loss; steps to a relative duality gap of {args.gap:g}, median of {args.seeds} seeds (--seeds)")
    if any(cell.steps == inf for cell in cells):
        print("> at least half of the seeds had not finished at the deadline (--deadline)")
    for line in steps.summary(groups):
        print(line)
    _say_kept(bench.store.n_kept, bench.store.path)
    return cells


def _advance(bar: StepsBar, table: PlainTable) -> None:
    """Count a piece of work, and show how much is left."""
    bar.advance()
    table.tell(bar.line().text)


def _installed(names: Sequence[str] | None, loss: str) -> list[str]:
    """Return the solvers that can run; print a line for each peer that is not installed."""
    from hingeline.bench.peer_solvers import INSTALLED_BY, PEERS
    from hingeline.bench.solvers import OURS, make_solver, missing_package

    wanted = list(dict.fromkeys(names or (*OURS, *PEERS)))
    missing = {name: package for name in wanted if (package := missing_package(name)) is not None}
    for package in dict.fromkeys(missing.values()):
        print(MISSING_PEER.format(INSTALLED_BY.get(package, package)), file=sys.stderr)
    there = [name for name in wanted if name not in missing]
    # A column of n/a is shown only if it was asked for.
    there = there if names else [name for name in there if loss in make_solver(name).losses]
    if not there:
        raise ValueError("none of the solvers is installed: pip install liblinear-official snapml rehline.")
    return there


def _datasets(args: argparse.Namespace, known: Sequence[str], most_classes: float = inf) -> list[Dataset]:
    """Return the data sets that can be used, parsed; print a line for each of the others."""
    from hingeline.bench.datasets import find, n_classes

    there, missing = find(args.data_dir, args.datasets or known)
    if missing and args.datasets:
        print(MISSING_DATA.format(", ".join(missing)), file=sys.stderr)
    usable = []
    for dataset in there:
        try:
            classes = n_classes(dataset.parsed(args.out / "data"))
            if classes > most_classes:
                raise ValueError(f"{dataset.name} has {classes} labels: this experiment needs two.")
            usable.append(dataset)
        except ValueError as error:
            print(f"skipped: {error}", file=sys.stderr)
    if not usable:
        wanted = ", ".join(args.datasets or known)
        raise ValueError(f"--data-dir {args.data_dir}: found none of {wanted}; name another folder or other data.")
    return usable


def _say_kept(count: int, path: Path) -> None:
    if count:
        print(f"{count} results are from an earlier run ({path}; delete it to run them again)")


def _plot(panels: dict[str, CGridDisplay], path: Path) -> None:
    if not (can_plot() and any(panel.seconds for panel in panels.values())):
        return
    from hingeline.viz import CPanelsDisplay

    CPanelsDisplay(panels).plot().figure_.savefig(path, dpi=120)
    print(f"plot saved to {path}")
