"""A run folder, which ``hingeline train --run`` leaves: what was trained, on what, how it went, and the model.

============  ====================================================================================================
``run.json``  command, versions, data, settings, the certificate and history of each problem ("machines"), how the
              training rows are predicted
``model``     the model, in LIBLINEAR's format
============  ====================================================================================================

``run.json`` is written last, so that a folder that has one is complete.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from ..models.liblinear_file import LinearModel, write_model
from .json_file import JsonFileError, check, read_json, write_json

FORMAT, VERSION = "hingeline run", 1
RUN, MODEL = "run.json", "model"

SCALAR = (str, float, bool, None)
HISTORY = {
    "sweep": [int],
    "seconds": [float],
    "steps": [int],
    "violation": [(float, None)],
    "gap": [(float, None)],
}
DETAILS = {"seconds": (float, None)}  # of the whole training; older files lack them
BOUNDS = {"objective": [(float, None)], "lower_bound": [(float, None)], "phase": [int]}  # older files lack them
PROBLEM = {
    "label": (str, None),
    "solver": str,
    "n_iter": int,
    "n_steps": int,
    "n_support": (int, None),
    "seconds": float,
    "converged": bool,
    "stop_reason": str,
    "violation": (float, None),
    "primal": (float, None),
    "dual": (float, None),
    "gap": (float, None),
    "history": HISTORY,
}
DATA = {
    "name": str,
    "rows": (int, None),
    "columns": int,
    "nonzeros": (int, None),
    "shortest_row": (int, None),
    "longest_row": (int, None),
    "values": (str, None),
    "labels": ([{"label": str, "rows": int}], None),
    "targets": ({"*": float}, None),
}
EVALUATION = {
    "data": str,
    "rows": int,
    "figures": {"*": (float, None)},
    "labels": ([str], None),
    "counts": ([[int]], None),  # true label, predicted label, number of rows; pairs that do not occur are left out
}
SCHEMA = {
    "command": str,
    "created": str,
    "title": str,
    "settings": {"*": SCALAR},
    "data": DATA,
    "machines": [PROBLEM],
    "evaluation": (EVALUATION, None),
    "environment": {"*": (str, float)},
}


def write_run(folder: str | PathLike[str], document: dict[str, Any], model: LinearModel) -> None:
    """Write a run; an earlier one in the folder is replaced."""
    path = prepare(folder)
    (path / RUN).unlink(missing_ok=True)
    write_model(model, path / MODEL)
    write_json(path / RUN, FORMAT, VERSION, document)


def prepare(folder: str | PathLike[str]) -> Path:
    """Create the folder if it is missing: an error is better before training than after it."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileExistsError(f"{path} is a file: name a folder for the run.") from None
    return path


def has_run(folder: str | PathLike[str]) -> bool:
    """Tell whether a folder holds a run, sound or not."""
    return (Path(folder) / RUN).is_file()


def read_run(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return the content of ``run.json``, checked; raises ``JsonFileError`` if it is damaged."""
    path = Path(folder) / RUN
    document = {"seconds": None, **read_json(path, FORMAT, VERSION, SCHEMA)}
    try:
        check(document, DETAILS, "")
        for k, problem in enumerate(document["machines"]):
            history = problem["history"]
            for name in BOUNDS:
                history.setdefault(name, [0 if name == "phase" else None] * len(history["sweep"]))
            check(history, BOUNDS, f"machines[{k}].history")
            if len({len(history[name]) for name in (*HISTORY, *BOUNDS)}) > 1:
                raise JsonFileError(f"machines[{k}].history has columns of different lengths: the file is damaged.")
        check_counts(document["evaluation"])
    except JsonFileError as error:
        raise JsonFileError(f"{path}: {error}") from None
    return document


def check_counts(evaluation: dict[str, Any] | None) -> None:
    """Raise if the counts name labels that are not listed."""
    counts = evaluation and evaluation["counts"]
    if not (evaluation and counts):
        return
    n = len(evaluation["labels"] or ())
    for k, count in enumerate(counts):
        if not (len(count) == 3 and max(count[:2]) < n):
            raise JsonFileError(f"evaluation.counts[{k}] names no pair of the {n} labels: the file is damaged.")
