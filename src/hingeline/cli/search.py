"""``hingeline search``: choose C by cross-validation, with a growing table, a file to resume from and a plot."""

from __future__ import annotations

import argparse
import shlex
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import DATA_HELP, INTERRUPTED, LABEL_HELP, HelpFormatter
from .plots import can_plot, new_figure
from .search_options import REGRESSIONS, add_options, check, class_weights, estimator_of, grid_of, settings_of
from .standard_streams import STANDARD, open_output, results_beside
from .table import make_table
from .train_results import finite, print_json, print_summary, training_content, unfinished

if TYPE_CHECKING:
    import numpy as np

    from hingeline.selection.choice import Choice
    from hingeline.selection.record import SearchRecord
    from hingeline.selection.table import Cell, Table

HEADER, WIDTHS = ("C", "score", "+-", "seconds", "gap", "folds"), (10, 8, 8, 8, 8, 7)


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "search",
        help="choose C by cross-validation: a table, a file and a plot",
        description="Choose C by cross-validation on a grid; each fit starts from that of the previous C. If a search "
        "was interrupted, the same command continues it.",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument("--label", metavar="COLUMN", help=LABEL_HELP)
    add_options(parser)
    parser.add_argument("--model", metavar="FILE", help="train with the best C on all rows, and write the model there")
    parser.add_argument("--out", metavar="DIR", help="folder for the results (default: the name of DATA with .search)")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Read, search, choose, draw."""
    from .data_input import read_rows

    check(args)
    grid = grid_of(args)
    X, y = read_rows(args.data, label=args.label)
    estimator = estimator_of(args, grid, y)
    try:
        scoring = _scoring_name(estimator)
    except ValueError as error:
        args.parser.error(f"--scoring: {error}")
    study = estimator.study(X, y)
    folder = args.out or f"{'stdin' if args.data == STANDARD else Path(args.data).resolve().name}.search"
    record = _record(args, folder, X, y, grid, len(study.folds), scoring)
    try:
        choice = _search(args, study, record, scoring)
    except KeyboardInterrupt:
        kept = len(record.table.cells)
        print(f"interrupted; {kept} fits are kept in {record.folder}: the same command continues", file=sys.stderr)
        return INTERRUPTED
    return _conclude(args, record, choice, X, y)


def _scoring_name(estimator: Any) -> str:
    from sklearn.base import is_classifier

    from hingeline.selection.scoring import scorer_of

    scorer_of(estimator, estimator.scoring)  # raises if there is none of that name
    return estimator.scoring or ("accuracy" if is_classifier(estimator) else "r2")


def _record(
    args: argparse.Namespace, folder: str, X: Any, y: np.ndarray, grid: np.ndarray, n_folds: int, scoring: str
) -> SearchRecord:
    from hingeline.io.csr import checksums
    from hingeline.runtime.environment import environment
    from hingeline.selection.record import SearchRecord

    stop = {"tol": args.tol} if args.gap is None else {"gap": args.gap}
    problem = {
        "Cs": grid.tolist(),
        "loss": args.loss,
        "epsilon": args.epsilon if args.loss in REGRESSIONS else None,
        "bias": max(args.bias, 0.0),
        "free_bias": args.free,
        "weights": [list(pair) for pair in class_weights(args)],
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
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "settings": {
            **{{"tol": "tolerance", "gap": "relative gap"}[name]: value for name, value in stop.items()},
            "constant feature": max(args.bias, 0.0),
            "intercept is free": args.free,
            **{f"weight of {label}": weight for label, weight in class_weights(args)},
        },
        "environment": environment(),
    }
    return SearchRecord(folder, problem, about, grid, n_folds)


def _search(args: argparse.Namespace, study: Any, record: SearchRecord, scoring: str) -> Choice:
    """Fill the table, and choose; fits of an earlier run are shown, and not repeated."""
    from hingeline.progress import StepsBar
    from hingeline.selection.early import EarlyEnd
    from hingeline.selection.grid import Grid

    done = dict(record.table.cells)
    if done and not args.json:
        print(f"{len(done)} fits of an earlier run are in {record.folder}", flush=True)
    if not args.json:
        print(f"{scoring} of {len(study.folds)} folds:", flush=True)
    bar = StepsBar("search", record.table.Cs.size * len(study.folds) - len(done), "fits")
    with make_table(HEADER, WIDTHS, json=args.json) as shown:

        def on_cell(k: int, fold: int, cell: Cell, reached: list[Any]) -> None:
            record.keep(k, fold, cell, reached)
            bar.advance()
            shown.tell(bar.line().text)
            shown.show(_line(k, record.table))

        table = Grid(
            study,
            record.table.Cs,
            early=None if args.no_early_stop else EarlyEnd(),
            n_threads=args.threads,
            on_cell=on_cell,
            on_row=lambda k, table: shown.add(_line(k, table)),
            done=done,
            reached=record.reached(),
        ).run()
        shown.tell("")
    return record.finish(table)


def _conclude(args: argparse.Namespace, record: SearchRecord, choice: Choice, X: Any, y: np.ndarray) -> int:
    """Tell what was chosen, draw it, and train the model that was asked for; return the exit status."""
    table = record.table
    best = float(table.Cs[choice.best])
    _warn_of(table)
    if not args.json:
        _print_choice(table, choice)
        _plot(record.folder)
    model = None
    if args.model is not None:
        status, model = _train_winner(args, best, X, y)
        if status != 0:
            return status
    if args.json:
        print_json(_content(args, record, choice, model), results_beside(args.model))
    return 0


def _train_winner(args: argparse.Namespace, C: float, X: Any, y: np.ndarray) -> tuple[int, dict[str, Any]]:
    """Train with the best C on all rows as ``train`` does, and write the model."""
    from hingeline.io.models.liblinear_file import write_model_file
    from hingeline.liblinear.fit import fit
    from hingeline.progress import open_screen
    from hingeline.runtime.interrupt import ends_training

    from .training_progress import bars_for

    settings = settings_of(args, C)
    with open_screen() as screen, ends_training():
        report = bars_for(screen, y, settings).report if screen.shows else None
        trained = fit(X, y, settings, report=report, warn=lambda text: print(text, file=sys.stderr))
    with open_output(args.model) as file:
        write_model_file(trained.model, file)
    if not args.json:
        print_summary(trained, results_beside(args.model))
    left = unfinished(trained)
    if left:
        print(f"WARNING: {left}", file=sys.stderr)
    interrupted = any(s.stop_reason == "interrupted" for s in trained.solutions)
    return INTERRUPTED if interrupted else 0, training_content(trained, settings, [args.model], args.data)


def _content(
    args: argparse.Namespace, record: SearchRecord, choice: Choice, model: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the results, for JSON."""
    table = record.table
    rows = [
        {"C": float(C), "score": finite(choice.means[k]), "std_error": finite(choice.std_errors[k])}
        for k, C in enumerate(table.Cs)
    ]
    return {
        "data": args.data,
        "folder": str(record.folder),
        "folds": table.n_folds,
        "table": rows,
        "best_C": float(table.Cs[choice.best]),
        "one_se_C": float(table.Cs[choice.one_se]),
        "at_edge": _edge_hint(table, choice) is not None,
        "model": model,
    }


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


