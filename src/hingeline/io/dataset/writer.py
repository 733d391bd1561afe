"""Writing datasets: rows come in blocks, memory is bounded, and the folder appears complete or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..csr import row_blocks, scan_rows
from ..leftovers import held_folder, remove, remove_leftover
from .arrays import CHUNK_BYTES, DTYPES, GrowingArray
from .folder import DESCRIPTION, Description, count_labels, is_dataset

MOST_COLUMNS = 2**60  # what the JSON file may say
BLOCK_ENTRIES = CHUNK_BYTES // 8  # written at a time
PARTIAL, REPLACED = "partial", "replaced"  # in the names of hidden folders


class DatasetWriter:
    """Collects rows in a hidden folder beside ``path``; ``commit`` renames it.

    Used in a ``with`` statement: if it ends before ``commit``, nothing is left behind. A process that is killed leaves
    the hidden folder; the next writer of the same dataset removes it.
    """

    def __init__(self, path: str | PathLike[str], *, force: bool = False, source: str = "") -> None:
        self.path = Path(path)
        if self.path.is_symlink():  # its target is written, and the link stays
            self.path = self.path.resolve()
        self.force = force
        self.source = source
        self.rows = self.nonzeros = 0
        self.widest = 0  # number of columns that the rows so far need
        self.label_counts: dict[float, int] | None = {}
        _remove_leftovers(self.path)
        self.check_target()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.folder, self._held = held_folder(self._make_folder)
        self.indptr = GrowingArray(self.folder / "indptr.npy", (np.int32, np.int64))
        self.indptr.append(np.zeros(1, np.int32))
        self.indices = GrowingArray(self.folder / "indices.npy", (np.int32, np.int64))
        self.data: GrowingArray | None = None  # until a value is not 1
        self.labels: GrowingArray | None = None  # its type is that of the first block

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(self, *error: object) -> None:
        for array in (self.indptr, self.indices, self.data, self.labels):
            if array is not None:
                with suppress(OSError):  # the disk may be full, and what is still in memory is not needed
                    array.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._held >= 0:
            os.close(self._held)

    def _make_folder(self) -> Path:
        folder = _hidden_beside(self.path, PARTIAL)
        folder.mkdir()
        return folder

    def check_target(self) -> None:
        """Raise if the folder must not be written: only datasets are ever replaced."""
        if not os.path.lexists(self.path):
            return
        if not self.force:
            raise FileExistsError(f"{self.path} already exists: choose another name, or replace it with --force.")
        if not is_dataset(self.path):
            raise FileExistsError(f"{self.path} is not a dataset, so --force does not replace it: delete it yourself.")

    def append(self, labels: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> None:
        """Add rows: the arrays of a CSR matrix, columns counted from 0, ``indptr`` beginning with 0.

        Columns are int32 or int64, values float32 or float64.
        """
        if values.shape != indices.shape:
            raise ValueError(f"the rows have {indices.size} columns, but {values.size} values: one is needed for each.")
        self._append_labels(labels)
        indptr = indptr.astype(np.int64, copy=False)
        # As an unsigned number, a negative column is beyond the largest one.
        bad, _, all_ones = scan_rows(indptr, indices, values, min(int(np.iinfo(indices.dtype).max) + 1, MOST_COLUMNS))
        if bad >= 0 or indptr[0] != 0 or indptr[-1] != indices.size:
            raise ValueError(f"row {self.rows + max(bad, 0)} is malformed: its pointers or columns are out of range.")
        self.indptr.append(indptr[1:] + self.nonzeros)
        self.indices.append(indices)
        if self.data is None and not all_ones:
            self.data = GrowingArray(self.folder / "data.npy", (np.float32, np.float64))
            self._append_ones(self.nonzeros)
        if self.data is not None:
            self.data.append(values)
        self.rows += indptr.size - 1
        self.nonzeros += indices.size
        if indices.size:
            self.widest = max(self.widest, int(indices.max()) + 1)

    def shift_columns(self, by: int) -> None:
        """Add ``by`` to every column so far, because the text turned out to count from 0."""
        if self.indices.size:
            self.indices.rewrite(lambda old: old.astype(np.int64) + by)
            self.widest += by

    def _append_labels(self, labels: np.ndarray) -> None:
        if self.labels is None:
            if labels.dtype.name not in DTYPES:
                raise ValueError(f"labels are of type {labels.dtype}: a dataset holds numbers; encode them first.")
            self.labels = GrowingArray(self.folder / "labels.npy", (labels.dtype,))
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            i = int(np.argmin(np.isfinite(labels)))
            raise ValueError(f"the label of row {self.rows + i} is {labels[i]}: labels must be finite numbers.")
        self.labels.append(labels)
        self.label_counts = count_labels(self.label_counts, labels)

    def _append_ones(self, count: int) -> None:
        assert self.data is not None
        for begin in range(0, count, CHUNK_BYTES // 4):
            self.data.append(np.ones(min(CHUNK_BYTES // 4, count - begin), np.float32))

    def commit(self, *, columns: int | None = None, index_base: int = 0) -> Description:
        """Complete the dataset and rename its folder; ``columns`` may be more than the rows use."""
        if self.labels is None or self.rows == 0:
            raise ValueError(f"{self.source or 'the data'} holds no rows: there is nothing to write.")
        if columns is not None and columns < self.widest:
            raise ValueError(f"The data has {self.widest} columns, but only {columns} were requested: request more.")
        arrays = {"indptr": self.indptr, "indices": self.indices, "data": self.data, "labels": self.labels}
        description = Description(
            rows=self.rows,
            columns=self.widest if columns is None else columns,
            nonzeros=self.nonzeros,
            vectors={name: array.finish() for name, array in arrays.items() if array is not None},
            label_counts=None if self.label_counts is None else sorted(self.label_counts.items()),
            index_base=index_base,
            source=self.source,
        )
        with open(self.folder / DESCRIPTION, "w", encoding="ascii") as file:
            file.write(description.to_json())
            file.flush()
            os.fsync(file.fileno())
        self._publish()
        return description

    def _publish(self) -> None:
        _sync(self.folder)
        self.check_target()
        replaced = None
        if self.path.exists():
            replaced = _hidden_beside(self.path, REPLACED)
            os.rename(self.path, replaced)
        os.rename(self.folder, self.path)
        _sync(self.path.parent)
        if replaced is not None:
            shutil.rmtree(replaced, ignore_errors=True)


def write_dataset(path: str | PathLike[str], X: Any, y: Any, *, force: bool = False) -> None:
    """Write ``X`` and ``y`` as a dataset that ``open_dataset`` opens.

    Parameters
    ----------
    path : str or path
        The folder to create; it appears when it is complete.
    X : matrix of shape (rows, columns)
        SciPy sparse, or anything that NumPy can convert to a matrix of numbers.
    y : vector of numbers, one per row
    force : bool
        Replace a dataset that exists already.
    """
    y = np.asarray(y)
    X = _as_csr(X)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y has shape {y.shape}, but X has {X.shape[0]} rows: pass one label per row.")
    with DatasetWriter(path, force=force, source="memory") as writer:
        for begin, end in row_blocks(X.indptr, BLOCK_ENTRIES, BLOCK_ENTRIES):
            first, last = int(X.indptr[begin]), int(X.indptr[end])
            indptr = X.indptr[begin : end + 1].astype(np.int64) - first
            writer.append(y[begin:end], indptr, X.indices[first:last], _as_floats(X.data[first:last]))
        writer.commit(columns=X.shape[1])


def _as_csr(X: Any) -> Any:
    if not sparse.issparse(X):
        X = np.atleast_2d(np.asarray(X))
        _as_floats(X[:1])
        return sparse.csr_matrix(X)
    if X.format == "csr":
        return X
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)  # SciPy's conversions would crash on a malformed matrix
    return X.tocsr()


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Return values in float32 or float64: in their own type, or in the smaller one that holds them exactly."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biuf":
        raise ValueError(f"X holds values of type {values.dtype}: a dataset holds real numbers; encode them first.")
    if kind == "f" and size in (4, 8):
        return values
    return values.astype(np.float32 if kind == "b" or size <= 2 else np.float64)


def _sync(folder: Path) -> None:
    """Make sure that the entries of a folder are on disk, if the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """Remove what writers that were killed have left of the dataset ``path``, unless another one is at work.

    One that was killed while it replaced a dataset may have moved that away: then it is moved back.
    """
    pattern = re.compile(rf"\.{re.escape(path.name)}\.({PARTIAL}|{REPLACED})-[0-9a-f]{{8}}")
    try:
        found = {name: match[1] for name in os.listdir(path.parent) if (match := pattern.fullmatch(name))}
    except OSError:
        return
    removed = [remove_leftover(path.parent / name) for name, what in found.items() if what == PARTIAL]
    for replaced in (path.parent / name for name, what in found.items() if what == REPLACED and all(removed)):
        if os.path.lexists(path):
            remove(replaced)
        else:
            os.rename(replaced, path)


def _hidden_beside(path: Path, what: str) -> Path:
    return path.parent / f".{path.name}.{what}-{secrets.token_hex(4)}"
