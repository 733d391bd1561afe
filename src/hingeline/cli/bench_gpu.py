"""``hingeline bench gpu``: seconds on a GPU, compared with the CPU's engines and PyTorch's L-BFGS."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import inf, isinf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .bench_common import plot
from .options import HelpFormatter, positive_float, positive_int
from .table import make_table

if TYPE_CHECKING:
    from hingeline.bench.gpu import Cell, GpuBench

DATA = ("covtype", "news20", "debian_text")
LBFGS = "L-BFGS"


def add_parser(kinds: Any, run: Any, add_common: Any) -> None:
    """Add the experiment to the subparsers ``kinds``."""
    text = "Seconds to the certificate on a GPU, warm, with the data there, compared with the CPU and PyTorch's L-BFGS."
    parser = kinds.add_parser("gpu", help="training on a GPU", description=text, formatter_class=HelpFormatter)
    add_common(parser, deadline=60.0)
    parser.add_argument("--loss", choices=("hinge", "squared_hinge", "logistic"), default="hinge")
    parser.add_argument(
        "--eps", type=positive_float, nargs="+", default=[0.01, 0.001], metavar="EPS", help="the paper's criterion"
    )
    parser.add_argument("--device", default="cuda", metavar="NAME", help="PyTorch's name of the device")
    parser.add_argument(
        "--rows", type=positive_int, default=11_000_000, metavar="N", help="rows of the problem that is made"
    )
    parser.add_argument(
        "--threads", type=positive_int, nargs="*", default=[1], metavar="N", help="threads of the CPU to compare with"
    )
    parser.set_defaults(run=run, experiment=run_gpu)


def run_gpu(args: argparse.Namespace) -> list[Any]:
    """Train every problem on the device and on the CPU; print a table, write CSV and plot."""
    from hingeline.bench import tables
    from hingeline.bench.gpu import Cell, GpuBench

    bench, cells = GpuBench(args.device, args.deadline), list[Cell]()
    engines = ["gpu", *(f"cpu {n}" for n in args.threads), LBFGS]
    args.out.mkdir(parents=True, exist_ok=True)
    with make_table(
        ["data", "C", "eps", *engines, "gap", "steps"], [12, 6, 6, *[8] * len(engines), 8, 6], json=args.json
    ) as table:
        for name, X, y, here in _problems(args, bench):
            own = [(name, C, eps) for C in args.c for eps in args.eps]
            first = [_on_device(bench, args, at, X, y) for at in own]  # before threads of the CPU are in its way
            for at, (cell, solution, problem) in zip(own, first, strict=True):
                found = [cell, *_others(bench, args, at, here, solution.certificate, problem)]
                _, C, eps = at
                seconds = [f"{c.seconds:.4f}" if c.seconds < inf else "---" for c in found]
                table.add([name, f"{C:g}", f"{eps:g}", *seconds, f"{found[0].gap:.1e}", str(found[0].n_iter)])
                cells += found
                tables.write_csv(args.out / "gpu.csv", Cell, cells)
            if hasattr(X, "is_sparse") and not (X.is_sparse or X.is_sparse_csr):
                from hingeline.bench.gpu import rows_of

                for line in bench.passes(rows_of(X)):
                    print(f"{name}: {line.name}: {1e3 * line.seconds:.3f} ms, {line.share_of_copy:.0%} of copying")
    print(f"{args.loss} loss, no intercept; seconds from the rows to the certificate, warm; --- not within --deadline")
    print(f"{LBFGS}: as near to the optimum as the certificate says of the others, on the device")
    _plot(cells, args.out / "gpu.png")
    return cells


def _problems(args: argparse.Namespace, bench: GpuBench) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield each problem: its name, X and y on the device, and both here."""
    import numpy as np

    from hingeline.bench.datasets import find
    from hingeline.bench.gpu import MADE
    from hingeline.io import load_svmlight

    wanted = args.datasets or (*DATA, MADE)
    there, _ = find(args.data_dir, [name for name in wanted if name != MADE])
    for dataset in there:
        X, y = load_svmlight(dataset.path)
        dense = np.asarray(X.toarray()) if X.shape[1] <= 1000 else X
        y = np.where(y > y.min(), 1.0, -1.0)
        yield (dataset.name, *bench.put(dense, y), (dense, y))
    if MADE in wanted:
        X, y = bench.made(args.rows)
        yield MADE, X, y, (X.cpu().numpy(), y.cpu().numpy())


At = tuple[str, float, float]  # the name of the data, C and eps


def _on_device(bench: GpuBench, args: argparse.Namespace, at: At, X: Any, y: Any) -> tuple[Cell, Any, Any]:
    """Train on the device; returns the cell, the solution, and the problem."""
    from hingeline.bench.gpu import LOSSES, Cell, rows_of

    name, C, eps = at
    seconds, solution, problem = bench.on_device(rows_of(X), y, LOSSES[args.loss](C), eps)
    seconds = seconds if solution.converged else inf
    cell = Cell(name, args.loss, C, eps, "gpu", seconds, solution.certificate.gap, solution.n_iter)
    return cell, solution, problem


def _others(
    bench: GpuBench, args: argparse.Namespace, at: At, here: Any, certificate: Any, problem: Any
) -> Iterator[Cell]:
    """Yield the cells to compare with: the CPU's, and that of L-BFGS."""
    from hingeline.bench.gpu import LOSSES, Cell

    name, C, eps = at
    loss = LOSSES[args.loss](C)
    for n_threads in args.threads:
        seconds, solution = bench.on_cpu(here, loss, eps, n_threads)
        n_iter, gap = solution.n_iter, solution.certificate.gap
        yield Cell(name, args.loss, C, eps, f"cpu {n_threads}", seconds, gap, n_iter)
    seconds, calls = bench.lbfgs(problem, certificate.primal, certificate.gap)
    yield Cell(name, args.loss, C, eps, LBFGS, seconds, float("nan"), calls)


def _plot(cells: list[Cell], path: Path) -> None:
    """Draw seconds over C, a panel for each data set and eps."""
    from hingeline.viz import CGridDisplay

    panels = {}
    for data, eps in dict.fromkeys((cell.data, cell.eps) for cell in cells):
        own = [cell for cell in cells if (cell.data, cell.eps) == (data, eps)]
        seconds = {(cell.engine, cell.C): nan if isinf(cell.seconds) else cell.seconds for cell in own}
        Cs = sorted({cell.C for cell in own})
        engines = dict.fromkeys(cell.engine for cell in own)
        lines = {_name_of(engine): [seconds.get((engine, C), nan) for C in Cs] for engine in engines}
        panels[f"{data}, eps {eps:g}"] = CGridDisplay(C=Cs, seconds=lines)
    plot(panels, path)


def _name_of(engine: str) -> str:
    """Return what a legend calls an engine."""
    if engine.startswith("cpu "):
        n_threads = engine.removeprefix("cpu ")
        return "1 thread" if n_threads == "1" else f"{n_threads} threads"
    return "L-BFGS on the GPU" if engine == LBFGS else "GPU"
