"""``hingeline demo``: training time and quality over C on built-in data, compared with scikit-learn's LinearSVC.

hingeline's engines train the same classifier (hinge loss, no intercept) until a certificate proves that it is as good
as asked for. scikit-learn's LinearSVC runs with the tolerance and the limit of iterations that it comes with; how far
it is from the optimum is computed here, from the best certified lower bound.
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
    from matplotlib.axes import Axes
    from scipy import sparse

ENGINES = ("auto", "avsf", "baseline")
PEER = "LinearSVC"
NAMES = {"auto": "hingeline", "avsf": "avsf", "baseline": "baseline", PEER: "scikit-learn"}  # in the picture
HEADER = ("C", "hingeline", "its gap", "avsf", "baseline", "scikit-learn", "its gap")
WIDTHS = (7, 9, 8, 8, 8, 12, 8)
LEGEND = """\
hingeline: seconds of LinearSVC's engine "auto"; avsf, baseline: the two engines of the paper alone
scikit-learn: its LinearSVC with its default tol and max_iter
gap: how far the model can be from the optimum, as a fraction of the objective; hingeline proves it for every fit"""


FLOOR = 1e-6  # smaller gaps are drawn here


class Cell(NamedTuple):
    """One solver at one C; the gap is relative to the best lower bound that was known."""

    seconds: float
    gap: float
    capped: bool
    bound: float  # lower bound of the optimum that was certified

    def text(self) -> str:
        """Return the seconds for the table."""
        return f"{'>' if self.capped else ''}{self.seconds:.3f}"


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    text = "Train a linear SVM over a grid of C on built-in, text-like data, with hingeline and scikit-learn."
    parser = commands.add_parser(
        "demo",
        help="compare hingeline with scikit-learn on built-in data: a table and a picture",
        description=f"{text} Prints a table and saves a picture of time and quality.",
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
        help="stop at the paper's criterion instead, which the engines measure differently",
    )
    parser.add_argument("--max-time", type=positive_float, default=10.0, metavar="S", help="seconds for one training")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the data and of the engines")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--out", default="hingeline-demo.png", metavar="FILE", help="where to save the picture")
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
    print("compiling, once (later runs load the compiled code from a cache) ...", flush=True)
    for solver in ENGINES:
        _train(X, y, min(args.c), solver, args)
    stop = f"the paper's criterion, eps {args.eps:g}" if "eps" in args else f"a certified gap of {args.gap:g}"
    print(f"seconds of training to {stop}:", flush=True)

    results: dict[float, dict[str, Cell]] = {}
    bar = StepsBar("demo", len(args.c) * (len(ENGINES) + 1), "trainings")
    with make_table(HEADER, WIDTHS) as table:
        for C in args.c:
            cells = results[C] = {}
            table.show(_row(C, cells))
            for solver in (*ENGINES, PEER):
                if solver == PEER:
                    bound = max(cell.bound for cell in cells.values())
                    cells[solver] = _train_peer(X, y, C, bound, args)
                else:
                    cells[solver] = _train(X, y, C, solver, args)
                bar.advance()
                table.tell(bar.line().text)
                table.show(_row(C, cells))
            table.add(_row(C, cells))
    print(LEGEND)
    _explain_caps(results, args)
    if plot:
        _plot(results, args)
    return 0


def _train(X: sparse.csr_matrix, y: np.ndarray, C: float, solver: str, args: argparse.Namespace) -> Cell:
    from hingeline import Hinge, solve

    stop = {"tol": args.eps} if "eps" in args else {"gap_tol": args.gap}
    how = {"max_time": args.max_time, "random_state": args.seed, "finish": False}
    s = solve(X, y, loss=Hinge(C=C), solver=solver, **how, **stop)
    return Cell(s.seconds, s.certificate.gap, not s.converged, s.certificate.dual)


def _train_peer(X: sparse.csr_matrix, y: np.ndarray, C: float, bound: float, args: argparse.Namespace) -> Cell:
    """Train scikit-learn's LinearSVC; its gap is the distance of its objective from ``bound``."""
    import warnings
    from time import perf_counter

    import numpy as np
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", C=C, fit_intercept=False, random_state=args.seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = perf_counter()
        w = model.fit(X, y).coef_[0]
        seconds = perf_counter() - began
    objective = 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - y * (X @ w)).sum())
    capped = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return Cell(seconds, max(objective - bound, 0.0) / objective, capped, 0.0)


