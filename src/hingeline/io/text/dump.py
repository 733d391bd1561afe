"""Matrices as text in svmlight format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.aside import aside
from ..atomic import atomic_write
from ..csr import row_blocks
from .streams import COMPRESSORS
from .writing import HARD, INDEX_BYTES, NUMBER_BYTES, Decimals, shortest_decimals, write_rows

SLICE_ENTRIES = 1 << 17  # turned into text at once, which takes some 10 ms: Ctrl-C never waits longer
PIECE_BYTES = 1 << 18  # compressed at once


def dump_svmlight(
    X: Any,
    y: Any,
    target: Any,
    *,
    zero_based: bool = False,
    comment: str | None = None,
    query_id: Any = None,
) -> None:
    """Write X and y in svmlight (LIBSVM) format: ``load_svmlight`` reads back exactly the same numbers.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Finite values. Numbers are written with the fewest decimals that read back as the same value of the
        matrix's type (float32 or float64; integers and booleans are written as such). Explicit zeros are kept.
    y : array-like of shape (n_rows,)
        Labels: finite numbers.
    target : path or file object in binary mode
        A path ending in .gz, .bz2, .xz or .zst is compressed. The file appears only when all is written.
    zero_based : bool, default=False
        Whether the first column has index 0 rather than 1, as in LIBSVM. By default ``load_svmlight`` recognises
        one-based files whatever the matrix; it cannot recognise a zero-based file whose first column is empty.
    comment : str or None, default=None
        Lines to write first, each after a ``#``. Not every reader accepts comments.
    query_id : array-like of integers of shape (n_rows,) or None, default=None
        Numbers to write as ``qid:``.

    Notes
    -----
    The format does not hold the number of columns: if the last ones are empty, pass ``n_features`` to
    ``load_svmlight``.
    """
    X = _matrix(X)
    labels = _labels(y, X.shape[0])
    queries = _queries(query_id, X.shape[0])
    with _opened(target) as file:
        for line in (comment or "").splitlines():
            file.write(f"# {line}\n".encode())
        for begin, end in row_blocks(X.indptr, SLICE_ENTRIES, SLICE_ENTRIES):
            text = _text(X, labels, queries, begin, end, 0 if zero_based else 1)
            for at in range(0, len(text), PIECE_BYTES):
                file.write(text[at : at + PIECE_BYTES])


def _matrix(X: Any) -> Any:
    """Return X as checked CSR of float32 or float64, indices sorted and unique."""
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be a matrix of shape (rows, columns), got {X.ndim} dimension(s).")
    if X.dtype.kind not in "buif":
        raise ValueError(f"X must hold real numbers, got dtype {X.dtype}.")
    if hasattr(X, "check_format"):  # before SciPy's other methods, which trust a matrix
        X.check_format(full_check=True)
    X = sparse.csr_matrix(X)
    if not X.has_canonical_format:
        X = X.copy()
        aside(X.sum_duplicates, X.nnz)
    kept = X.dtype in (np.dtype(np.float32), np.dtype(np.float64))
    data = X.data if kept else _as_float64(X.data, "X")
    if not np.isfinite(data).all():
        row = int(np.searchsorted(X.indptr, np.argmin(np.isfinite(data)), side="right")) - 1
        raise ValueError(f"X has a value that is not finite in row {row}: replace it, or drop the row.")
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _as_float64(values: np.ndarray, name: str) -> np.ndarray:
    converted: np.ndarray = values.astype(np.float64)
    if values.dtype.kind in "ui" and not np.array_equal(converted.astype(values.dtype), values):
        raise ValueError(f"{name} has integers that float64 does not hold exactly: convert it to float64 first.")
    return converted


def _labels(y: Any, n_rows: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}, but X has {n_rows} rows: pass one label per row.")
    if labels.dtype.kind not in "buif":
        raise ValueError(f"Labels must be numbers in this format; got dtype {labels.dtype}: encode them first.")
    labels = _as_float64(labels, "y")
    if not np.isfinite(labels).all():
        raise ValueError(f"y[{int(np.argmin(np.isfinite(labels)))}] is not finite: replace it, or drop the row.")
    return labels


def _queries(query_id: Any, n_rows: int) -> np.ndarray:
    if query_id is None:
        return np.empty(0, dtype=np.int64)
    queries = np.asarray(query_id)
    if queries.shape != (n_rows,) or queries.dtype.kind not in "ui":
        raise ValueError(f"query_id must hold {n_rows} integers, got {queries.dtype} of shape {queries.shape}.")
    if n_rows and not -(10**18) < int(queries.min()) <= int(queries.max()) < 10**18:
        raise ValueError("query_id must have at most 18 digits.")
    return queries.astype(np.int64)


def _text(X: Any, labels: np.ndarray, queries: np.ndarray, begin: int, end: int, base: int) -> Any:
    indptr = X.indptr[begin : end + 1].astype(np.int64)
    entries = slice(int(indptr[0]), int(indptr[-1]))
    labels, values = labels[begin:end], X.data[entries]
    most_bytes = values.size * (INDEX_BYTES + NUMBER_BYTES) + labels.size * 2 * NUMBER_BYTES
    out = np.empty(most_bytes, np.uint8)
    length = write_rows(out, _decimals(labels), queries[begin:end], indptr, X.indices[entries], base, _decimals(values))
    return out[: int(length)].data


def _decimals(numbers: np.ndarray) -> Decimals:
    """Return numbers with their decimals; Python writes those that need more than 16 digits or an exponent."""
    mantissas, decimals = np.empty(numbers.size, dtype=np.int64), np.empty(numbers.size, dtype=np.int64)
    hard = b""
    if shortest_decimals(numbers, mantissas, decimals):
        listed = numbers[decimals == HARD].astype(np.float64).tolist()
        hard = repr(listed)[1:-1].replace(" ", "").encode() + b","
    return Decimals(numbers, mantissas, decimals, np.frombuffer(hard, dtype=np.uint8))


@contextmanager
def _opened(target: Any) -> Iterator[Any]:
    """Open a path, which appears only when all is written; take a file object as it is."""
    if hasattr(target, "write"):
        yield target
        return
    path = os.fsdecode(target)
    compressor = COMPRESSORS.get(os.path.splitext(path)[1].lower(), nullcontext)
    with atomic_write(path) as file, compressor(file) as stream:
        yield stream
