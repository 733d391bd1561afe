"""``hingeline train``: LIBLINEAR's ``train`` on hingeline's engines."""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import INTERRUPTED
from .standard_streams import STANDARD, open_output, results_beside
from .train_options import TRAIN_TEXT, TRAIN_USAGE, TrainOptions, parse_train
from .words import add_words_parser

if TYPE_CHECKING:
    import numpy as np

    from hingeline.liblinear.search import Found
    from hingeline.liblinear.training import Trained


def warn(text: str) -> None:
    """Print a line that is not a result."""
    print(text, file=sys.stderr)


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = add_words_parser(commands, "train", "train a model with LIBLINEAR's options", TRAIN_USAGE, TRAIN_TEXT)
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Read the data once, then train, cross-validate or search."""
    from .data_input import read_rows

    options = parse_train(args.parser, args.words)
    if options.assumed_type:
        warn(f"Solver not specified. Using -s {options.settings.type}")
    if options.run is not None:
        from hingeline.io.records.run_folder import prepare

        prepare(options.run)
    X, y = read_rows(options.data, options.quiet, options.label)
    if options.search:
        return _search(options, X, y)
    if options.folds is not None:
        return _cross_validate(options, X, y)
    return _train(options, X, y, shlex.join(("hingeline", "train", *args.words)))


def _train(options: TrainOptions, X: Any, y: np.ndarray, command: str) -> int:
    from hingeline.io.records.checkpoint import Starts
    from hingeline.liblinear.fit import fit
    from hingeline.liblinear.starts import open_checkpoint
    from hingeline.progress import open_screen
    from hingeline.runtime.interrupt import ends_training

    from .training_progress import bars_for

    starts = Starts()
    if options.checkpoint is not None:
        every = options.checkpoint_every
        starts = open_checkpoint(options.checkpoint, X, y, options.settings, every=every, warn=warn)
    with open_screen(not options.quiet) as screen, ends_training():
        report = bars_for(screen, y, options.settings).report if screen.shows else None
        trained = fit(X, y, options.settings, starts=starts, report=report, warn=warn)
    try:
        starts.save()
    finally:  # one of the two may fail, on a full disk: then the other is there
        status = _conclude(trained, options, X, y, command)
    return status


def _conclude(trained: Trained, options: TrainOptions, X: Any, y: np.ndarray, command: str) -> int:
    """Write and tell what was trained; return the exit status."""
    from .train_results import print_json, print_summary, training_content, unfinished

    interrupted = any(s.stop_reason == "interrupted" for s in trained.solutions)
    if interrupted and options.model is None and options.run is None:
        warn(f"interrupted: {unfinished(trained)}; no model was written, since no MODEL file was named")
        return INTERRUPTED
    places = _save(trained, options, X, y, command)
    out = results_beside(options.model)
    if options.json:
        print_json(training_content(trained, options.settings, places, options.data), out)
    elif not options.quiet:
        print_summary(trained, out)
    left = unfinished(trained)
    if interrupted:
        warn(f"interrupted: {left}; the model so far is saved to {' and '.join(places)}")
        return INTERRUPTED
    if left and not options.quiet:
        warn(f"WARNING: {left}")
    return 0


def _save(trained: Trained, options: TrainOptions, X: Any, y: np.ndarray, command: str) -> list[str]:
    """Write the model, the run folder, or both; return their names."""
    from hingeline.io.models.liblinear_file import write_model_file

    places = []
    if options.model is not None or options.run is None:
        name = options.model or _default_model(options.data)
        with open_output(name) as file:
            write_model_file(trained.model, file)
        places.append("standard output" if name == STANDARD else name)
    if options.run is not None:
        from hingeline.io.records.run_folder import write_run
        from hingeline.liblinear.record import record

        name = "standard input" if options.data == STANDARD else options.data
        write_run(options.run, record(command, name, X, y, options.settings, trained), trained.model)
        places.append(options.run)
    return places


def _cross_validate(options: TrainOptions, X: Any, y: np.ndarray) -> int:
    from hingeline.liblinear.evaluate import regression_figures
    from hingeline.liblinear.search import cross_validate
    from hingeline.progress import StepsBar, open_screen

    from .train_results import print_json

    assert options.folds is not None
    bar = StepsBar("cross validation", min(options.folds, y.size), "folds")
    with open_screen(not options.quiet) as screen, screen.showing(bar):
        tally = cross_validate(X, y, options.settings, options.folds, warn, bar.advance)
    is_regression = options.settings.solver_type.is_regression
    if options.json:
        figures = regression_figures(tally) if is_regression else {"accuracy": tally.correct / tally.rows}
        named = {name.replace(" ", "_"): value for name, value in figures.items()}
        print_json({"data": options.data, "folds": options.folds, "rows": tally.rows, **named}, sys.stdout)
    elif is_regression:
        print(f"Cross Validation Mean squared error = {tally.mean_squared_error:g}")
        print(f"Cross Validation Squared correlation coefficient = {tally.squared_correlation:g}")
    else:
        print(f"Cross Validation Accuracy = {tally.accuracy:g}%")
    return 0


def _search(options: TrainOptions, X: Any, y: np.ndarray) -> int:
    from hingeline.liblinear.search import search
    from hingeline.progress import StepsBar, open_screen

    from .train_results import print_json, search_content

    assert options.folds is not None
    if not options.json:
        print(f"Doing parameter search with {options.folds}-fold cross validation.", flush=True)
    says = not (options.quiet or options.json)
    tried: list[Found] = []
    bar = StepsBar("search", 1, "fits")

    def advance(done: int, most: int) -> None:
        bar.total = most
        bar.advance()

    with open_screen(not options.quiet) as screen, screen.showing(bar):
        found = search(
            X,
            y,
            options.settings,
            options.folds,
            options.start_C,
            options.start_p,
            partial(print, flush=True) if says else lambda text: None,
            warn,
            advance=advance,
            tried=tried,
        )
    if options.json:
        print_json(search_content(options.data, tried, found, options.settings), sys.stdout)
    elif options.settings.solver_type.is_regression:
        print(f"Best C = {found.C:g} Best p = {found.p:g}  CV MSE = {found.score:g}")
    else:
        print(f"Best C = {found.C:g}  CV accuracy = {100.0 * found.score:g}%")
    return 0


def _default_model(data: str) -> str:
    """Return LIBLINEAR's name for the model: that of the data, in the current folder."""
    return "stdin.model" if data == STANDARD else f"{Path(data).name}.model"