def _warn_of(table: Table) -> None:
    capped = sum(not cell.converged for cell in table.cells.values())
    if capped:
        print(f"WARNING: {capped} fits ended before they converged", file=sys.stderr)


def _print_choice(table: Table, choice: Choice) -> None:
    skipped = sum((k, 0) not in table.cells for k in range(table.Cs.size))
    if skipped:
        print(f"{skipped} larger C skipped: scores fall, so they can no longer win (--no-early-stop tries them)")
    best, one_se = float(table.Cs[choice.best]), float(table.Cs[choice.one_se])
    print(f"best C = {best:g} ({choice.means[choice.best]:.4f})")
    print(f"smallest C within one standard error = {one_se:g} ({choice.means[choice.one_se]:.4f})")
    hint = _edge_hint(table, choice)
    if hint is not None:
        print(hint)


def _edge_hint(table: Table, choice: Choice) -> str | None:
    """Return a hint if the best C is the first or the last of several: a better one may lie beyond."""
    first, last = float(table.Cs[0]), float(table.Cs[-1])
    if table.Cs.size > 1 and choice.best == table.Cs.size - 1:
        return f"the best C is the largest one tried: try larger ones (--c-max {100.0 * last:g})"
    if table.Cs.size > 1 and choice.best == 0:
        return f"the best C is the smallest one tried: try smaller ones (--c-min {first / 100.0:g})"
    return None


def _plot(folder: Path) -> None:
    """Draw score and seconds against C, and print which files there are."""
    saved = ["path.json", "path.csv"]
    if can_plot():
        from hingeline.io.atomic import atomic_write
        from hingeline.viz import CPathDisplay

        figure = new_figure(5.6, 5.8)
        CPathDisplay.from_search(folder, ax=figure.subplots(2, sharex=True))
        with atomic_write(folder / "path.png") as file:
            figure.savefig(file, format="png", dpi=120)
        saved.append("path.png")
    print(f"saved: {', '.join(str(folder / name) for name in saved)}")
