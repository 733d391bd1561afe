"""``hingeline predict``: LIBLINEAR's ``predict``, for models in LIBLINEAR's format and in hingeline's own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .predict_options import PREDICT_TEXT, PREDICT_USAGE, parse_predict
from .standard_streams import open_model_input, open_output, results_beside
from .words import add_words_parser

if TYPE_CHECKING:
    import numpy as np

    from hingeline.io.models.liblinear_file import LinearModel
    from hingeline.liblinear.evaluate import Tally

    from .predict_options import PredictOptions

ROWS = 1 << 14  # written at a time


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = add_words_parser(commands, "predict", "predict with a model", PREDICT_USAGE, PREDICT_TEXT)
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Read model and data, write one line per row, and print how well the labels are predicted."""
    from hingeline.liblinear.evaluate import Tally
    from hingeline.liblinear.predict import decide, scores

    options = parse_predict(args.parser, args.words)
    model = _read_model(options.model)
    if options.probabilities and not model.solver_type.has_probabilities:
        raise ValueError("-b 1: probability output is only supported for logistic regression; leave -b out.")
    if options.scores and model.solver_type.is_regression:
        raise ValueError("--scores: the predictions of a regression are its scores; leave it out.")
    X, y = _rows(model, options)
    values = scores(model, X)
    predicted = decide(model, values)
    with open_output(options.output) as file, _writing(predicted.size, options.quiet) as progress:
        for done, block in enumerate(_lines(model, predicted, values, options)):
            file.write(block.encode("ascii"))
            progress(min(done * ROWS, predicted.size), predicted.size)
    tally = Tally(rows=predicted.size) if y is None else Tally().add(predicted, y)
    if options.json or not (options.quiet or y is None):
        _print_result(model, tally, options, has_labels=y is not None)
    return 0


@contextmanager
def _writing(n_rows: int, quiet: bool) -> Iterator[Callable[[float, float | None], object]]:
    """Show how much is written, unless there is little to write."""
    if quiet or n_rows <= ROWS:
        yield lambda done, total: None
        return
    from hingeline.progress import counting

    with counting("writing", " rows") as bar:
        yield bar


def _rows(model: LinearModel, options: PredictOptions) -> tuple[Any, np.ndarray | None]:
    """Return the rows to predict, and their labels, which a table need not have."""
    from .data_input import looks_like_table, read_columns, read_rows, read_small_rows

    if options.label is None and not looks_like_table(options.data):
        return read_small_rows(options.data) or read_rows(options.data, options.quiet)
    X, y = read_columns(options.data, options.label, options.quiet)
    if X.shape[1] != model.n_features:
        hint = "; --label names the column of labels" if options.label is None else ""
        raise ValueError(
            f"{options.data} has {X.shape[1]} feature columns, but the model {options.model} was trained on "
            f"{model.n_features}{hint}."
        )
    return X, y


def _print_result(model: LinearModel, tally: Tally, options: PredictOptions, has_labels: bool) -> None:
    """Print how well labels or targets are predicted."""
    out = results_beside(options.output)
    if options.json:
        import json

        content = {"data": options.data, "model": options.model, "output": options.output, "rows": tally.rows}
        figures = _figures(model, tally) if has_labels else {}
        print(json.dumps({**content, **figures}, allow_nan=False), file=out)
    elif model.solver_type.is_regression:
        print(f"Mean squared error = {tally.mean_squared_error:g} (regression)", file=out)
        print(f"Squared correlation coefficient = {tally.squared_correlation:g} (regression)", file=out)
    else:
        print(f"Accuracy = {tally.accuracy:g}% ({tally.correct}/{tally.rows})", file=out)


def _figures(model: LinearModel, tally: Tally) -> dict[str, float | None]:
    if not model.solver_type.is_regression:
        return {"correct": tally.correct, "accuracy": tally.correct / tally.rows}
    from hingeline.liblinear.evaluate import regression_figures

    return {name.replace(" ", "_"): value for name, value in regression_figures(tally).items()}


def _read_model(path: str) -> LinearModel:
    from hingeline.io.models.files import from_content, read_content, to_liblinear
    from hingeline.io.models.liblinear_file import LinearModel
    from hingeline.io.models.native_linear import linear_model

    with open_model_input(path) as file:
        content = read_content(file, path)
    if isinstance(content, LinearModel):
        return content
    return linear_model(content) or to_liblinear(from_content(content, path))


def _lines(model: LinearModel, predicted: np.ndarray, values: np.ndarray, options: PredictOptions) -> Iterator[str]:
    """Yield the text of OUTPUT, block by block."""
    import numpy as np

    from hingeline.liblinear.predict import probabilities

    labels = model.labels or (1,)
    more = np.empty((predicted.size, 0))
    number = "%g"
    if options.probabilities:
        yield " ".join(("labels", *map(str, labels))) + "\n"
        more = probabilities(model, values)
    elif options.scores:
        yield " ".join(("scores", *map(str, labels[: values.shape[1]]))) + "\n"
        more, number = values, "%.17g"
    line = "%.17g" + f" {number}" * more.shape[1] + "\n"
    for begin in range(0, predicted.size, ROWS):
        rows = np.column_stack((predicted[begin : begin + ROWS], more[begin : begin + ROWS]))
        yield line * len(rows) % tuple(rows.ravel().tolist())
