"""Datasets on disk: a folder of plain ``.npy`` vectors and a small JSON file, opened without being read.

================  ===========================================================================================
``dataset.json``  format, shape, number of non-zeros, type and checksum of each vector, labels and their counts
``indptr.npy``    row i has the entries indptr[i] to indptr[i + 1]; int32, or int64 if needed
``indices.npy``   columns, from 0; int32, or int64 if needed
``data.npy``      values, in float32 if that is exact, else in float64; no such file if all values are 1
``labels.npy``    one number per row, in the type in which they were given
================  ===========================================================================================

Types, lengths and row pointers are checked when a folder is opened, columns when training reads them (or with
``verify=True``, together with the checksums).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..csr import scan_rows
from .arrays import CHUNK_BYTES, DAMAGED, DTYPES, ArrayFile, DatasetError, check_sha256, map_array

FORMAT, VERSION = "hingeline dataset", 1
DESCRIPTION = "dataset.json"
MOST_BYTES_OF_JSON = 1 << 20
INTEGERS, FLOATS = ("int32", "int64"), ("float32", "float64")
VECTORS = {"indptr": INTEGERS, "indices": INTEGERS, "data": FLOATS, "labels": DTYPES}
OPTIONAL_VECTORS = {"data"}


@dataclass(frozen=True)
class Description:
    """The content of ``dataset.json``. ``label_counts`` is None if there are too many labels for classes."""

    rows: int
    columns: int
    nonzeros: int
    vectors: dict[str, ArrayFile]
    label_counts: list[tuple[float, int]] | None
    index_base: int  # index of the first column in the text that the dataset was made from
    source: str

    @property
    def all_ones(self) -> bool:
        """Whether every value is 1, so that none is stored."""
        return "data" not in self.vectors

    @property
    def bytes(self) -> int:
        """Bytes of the vectors."""
        return sum(np.dtype(vector.dtype).itemsize * vector.size for vector in self.vectors.values())

    def to_json(self) -> str:
        """Return the text of ``dataset.json``."""
        fields = asdict(self) | {"vectors": {name: vector._asdict() for name, vector in self.vectors.items()}}
        return json.dumps({"format": FORMAT, "version": VERSION, **fields}, indent=1) + "\n"


def open_dataset(path: str | PathLike[str], *, verify: bool = False) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Open a dataset that ``hingeline convert`` or ``write_dataset`` has made.

    Parameters
    ----------
    path : str or path
        The folder.
    verify : bool
        Read everything once and compare it with its checksums; otherwise only lengths, types and row pointers are
        checked. Use it for a folder from elsewhere that you pass on to code other than hingeline's.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (rows, columns)
        Its arrays are read-only views of the files. If all values are 1, ``X.data`` is a single 1 that stands for all
        non-zeros: it takes no memory here, but other libraries may write it out.
    y : ndarray of shape (rows,)
        Labels as they were given.

    Raises
    ------
    DatasetError
        A ``ValueError``: the folder is not a dataset, is damaged, or was written by a later version of hingeline.
    """
    folder = Path(path)
    description = read_description(folder)
    vectors = {name: map_array(folder / f"{name}.npy", vector) for name, vector in description.vectors.items()}
    _check_bounds(vectors["indptr"], description.nonzeros, folder)
    if verify:
        for name, vector in vectors.items():
            check_sha256(vector, description.vectors[name], folder / f"{name}.npy")
        _check_columns(vectors["indptr"], vectors["indices"], description.columns, folder)
    return _csr(vectors, description), vectors["labels"]


def is_dataset(path: str | PathLike[str]) -> bool:
    """Tell whether ``path`` is the folder of a dataset, sound or not."""
    return (Path(path) / DESCRIPTION).is_file()


