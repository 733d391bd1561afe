"""``hingeline bench``: the paper's experiments, other solvers on the same data, and steps to equal quality."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from io import StringIO
from math import inf
from typing import TYPE_CHECKING, Any

from . import bench_gpu, bench_peers
from .bench_common import PEER_DATA, add_common, advance, datasets_of, plot, say_kept
from .options import HelpFormatter, positive_float, positive_int
from .table import make_table
from .train_results import finite, print_json

if TYPE_CHECKING:
    from hingeline.bench import paper


NUMBERS = {0.01: "Table 2", 0.001: "Table 3"}  # in the paper, by eps


def add_parser(commands: Any) -> None:
    """Add the command and its experiments to the subparsers ``commands``."""
    parser = commands.add_parser(
        "bench", help="compare with other solvers; repeat the experiments of Glasmachers and Dogan (2013)"
    )
    kinds = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True)
    shared = {"formatter_class": HelpFormatter}

    text = "Seconds and steps as in the paper's Tables 2 and 3 and its figure, on the data sets found in --data-dir."
    paper = kinds.add_parser("paper", help="the paper's tables and figure", description=text, **shared)
    add_common(paper, deadline=3600.0)
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

    bench_peers.add_parser(kinds, run)

    text = "Steps of hybrid against the better of baseline and avsf, to the same certified gap."
    steps = kinds.add_parser("steps", help="steps to equal quality", description=text, **shared)
    add_common(steps, deadline=120.0)
    steps.add_argument("--gap", type=positive_float, default=1e-3, metavar="G", help="relative duality gap to reach")
    steps.add_argument("--seeds", type=positive_int, default=5, metavar="N", help="trainings whose median is shown")
    steps.set_defaults(run=run, experiment=run_steps)
    bench_gpu.add_parser(kinds, run, add_common)


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


def run_paper(args: argparse.Namespace) -> list[Any]:
    """Run the paper's cells; print Tables 1, 2, 3, write CSV and plot."""
    from hingeline.bench import tables
    from hingeline.bench.datasets import PAPER, STAND_INS
    from hingeline.bench.paper import SIZES, SOLVERS, Cell, PaperBench
    from hingeline.progress import StepsBar

    datasets = datasets_of(args, (*PAPER, *STAND_INS), most_classes=2)
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
                        advance(bar, table)
                        tables.write_csv(args.out / "paper.csv", Cell, cells)
                for row in tables.paper_rows(dataset.name, done, args.c, eps):
                    table.add(row)
    if not all(cell.finished for cell in cells):
        print(f"--- not finished after {args.deadline:g} s (--deadline); * lower bound, if another solver finished")
    say_kept(bench.store.n_kept, bench.store.path)
    plot(tables.paper_panels(cells), args.out / "paper.png")
    return cells


def run_steps(args: argparse.Namespace) -> list[Any]:
    """Count the steps of each engine on each data set and C; print a table, write CSV."""
    from hingeline.bench import steps, tables
    from hingeline.progress import StepsBar

    datasets = datasets_of(args, PEER_DATA)
    bench = steps.StepsBench(args.gap, args.deadline, args.out, args.seeds)
    groups: list[dict[str, steps.Cell]] = []
    cells: list[steps.Cell] = []
    bar = StepsBar("bench", len(datasets) * len(args.c), "rows")
    with make_table(["data", "C", *steps.SOLVERS, "ratio"], [12, 6, 10, 10, 10, 6], json=args.json) as table:
        for dataset in datasets:
            for C in args.c:
                table.show([dataset.name, f"{C:g}", *["..."] * len(steps.SOLVERS), ""])
                groups.append({solver: bench.cell(dataset, C, solver) for solver in steps.SOLVERS})
                advance(bar, table)
                table.add(steps.row(groups[-1]))
                cells = [cell for group in groups for cell in group.values()]
                tables.write_csv(args.out / "steps.csv", steps.Cell, cells)
    print(f"hinge loss; steps to a relative duality gap of {args.gap:g}, median of {args.seeds} seeds (--seeds)")
    if any(cell.steps == inf for cell in cells):
        print("> at least half of the seeds had not finished at the deadline (--deadline)")
    for line in steps.summary(groups):
        print(line)
    say_kept(bench.store.n_kept, bench.store.path)
    return cells
