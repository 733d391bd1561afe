"""CSV and Parquet files with a label column, read by pyarrow."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

CSV, PARQUET = (".csv", ".tsv"), (".parquet", ".pq")
COMPRESSED = (".gz", ".bz2", ".zst")
MISSING_PYARROW = "reading CSV and Parquet needs pyarrow, which is not installed: pip install pyarrow."
MOST_NAMES = 10  # in an error


class Table(NamedTuple):
    """A table in numbers: X has a column for each of ``names``; y is None if no label column was named."""

    X: np.ndarray
    y: np.ndarray | None
    names: list[str]


def is_table(name: str) -> bool:
    """Tell by its name whether a file is CSV or Parquet."""
    return _suffix(name) in (*CSV, *PARQUET)


def _suffix(name: str) -> str:
    root, suffix = os.path.splitext(name.lower())
    return os.path.splitext(root)[1] if suffix in COMPRESSED else suffix


def read_table(source: Any, name: str, label: str | None) -> Table:
    """Read a path, or a file object that holds CSV; ``name`` is what errors call it."""
    table = _read(source, name)
    columns: list[str] = table.column_names
    repeated = sorted({column for column in columns if columns.count(column) > 1})
    if repeated:
        raise ValueError(f"{name}: several columns are called {repeated[0]!r}; rename them.")
    if label is not None and label not in columns:
        shown = ", ".join(columns[:MOST_NAMES]) + (", ..." if len(columns) > MOST_NAMES else "")
        raise ValueError(f"{name}: there is no column {label!r}; the columns are {shown}.")
    names = [column for column in columns if column != label]
    if not names or table.num_rows == 0:
        raise ValueError(f"{name}: it holds no {'features' if table.num_rows else 'rows'}; it needs at least one.")
    X = np.empty((table.num_rows, len(names)))
    for j, column in enumerate(names):
        X[:, j] = _numbers(table.column(column), name, column)
    y = None if label is None else _numbers(table.column(label), name, label, "encode labels, or train in Python")
    return Table(X, y, names)


def _read(source: Any, name: str) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import csv, parquet
    except ModuleNotFoundError:
        raise ValueError(f"{name}: {MISSING_PYARROW}") from None
    try:
        if isinstance(source, str) and _suffix(source) in PARQUET:
            return parquet.read_table(source)
        tabs = isinstance(source, str) and _suffix(source) == ".tsv"
        return csv.read_csv(source, parse_options=csv.ParseOptions(delimiter="\t" if tabs else ","))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{name}: it cannot be read as a table ({str(error).splitlines()[0].rstrip('.')}).") from None


def _numbers(values: Any, name: str, column: str, remedy: str = "encode it, or leave it out") -> np.ndarray:
    """Return a column as float64; raise if it holds anything but finite numbers."""
    import pyarrow as pa

    kind, where = values.type, f"{name}: column {column!r}"
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        first = next((str(value) for value in values.to_pylist() if value is not None), "nothing")
        raise ValueError(f"{where} holds {kind} ({first[:40]!r}), but must hold numbers: {remedy}.")
    if values.null_count:
        row = int(np.argmax(values.is_null().to_numpy()))
        raise ValueError(f"{where} is empty in row {row + 1}: fill in missing values, or leave the column out.")
    found = values.to_numpy().astype(np.float64)
    finite = np.isfinite(found)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"{where} is {found[row]} in row {row + 1}: replace it with a finite number, or drop the row.")
    return found