def _row(C: float, cells: dict[str, Cell]) -> list[str]:
    """Return a line of the table; the cells of solvers that have not run yet are empty."""
    row = [f"{C:g}"]
    for solver in (*ENGINES, PEER):
        cell = cells.get(solver)
        row.append("..." if cell is None else cell.text())
        if solver in ("auto", PEER):
            row.append("" if cell is None else f"{cell.gap:.1e}")
    return row


def _explain_caps(results: dict[float, dict[str, Cell]], args: argparse.Namespace) -> None:
    """Say what ended the trainings that are marked."""
    capped = {solver for cells in results.values() for solver, cell in cells.items() if cell.capped}
    if capped - {PEER}:
        print(f"> stopped after {args.max_time:g} s (--max-time)")
    if PEER in capped:
        print("> scikit-learn: stopped by its default max_iter, with a warning")


def _can_save(out: str) -> bool:
    """Tell whether a plot can be drawn and saved, before time is spent on training."""
    if not can_plot():
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    path = Path(out)
    if path.suffix[1:] not in FigureCanvasAgg.get_supported_filetypes():
        kinds = ", ".join(sorted(FigureCanvasAgg.get_supported_filetypes()))
        raise ValueError(f"--out {out}: unknown kind of picture {path.suffix!r}; choose one of {kinds}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--out {out}: the folder {path.parent} does not exist; create it first")
    return True


def _plot(results: dict[float, dict[str, Cell]], args: argparse.Namespace) -> None:
    """Save a picture: time against C, and quality against C."""
    figure = new_figure(9.0, 3.8)
    time, quality = figure.subplots(1, 2)
    _draw(time, results, "seconds")
    time.set(title="How long training takes", ylabel="seconds")
    _draw(quality, results, "gap")
    quality.set(title="How far the model is from the optimum", ylabel="relative gap, at least 1e-6")
    if "eps" not in args:
        quality.axhline(args.gap, color="0.5", linestyle=":", zorder=0)
        quality.annotate("requested", (min(results), args.gap), (0, 3), textcoords="offset points", fontsize="small")
    handles, labels = time.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(f"Linear SVM on {args.rows:,} text-like rows with {args.columns:,} features", fontsize="medium")
    figure.savefig(args.out, dpi=120)
    print(f"plot saved to {args.out}")


def _draw(ax: Axes, results: dict[float, dict[str, Cell]], field: str) -> None:
    """Draw one field of the cells against C; hollow markers where a limit ended training."""
    from hingeline.viz import style

    colours = dict(zip((*ENGINES, PEER), (style.BLUE, style.SKY, style.PURPLE, style.VERMILION), strict=True))
    for (solver, colour), marker in zip(colours.items(), style.MARKERS, strict=False):
        points = sorted((C, max(getattr(cells[solver], field), FLOOR)) for C, cells in results.items())
        width = 2.4 if solver == "auto" else 1.3
        ax.plot(*zip(*points, strict=True), color=colour, marker=marker, label=NAMES[solver], linewidth=width)
        hollow = [(C, value) for C, value in points if results[C][solver].capped]
        if hollow:
            how: Any = {"linestyle": "", "color": colour, "markerfacecolor": "white", "zorder": 3}
            ax.plot(*zip(*hollow, strict=True), marker=marker, **how)
    ax.set(xscale="log", yscale="log", xlabel="C")
    ax.grid(True, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
