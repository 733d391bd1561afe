"""``hingeline search``: choose C by cross-validation, with a growing table, a file to resume from and a plot."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.solvers.engines import SOLVERS

from .options import INTERRUPTED, HelpFormatter, natural, non_negative_float, positive_float, positive_int
from .plots import can_plot, new_figure
from .table import make_table

if TYPE_CHECKING:
    import numpy as np

    from hingeline.selection.choice import Choice
    from hingeline.selection.record import SearchRecord
    from hingeline.selection.table import Cell, Table

HEADER, WIDTHS = ("C", "score", "+-", "seconds", "gap", "folds"), (10, 8, 8, 8, 8, 7)
SEARCHED = [
    known
    for known in SOLVER_TYPES.values()
    if known.task in ("one_versus_rest", "regression") and known.penalty == "l2"
]
LOSS_OF_TYPE = {known.number: known.loss for known in SEARCHED}
REGRESSIONS = {known.loss for known in SEARCHED if known.is_regression}
LARGEST_GRID = 1000


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "search",
        help="choose C by cross-validation: a table, a file and a plot",
        description="Choose C by cross-validation on a grid; each fit starts from that of the previous C. If it was "
        "interrupted, the same command continues from what is done.",
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "data", metavar="DATA", help="svmlight text, compressed or not, or a dataset folder; - is stdin"
    )
    parser.add_argument("-v", dest="folds", type=positive_int, default=5, metavar="N", help="folds")
    parser.add_argument("--c-min", type=positive_float, default=0.01, metavar="A", help="smallest C")
    parser.add_argument("--c-max", type=positive_float, default=1000.0, metavar="B", help="largest C")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--c-step", type=positive_float, default=10.0, metavar="F", help="factor from one C to the next")
    steps.add_argument("--n-c", type=positive_int, metavar="N", help="number of values of C instead")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-s", dest="type", type=int, choices=sorted(LOSS_OF_TYPE), help="LIBLINEAR's number of the loss")
    what.add_argument("--loss", choices=sorted(set(LOSS_OF_TYPE.values())), default="squared_hinge")
    parser.add_argument("-p", dest="epsilon", type=non_negative_float, default=0.1, help="epsilon of a regression")
    parser.add_argument("-B", dest="bias", type=float, default=-1.0, help="constant feature; negative: no intercept")
    parser.add_argument("--solver", choices=SOLVERS, default="auto")
    stop = parser.add_mutually_exclusive_group()
    stop.add_argument("--tol", type=positive_float, default=1e-3, metavar="EPS", help="stop at this violation")
    stop.add_argument("--gap", type=positive_float, metavar="G", help="stop at this relative duality gap instead")
    parser.add_argument("--scoring", help="scikit-learn's name of the score (default: accuracy, or r2)")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="default: all cores")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the folds and of the engines")
    parser.add_argument("--no-early-stop", action="store_true", help="try larger C even if they can no longer win")
    parser.add_argument("--out", metavar="DIR", help="folder for the results (default: the name of DATA with .search)")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Read, search, choose, draw."""
    from .data_input import read_rows

    args.loss = args.loss if args.type is None else LOSS_OF_TYPE[args.type]
    grid = _grid(args)
    X, y = read_rows(args.data)
    estimator = _estimator(args, grid, y)
    try:
        scoring = _scoring_name(estimator)
    except ValueError as error:
        args.parser.error(f"--scoring: {error}")
    study = estimator.study(X, y)
    folder = args.out or f"{'stdin' if args.data == '-' else Path(args.data).resolve().name}.search"
    record = _record(args, folder, X, y, grid, len(study.folds), scoring)
    return _search(args, study, record, scoring)


def _grid(args: argparse.Namespace) -> np.ndarray:
    """Return the values of C; the last one is at most C_max."""
    import numpy as np

    if args.c_max < args.c_min:
        args.parser.error(f"--c-max {args.c_max:g} is below --c-min {args.c_min:g}")
    if args.n_c is not None:
        return np.unique(np.geomspace(args.c_min, args.c_max, args.n_c))
    if args.c_step <= 1.0:
        args.parser.error(f"--c-step {args.c_step:g}: expected a factor above one")
    steps = np.log(args.c_max / args.c_min) / np.log(args.c_step)
    if steps >= LARGEST_GRID:
        args.parser.error(f"--c-step {args.c_step:g} makes more than {LARGEST_GRID} values of C: choose a larger step")
    return args.c_min * args.c_step ** np.arange(int(steps + 1e-9) + 1.0)


