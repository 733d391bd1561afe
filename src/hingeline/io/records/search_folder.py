"""What ``hingeline search`` leaves in a folder: how good each C was, fold by fold (``path.json``)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from .json_file import JsonFileError, check, read_json, write_json

FORMAT, VERSION = "hingeline search", 1
PATH = "path.json"

NUMBER = (float, None)
CELL = {"C": float, "scores": [NUMBER], "seconds": [NUMBER], "gaps": [NUMBER], "mean": NUMBER, "std_error": NUMBER}
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
    "cells": [CELL],
    "best_C": NUMBER,
    "one_se_C": NUMBER,
    "finished": bool,
}
SCALAR = (str, float, bool, None)
DETAILS = {"created": str, "settings": {"*": SCALAR}, "environment": {"*": SCALAR}}  # older files lack them
# What a search needs besides, to continue from the file.
RESUMABLE = {
    **SCHEMA,
    "cells": [{**CELL, "work": [NUMBER], "converged": [(bool, None)], "stop_reasons": [(str, None)]}],
    "problem": {},
}


def has_search(folder: str | PathLike[str]) -> bool:
    """Tell whether a folder holds a search, sound or not."""
    return (Path(folder) / PATH).is_file()


def read_search(place: str | PathLike[str], *, to_resume: bool = False) -> dict[str, Any]:
    """Return what a search has written, checked; ``place`` is its folder, or the file.

    Raises ``JsonFileError`` if the file is damaged, or holds too little for a search that is ``to_resume``.
    """
    path = Path(place)
    path = path / PATH if path.is_dir() else path
    schema = RESUMABLE if to_resume else SCHEMA
    document = {"created": "", "settings": {}, "environment": {}, **read_json(path, FORMAT, VERSION, schema)}
    try:
        check(document, DETAILS, "")
    except JsonFileError as error:
        raise JsonFileError(f"{path}: {error}") from None
    columns = [name for name, kind in schema["cells"][0].items() if isinstance(kind, list)]  # type: ignore[index]
    for k, cell in enumerate(document["cells"]):
        if cell["C"] <= 0.0:
            raise JsonFileError(f"{path}: cells[{k}].C is {cell['C']:g}, not above zero: the file is damaged.")
        for name in columns:
            if len(cell[name]) != document["folds"]:
                raise JsonFileError(
                    f"{path}: cells[{k}].{name} has {len(cell[name])} entries for {document['folds']} folds: the file "
                    "is damaged."
                )
    return document


def write_search(folder: str | PathLike[str], document: dict[str, Any]) -> None:
    """Write ``path.json``, as a whole or not at all."""
    write_json(Path(folder) / PATH, FORMAT, VERSION, document, indent=1)
