"""What ``hingeline search`` leaves in a folder: how good each C was, fold by fold (``path.json``)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from .json_file import JsonFileError, read_json

FORMAT, VERSION = "hingeline search", 1
PATH = "path.json"

MAYBE = (float, None)
SCHEMA = {
    "command": str,
    "data": str,
    "n_samples": int,
    "n_features": int,
    "loss": str,
    "solver": str,
    "scoring": str,
    "folds": int,
    "seed": (int, None),
    "cells": [{"C": float, "scores": [MAYBE], "seconds": [MAYBE], "gaps": [MAYBE], "mean": MAYBE, "std_error": MAYBE}],
    "best_C": MAYBE,
    "one_se_C": MAYBE,
    "finished": bool,
}


def has_search(folder: str | PathLike[str]) -> bool:
    """Tell whether a folder means to be a search's."""
    return (Path(folder) / PATH).is_file()


def read_search(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return what ``path.json`` says, checked; raises ``JsonFileError`` where it is damaged."""
    path = Path(folder) / PATH
    document = read_json(path, FORMAT, VERSION, SCHEMA)
    for k, cell in enumerate(document["cells"]):
        if cell["C"] <= 0.0:
            raise JsonFileError(f"{path}: cells[{k}].C is {cell['C']:g}, not above zero: the file is damaged.")
    return document