def _estimator(args: argparse.Namespace, grid: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    from hingeline import LinearSVCCV, LinearSVRCV, LogisticRegressionCV

    if not 2 <= args.folds <= y.size:
        raise ValueError(f"-v {args.folds}: between 2 and {y.size} folds can be made of {y.size} rows.")
    kind: Any = LinearSVCCV
    splitter: Any = StratifiedKFold
    own = {"loss": args.loss}
    if args.loss == "logistic":
        kind, own = LogisticRegressionCV, {}
    elif args.loss in REGRESSIONS:
        kind, splitter, own = LinearSVRCV, KFold, {"loss": args.loss, "epsilon": args.epsilon}
    return kind(
        Cs=grid,
        cv=splitter(args.folds, shuffle=True, random_state=args.seed),
        scoring=args.scoring,
        solver=args.solver,
        tol=args.tol,
        gap_tol=args.gap,
        fit_intercept=args.bias > 0.0,
        intercept_scaling=max(args.bias, 0.0) or 1.0,
        random_state=args.seed,
        **own,
    )


def _scoring_name(estimator: Any) -> str:
    from sklearn.base import is_classifier

    from hingeline.selection.scoring import scorer_of

    scorer_of(estimator, estimator.scoring)  # raises if there is none of that name
    return estimator.scoring or ("accuracy" if is_classifier(estimator) else "r2")


def _record(
    args: argparse.Namespace, folder: str, X: Any, y: np.ndarray, grid: np.ndarray, n_folds: int, scoring: str
) -> SearchRecord:
    from hingeline.io.csr import checksums
    from hingeline.selection.record import SearchRecord

    stop = {"tol": args.tol} if args.gap is None else {"gap": args.gap}
    problem = {
        "Cs": grid.tolist(),
        "loss": args.loss,
        "epsilon": args.epsilon if args.loss in REGRESSIONS else None,
        "bias": max(args.bias, 0.0),
        "solver": args.solver,
        "stop": stop,
        "scoring": scoring,
        "folds": n_folds,
        "seed": args.seed,
        "shape": [int(size) for size in X.shape],
        "data": checksums(X, y),
    }
    about = {
        "command": shlex.join(["hingeline", *(sys.argv[1:])]),
        "data": args.data,
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "loss": args.loss,
        "solver": args.solver,
        "scoring": scoring,
        "folds": n_folds,
        "seed": args.seed,
    }
    return SearchRecord(folder, problem, about, grid, n_folds)


def _search(args: argparse.Namespace, study: Any, record: SearchRecord, scoring: str) -> int:
    """Fill the table; fits of an earlier run are shown, and not repeated."""
    from joblib import effective_n_jobs

    from hingeline.selection.early import EarlyEnd
    from hingeline.selection.grid import Grid

    done = dict(record.table.cells)
    if done:
        print(f"{len(done)} fits of an earlier run are in {record.folder}", flush=True)
    print(f"{scoring} of {len(study.folds)} folds:", flush=True)
    try:
        with make_table(HEADER, WIDTHS) as shown:

            def on_cell(k: int, fold: int, cell: Cell, reached: list[Any]) -> None:
                record.keep(k, fold, cell, reached)
                shown.show(_line(k, record.table))

            table = Grid(
                study,
                record.table.Cs,
                early=None if args.no_early_stop else EarlyEnd(),
                n_threads=effective_n_jobs(args.threads or -1),
                on_cell=on_cell,
                on_row=lambda k, table: shown.add(_line(k, table)),
                done=done,
                reached=record.reached(),
            ).run()
    except KeyboardInterrupt:
        kept = len(record.table.cells)
        print(f"interrupted; {kept} fits are kept in {record.folder}, the same command continues", file=sys.stderr)
        return INTERRUPTED
    choice = record.finish(table)
    _print_choice(table, choice, args)
    _plot(record.folder)
    return 0


def _line(k: int, table: Table) -> list[str]:
    """Return a line of the table from the folds that are done."""
    import numpy as np

    from hingeline.selection.choice import means_and_errors

    cells = [table.cells[k, fold] for fold in range(table.n_folds) if (k, fold) in table.cells]
    mean, error = means_and_errors(np.array([cell.score for cell in cells]))
    error_text = "" if np.isnan(error) else f"{error:.4f}"
    seconds, gap = sum(cell.seconds for cell in cells), max(cell.gap for cell in cells)
    done = f"{len(cells)}/{table.n_folds}"
    return [f"{table.Cs[k]:g}", f"{mean:.4f}", error_text, f"{seconds:.2f}", f"{gap:.1e}", done]


def _print_choice(table: Table, choice: Choice, args: argparse.Namespace) -> None:
    skipped = sum((k, 0) not in table.cells for k in range(table.Cs.size))
    if skipped:
        print(f"{skipped} larger C skipped: scores fall, they can no longer win (--no-early-stop tries them)")
    capped = sum(not cell.converged for cell in table.cells.values())
    if capped:
        print(f"WARNING: {capped} fits ended before they converged", file=sys.stderr)
    best, one_se = float(table.Cs[choice.best]), float(table.Cs[choice.one_se])
    print(f"best C = {best:g} ({choice.means[choice.best]:.4f})")
    print(f"smallest C within one standard error = {one_se:g} ({choice.means[choice.one_se]:.4f})")


def _plot(folder: Path) -> None:
    """Draw score and seconds against C, and print which files there are."""
    saved = ["path.json", "path.csv"]
    if can_plot("viz"):
        from hingeline.io.atomic import atomic_write
        from hingeline.viz import CPathDisplay

        figure = new_figure(5.6, 5.8)
        CPathDisplay.from_search(folder, ax=figure.subplots(2, sharex=True))
        with atomic_write(folder / "path.png") as file:
            figure.savefig(file, format="png", dpi=120)
        saved.append("path.png")
    print(f"saved: {', '.join(str(folder / name) for name in saved)}")
