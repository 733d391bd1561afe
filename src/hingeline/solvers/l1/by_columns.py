"""From rows to columns: the data matrix turned round, once for all the problems over it; products with either form."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...data.problem import Data
from ...kernels.passes import add_weights, signed_scores
from ...kernels.rows import CsrRows, DenseRows
from ...runtime.pace import Pace
from .columns import Columns, add_columns, column_dots, count_entries, fill_entries

FEW_COLUMNS = 400  # up to which the Hessian is computed from rows, and nothing needs the columns themselves


def columns_if_many(data: Data, pace: Pace | None = None) -> Columns | None:
    """Return the columns of ``data``, or None where they are so few that training goes over rows."""
    return None if data.n_features < FEW_COLUMNS else as_columns(data, pace)


def as_columns(data: Data, pace: Pace | None = None) -> Columns:
    """Return the columns of ``data``, the intercept's last (empty where there is none)."""
    pace = Pace() if pace is None else pace
    rows, n, d = data.rows, data.n_rows, data.n_features
    counts = np.zeros(d + 2, dtype=np.uint64)
    for begin, end in pace.slices(n):
        count_entries(rows, counts, begin, end)
    counts[d + 1] = n if rows.bias else 0
    indptr = np.cumsum(counts, dtype=np.uint64)
    kind = np.float64
    if isinstance(rows, CsrRows):
        kind = rows.data.dtype.type
    elif isinstance(rows, DenseRows):
        kind = rows.X.dtype.type
    if float(kind(rows.bias)) != rows.bias:
        kind = np.float64
    indices, values = np.empty(int(indptr[-1]), dtype=np.uint32), np.empty(int(indptr[-1]), dtype=kind)
    at = indptr[:-1].copy()
    for begin, end in pace.slices(n):
        fill_entries(rows, at, indices, values, begin, end)
    if rows.bias:
        indices[-n:] = np.arange(n, dtype=np.uint32)
        values[-n:] = rows.bias
    return Columns(indptr, indices, values)


class Matrix(Protocol):
    """X, its intercept's column last, as far as products go; ``pace`` cuts them into slices."""

    pace: Pace

    def times(self, d: np.ndarray) -> np.ndarray:
        """Return X d."""

    def transposed(self, r: np.ndarray, out: np.ndarray) -> None:
        """out = X' r."""


class ByColumns:
    """Products column by column."""

    def __init__(self, columns: Columns, pace: Pace, n_rows: int) -> None:
        self._columns, self.pace, self._n_rows = columns, pace, n_rows
        self._all = np.arange(columns.indptr.size - 1, dtype=np.uint64)

    def times(self, d: np.ndarray) -> np.ndarray:
        """Return X d."""
        u = np.zeros(self._n_rows)
        for begin, end in self.pace.slices(d.size):
            add_columns(self._columns, self._all, d, u, begin, end)
        return u

    def transposed(self, r: np.ndarray, out: np.ndarray) -> None:
        """out = X' r."""
        for begin, end in self.pace.slices(out.size):
            column_dots(self._columns, self._all, r, out, begin, end)


class ByRows:
    """Products row by row."""

    def __init__(self, data: Data, pace: Pace) -> None:
        self._rows, self.pace = data.rows, pace
        self._ones = np.ones(data.n_rows)

    def times(self, d: np.ndarray) -> np.ndarray:
        """Return X d."""
        u = np.empty(self._ones.size)
        for begin, end in self.pace.slices(u.size):
            signed_scores(self._rows, self._ones, d, u, begin, end)
        return u

    def transposed(self, r: np.ndarray, out: np.ndarray) -> None:
        """out = X' r."""
        out[:] = 0.0
        for begin, end in self.pace.slices(r.size):
            add_weights(self._rows, r, self._ones, out, begin, end)
