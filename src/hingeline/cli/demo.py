"""``hingeline demo``: the paper's comparison on a small scale, on built-in data.

Both engines train the same classifier (hinge loss, no intercept) to the same relative duality gap, for C over five
orders of magnitude. At a small C the gains teach little, and the baseline's shrinking is hard to beat; the larger C,
the more the adaptive frequencies pay on data of this shape. The shape was chosen for that (see ``synthetic``): with
more rows than features and few support vectors, hard shrinking can win at a large C too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .options import HelpFormatter, add_columns, natural, positive_float, positive_int
from .plots import can_plot, new_figure
from .table import make_table

if TYPE_CHECKING:
    import numpy as np
    from scipy import sparse

ENGINES = ("baseline", "avsf")
HEADER = ("C", "baseline s", "steps", "gap", "avsf s", "steps", "gap", "speed-up")
WIDTHS = (7, 10, 8, 8, 8, 8, 8, 8)


class Cell(NamedTuple):
    """One engine at one C."""

    seconds: float
    steps: int
    gap: float
    capped: bool

    def text(self) -> tuple[str, str, str]:
        """Return the cells of the table."""
        return f"{'>' if self.capped else ''}{self.seconds:.3f}", f"{self.steps:.2e}", f"{self.gap:.1e}"


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "demo",
        help="train both engines over a grid of C on built-in data",
        description="Train both engines over a grid of C on built-in, text-like data; print a table, save a plot.",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--rows", type=positive_int, default=10_000, metavar="N", help="documents")
    add_columns(parser, "words in the vocabulary", default=30_000)
    parser.add_argument(
        "--c",
        type=positive_float,
        nargs="+",
        default=[0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
        metavar="C",
        help="weights of the loss",
    )
    stop = parser.add_mutually_exclusive_group()
    stop.add_argument("--gap", type=positive_float, default=1e-3, metavar="G", help="stop at this relative duality gap")
    stop.add_argument(
        "--eps",
        "--tol",
        type=positive_float,
        default=argparse.SUPPRESS,
        metavar="EPS",
        help="stop at the paper's criterion instead, which the two engines measure differently",
    )
    parser.add_argument("--max-time", type=positive_float, default=10.0, metavar="S", help="seconds for one training")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="of the data and of the engines")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--out", default="hingeline-demo.png", metavar="FILE", help="where to save the plot")
    output.add_argument("--no-plot", action="store_true", help="only the table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train, print and draw."""
    from hingeline.progress import StepsBar
    from hingeline.synthetic import make_text

    plot = not args.no_plot and _can_save(args.out)
    X, y = make_text(args.rows, args.columns, seed=args.seed)
    size = f"{args.rows:,} text-like rows, {args.columns:,} features, {X.nnz:,} values"
    print(f"data: {size}, seed {args.seed}", flush=True)
    print("compiling the kernels (or loading them from numba's cache) ...", flush=True)
    for solver in ENGINES:
        _train(X[:20], y[:20], 1.0, solver, args)
    stop = f"the paper's criterion, eps {args.eps:g}" if "eps" in args else f"a relative duality gap of {args.gap:g}"
    print(f"training with each engine at each C up to {stop}:", flush=True)

    results: dict[float, dict[str, Cell]] = {}
    bar = StepsBar("demo", len(args.c) * len(ENGINES), "trainings")
    with make_table(HEADER, WIDTHS) as table:
        for C in args.c:
            results[C] = {}
            table.show(_row(C, results[C]))
            for solver in ENGINES:
                results[C][solver] = _train(X, y, C, solver, args)
                bar.advance()
                table.tell(bar.line().text)
                table.show(_row(C, results[C]))
            table.add(_row(C, results[C]))
    print("speed-up: seconds of baseline / seconds of avsf")
    if any(cell.capped for cells in results.values() for cell in cells.values()):
        print(f"> stopped after {args.max_time:g} s (--max-time) at the gap shown")
    if plot:
        _plot(results, args)
    return 0


def _train(X: sparse.csr_matrix, y: np.ndarray, C: float, solver: str, args: argparse.Namespace) -> Cell:
    from hingeline import Hinge, solve

    stop = {"tol": args.eps} if "eps" in args else {"gap_tol": args.gap}
    how = {"max_time": args.max_time, "random_state": args.seed, "finish": False}
    s = solve(X, y, loss=Hinge(C=C), solver=solver, **how, **stop)
    return Cell(s.seconds, s.n_steps, s.certificate.gap, not s.converged)


def _row(C: float, cells: dict[str, Cell]) -> list[str]:
    """Return a line of the table; the cells of engines that have not run yet are empty."""
    row = [f"{C:g}"]
    for solver in ENGINES:
        row += cells[solver].text() if solver in cells else ("...", "", "")
    return [*row, _speed_up(*(cells[solver] for solver in ENGINES)) if len(cells) == len(ENGINES) else ""]


def _speed_up(baseline: Cell, avsf: Cell) -> str:
    if baseline.capped and avsf.capped:
        return "?"
    bound = ">" if baseline.capped else "<" if avsf.capped else ""
    return f"{bound}{baseline.seconds / avsf.seconds:.2f}"


def _can_save(out: str) -> bool:
    """Tell whether a plot can be drawn and saved, before time is spent on training."""
    if not can_plot("demo"):
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    path = Path(out)
    if path.suffix[1:] not in FigureCanvasAgg.get_supported_filetypes():
        kinds = ", ".join(sorted(FigureCanvasAgg.get_supported_filetypes()))
        raise ValueError(f"--out {out}: unknown kind of picture {path.suffix!r}; choose one of {kinds}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--out {out}: the folder {path.parent} does not exist: make it first")
    return True


def _plot(results: dict[float, dict[str, Cell]], args: argparse.Namespace) -> None:
    from hingeline.viz import CGridDisplay

    figure = new_figure(5.5, 4.0)
    display = CGridDisplay(
        C=list(results),
        seconds={solver: [cells[solver].seconds for cells in results.values()] for solver in ENGINES},
        capped={solver: [cells[solver].capped for cells in results.values()] for solver in ENGINES},
    )
    display.plot(ax=figure.add_subplot())
    display.ax_.set_title(f"{args.rows:,} text-like rows, {args.columns:,} features")
    figure.savefig(args.out, dpi=120)
    print(f"plot saved to {args.out}")
