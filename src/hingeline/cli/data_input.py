"""Reading DATA of a command line: text, compressed text, a dataset folder, or standard input."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .standard_streams import STANDARD, standard_input

if TYPE_CHECKING:
    import numpy as np

    from hingeline.io.text.small import PlainRows


def read_rows(name: str, quiet: bool = False, label: str | None = None) -> tuple[Any, np.ndarray]:
    """Return rows (CSR) and labels; in text, indices begin at 1, as in LIBLINEAR.

    If the column ``label`` is named, DATA is a table: CSV or Parquet by its name, CSV from standard input.
    """
    from hingeline.io import load_svmlight
    from hingeline.progress import counting

    if label is not None:
        X, y = read_columns(name, label, quiet)
        assert y is not None
        return X, y
    if looks_like_table(name):
        raise ValueError(f"{name} is a table: add --label COLUMN with the name of its label column.")
    if name != STANDARD and Path(name).is_dir():
        from hingeline.io import open_dataset

        X, y = open_dataset(name)
    else:
        with counting("reading", wanted=not quiet) as bar:
            X, y = load_svmlight(standard_input() if name == STANDARD else name, zero_based=False, progress=bar)
    if y.size == 0:
        raise ValueError(f"{name}: it holds no rows; at least one is needed.")
    return X, y


def looks_like_table(name: str) -> bool:
    """Tell by its name whether DATA is CSV or Parquet."""
    from hingeline.io.tables import is_table

    return name != STANDARD and is_table(name) and not Path(name).is_dir()


def read_columns(name: str, label: str | None, quiet: bool) -> tuple[Any, np.ndarray | None]:
    """Return the rows (CSR) of a table, and its labels if their column is named."""
    from scipy import sparse

    from hingeline.io.tables import is_table, read_table
    from hingeline.progress import Bar, open_screen

    if name != STANDARD and not is_table(name):
        kinds = ".csv, .tsv (also .gz, .bz2, .zst) or .parquet"
        raise ValueError(f"--label {label}: {name} is not a table; its name must end in {kinds}.")
    with open_screen(not quiet) as screen, screen.showing(Bar("reading")):
        table = read_table(standard_input() if name == STANDARD else name, name, label)
        return sparse.csr_matrix(table.X), table.y


def read_small_rows(name: str) -> tuple[PlainRows, np.ndarray] | None:
    """Return rows and labels of a small file of plain text; None for anything else, which ``read_rows`` reads."""
    from hingeline.io.text.small import MOST_BYTES, parse_small

    try:
        about = os.stat(name)
    except OSError:
        return None
    if not (stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES):
        return None
    with open(name, "rb") as file:
        text = file.read(MOST_BYTES + 1)
    return parse_small(text) if len(text) <= MOST_BYTES else None
