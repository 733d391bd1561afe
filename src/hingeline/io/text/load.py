"""Whole files in svmlight format as matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..threads import usable_cores
from .streams import Progress, name_of
from .svmlight import Block, ZeroBased, iter_svmlight

INT32_MAX = int(np.iinfo(np.int32).max)
MOST_THREADS = 8
HEADROOM = 1.05  # over an estimate; memory that is never touched costs nothing
GROWTH = 1.125


def load_svmlight(
    source: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: ZeroBased = "auto",
    query_id: bool = False,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Load a file in svmlight (LIBSVM) format, or several files with the same number of columns.

    Parameters
    ----------
    source : path, file object in binary mode, or sequence of them
        Plain text, or compressed with gzip, bzip2, xz or (with the package ``zstandard``) zstd, whatever its name.
    n_features : int or None, default=None
        Number of columns. None: the largest index in all the files.
    dtype : float32 or float64, default=float64
        Type of the values: what Python's ``float`` makes of the text, rounded to this type.
    zero_based : bool or "auto", default="auto"
        Whether the first column has index 0 or 1 in the files. "auto": one-based unless an index 0 occurs in any of
        them.
    query_id : bool, default=False
        Whether to return the numbers of ``qid:`` too.
    n_threads : int or None, default=None
        Number of threads that parse. None: one per core, at most eight. A compressed file has one more, which
        decompresses.
    progress : callable or None, default=None
        Called at intervals with the bytes of the file read so far and its size (None if that is unknown).

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_rows, n_features)
        Indices are int32 if they fit, sorted within a row and unique.
    y : ndarray of shape (n_rows,), float64
        Labels.
    query_ids : ndarray of shape (n_rows,), int64
        Only if ``query_id=True``.

    For a sequence of files, a list of such tuples: ``(X, y), (X_test, y_test) = load_svmlight([train, test])``.

    Raises
    ------
    ValueError
        If a line is malformed; the message names file, line, column and text. Rows whose indices are not in order are
        sorted; an index that is repeated within a row is an error, and so is a number that is not finite.
    """
    several = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    sources = list(source) if several else [source]
    if n_threads is None:
        n_threads = min(MOST_THREADS, usable_cores())
    files = []
    for each in sources:
        rows = _Rows(zero_based, np.dtype(dtype), query_id)
        for block in iter_svmlight(
            each,
            dtype=dtype,
            zero_based=zero_based,
            n_features=n_features,
            query_id=query_id,
            n_threads=n_threads,
            progress=rows.watch(progress),
        ):
            rows.append(block)
        files.append(rows)
    base = min((rows.base for rows in files if rows.largest >= 0), default=0)
    width = max((rows.largest for rows in files), default=-1) + 1 - base
    if n_features is None:
        n_features = max(1, width)
    elif width > n_features:
        _raise_beyond(sources, files, base, n_features)
    results = [rows.result(base, n_features) for rows in files]
    return results if several else results[0]


def _raise_beyond(sources: list[Any], files: list[_Rows], base: int, n_features: int) -> None:
    """Raise for the first index beyond ``n_features``, with its place: the base is known only now."""
    for source, rows in zip(sources, files, strict=True):
        if rows.largest - base >= n_features:
            if isinstance(source, str | os.PathLike):
                for _ in iter_svmlight(source, zero_based=base == 0, n_features=n_features):
                    pass
            raise ValueError(
                f"{name_of(source)}: index {rows.largest} is beyond n_features={n_features} (indices start at {base}): "
                "raise n_features."
            )


class _Growing:
    """An array that is extended at its end."""

    def __init__(self, dtype: Any) -> None:
        self.array = np.empty(0, dtype=dtype)
        self.size = 0

    def extend(self, count: int, expected: float) -> np.ndarray:
        """Return ``count`` new elements to be filled; ``expected`` is an estimate of the final size."""
        end = self.size + count
        if end > self.array.size:
            capacity = max(end, int(expected * HEADROOM), int(self.size * GROWTH))
            if capacity <= 2 * self.size:
                # realloc: on Linux large arrays move by their page table, and are never in memory twice. The new part
                # is filled with zeros, hence small steps.
                self.array.resize(max(end, int(self.size * GROWTH)), refcheck=False)
            else:
                self.array, old = np.empty(capacity, dtype=self.array.dtype), self.array[: self.size]
                self.array[: self.size] = old
        new = self.array[self.size : end]
        self.size = end
        return new

    def widen(self, dtype: Any) -> None:
        """Change the type."""
        self.array = self.array[: self.size].astype(dtype)

    def take(self) -> np.ndarray:
        """Return the elements without the spare room, and give them away."""
        array, self.array = self.array, np.empty(0, dtype=self.array.dtype)
        array.resize(self.size, refcheck=False)
        return array


class _Rows:
    """The rows of one file so far, as CSR arrays with indices from 0."""

    def __init__(self, zero_based: ZeroBased, dtype: np.dtype[Any], query_id: bool) -> None:
        self.base = 0 if zero_based is True else 1
        self.largest = -1  # index as written
        self.labels, self.ends = _Growing(np.float64), _Growing(np.int64)
        self.indices, self.values = _Growing(np.int32), _Growing(dtype)
        self.queries = _Growing(np.int64) if query_id else None
        self.part_done = 0.0

    def watch(self, progress: Progress | None) -> Progress:
        """Return a callback that notes how much of the file is read, and passes it on to ``progress``."""

        def note(done: int, size: int | None) -> None:
            self.part_done = done / size if size else 0.0
            if progress is not None:
                progress(done, size)

        return note

    def append(self, block: Block) -> None:
        """Add the rows of a block."""
        n, entries = block.labels.size, self.indices.size
        rest = 1.0 / self.part_done if self.part_done else 0.0
        self.labels.extend(n, rest * (self.labels.size + n))[:] = block.labels
        if self.queries is not None:
            self.queries.extend(n, rest * (self.queries.size + n))[:] = block.query_ids
        np.add(block.indptr[1:], entries, out=self.ends.extend(n, rest * (self.ends.size + n)))
        if block.max_index < 0:
            return
        if block.min_index < self.base:  # the file is zero-based after all
            self.rebase(0)
        if block.indices.dtype.itemsize > self.indices.array.dtype.itemsize:
            self.indices.widen(np.int64)
        count, expected = block.indices.size, rest * (entries + block.indices.size)
        np.subtract(block.indices, self.base, out=self.indices.extend(count, expected))
        self.values.extend(count, expected)[:] = block.values
        self.largest = max(self.largest, block.max_index)

    def rebase(self, base: int) -> None:
        """Make ``base`` the index of the first column."""
        if base != self.base:
            self.indices.array[: self.indices.size] += self.base - base
            self.base = base

    def result(self, base: int, n_features: int) -> tuple[Any, ...]:
        """Return X, y and, if they were asked for, the query ids; the arrays kept here are given away."""
        self.rebase(base)
        indices, values, ends = self.indices.take(), self.values.take(), self.ends.take()
        narrow = indices.dtype == np.int32 and indices.size <= INT32_MAX and n_features <= INT32_MAX
        index_type = np.int32 if narrow else np.int64
        indptr = np.zeros(ends.size + 1, dtype=index_type)
        indptr[1:] = ends
        shape = (ends.size, n_features)
        X = sparse.csr_matrix((values, indices.astype(index_type, copy=False), indptr), shape=shape, copy=False)
        X.has_canonical_format = True  # checked while parsing: SciPy need not check again
        y = self.labels.take()
        return (X, y) if self.queries is None else (X, y, self.queries.take())