def read_description(folder: Path) -> Description:
    """Return the content of the JSON file of a dataset, checked."""
    path = folder / DESCRIPTION
    if not path.is_file():
        raise DatasetError(f"{folder} is not a dataset: {'it holds no' if folder.is_dir() else 'there is no'} {path}.")
    with open(path, "rb") as file:
        text = file.read(MOST_BYTES_OF_JSON + 1)
    try:
        if len(text) > MOST_BYTES_OF_JSON:
            raise ValueError("it is too long")
        fields = json.loads(text)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if fields.get("version") != VERSION:
            raise ValueError(
                f"its version is {fields.get('version')!r}, this hingeline reads version {VERSION}: install a newer "
                "one, or convert the data again"
            )
        return _described(fields)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} does not describe a dataset: {error}.") from None


def _described(fields: dict[str, Any]) -> Description:
    rows, columns, nonzeros = (_natural(fields, name) for name in ("rows", "columns", "nonzeros"))
    stored = fields.get("vectors")
    if not isinstance(stored, dict) or not VECTORS.keys() - OPTIONAL_VECTORS <= stored.keys() <= VECTORS.keys():
        raise ValueError(f"its vectors are not {', '.join(VECTORS)}")
    sizes = {"indptr": rows + 1, "indices": nonzeros, "data": nonzeros, "labels": rows}
    vectors = {}
    for name, vector in stored.items():
        if not isinstance(vector, dict) or vector.get("dtype") not in VECTORS[name]:
            raise ValueError(f"the type of {name} is none of {', '.join(VECTORS[name])}")
        if _natural(vector, "size") != sizes[name]:
            raise ValueError(f"{name} has {vector['size']} elements, {sizes[name]} are needed")
        vectors[name] = ArrayFile(vector["dtype"], vector["size"], str(vector.get("sha256")))
    if fields.get("index_base") not in (0, 1):
        raise ValueError("index_base is neither 0 nor 1")
    counts = fields.get("label_counts")
    return Description(
        rows, columns, nonzeros, vectors, counts and _counted(counts), fields["index_base"], str(fields.get("source"))
    )


def _natural(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 <= value < 2**60:
        raise ValueError(f"{name} is {value!r}, not a whole number from 0 to 2^60")
    return value


def _counted(counts: Any) -> list[tuple[float, int]]:
    try:
        return [(float(label), int(count)) for label, count in counts]
    except (TypeError, OverflowError):
        raise ValueError("label_counts are not pairs of numbers") from None


def _check_bounds(indptr: np.ndarray, nonzeros: int, folder: Path) -> None:
    chunk = CHUNK_BYTES // indptr.itemsize
    for begin in range(0, indptr.size, chunk):
        part = indptr[begin : begin + chunk + 1]
        if (part[1:] < part[:-1]).any():
            raise DatasetError(f"{folder / 'indptr.npy'}: row pointers decrease: {DAMAGED}")
    if indptr[0] != 0 or indptr[-1] != nonzeros:
        raise DatasetError(
            f"{folder / 'indptr.npy'} runs from {indptr[0]} to {indptr[-1]} instead of 0 to {nonzeros}: {DAMAGED}"
        )


def _check_columns(indptr: np.ndarray, indices: np.ndarray, columns: int, folder: Path) -> None:
    bad, _, _ = scan_rows(indptr, indices, np.broadcast_to(np.float32(1.0), indices.size), columns)
    if bad >= 0:
        raise DatasetError(f"{folder / 'indices.npy'}: row {bad} has a column outside [0, {columns}): {DAMAGED}")


def _csr(vectors: dict[str, np.ndarray], description: Description) -> sparse.csr_matrix:
    """Return the matrix. (SciPy's constructor would copy indices whose type differs from that of indptr.)"""
    X = sparse.csr_matrix((description.rows, description.columns), dtype=np.float32)
    X.indptr, X.indices = vectors["indptr"], vectors["indices"]
    X.data = vectors["data"] if "data" in vectors else np.broadcast_to(np.float32(1.0), description.nonzeros)
    return X


def count_labels(counts: dict[float, int] | None, labels: np.ndarray, most: int = 1000) -> dict[float, int] | None:
    """Add labels to their counts; return None once more than ``most`` labels differ."""
    if counts is None:
        return None
    found, often = np.unique(labels, return_counts=True)
    for label, count in zip(found.tolist(), often.tolist(), strict=True):
        counts[float(label)] = counts.get(float(label), 0) + count
    return counts if len(counts) <= most else None
