"""Products with the data matrix X, its intercept's column last: column by column, or row by row."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...data.matrix import Data
from ...kernels.compile import by_type, exact_kernel, kernel
from ...kernels.double_double import add_product
from ...kernels.passes import add_weights, scores
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from ...kernels.types import Index, Vector
from ...runtime.pace import Pace
from .columns import Columns


class Products(Protocol):
    """Products with X; ``pace`` cuts them into slices."""

    pace: Pace

    def times(self, d: Vector) -> Vector:
        """Return X d."""

    def transposed(self, r: Vector, out: Vector) -> None:
        """out = X' r."""


class ByColumns:
    """Products column by column."""

    def __init__(self, columns: Columns, pace: Pace, n_rows: int) -> None:
        self._columns, self.pace, self._n_rows = columns, pace, n_rows

    def times(self, d: Vector) -> Vector:
        """Return X d."""
        u = np.zeros(self._n_rows)
        for begin, end in self.pace.slices(d.size):
            add_columns(self._columns, d, u, begin, end)
        return u

    def transposed(self, r: Vector, out: Vector) -> None:
        """out = X' r."""
        for begin, end in self.pace.slices(out.size):
            column_dots(self._columns, r, out, begin, end)


class ByRows:
    """Products row by row."""

    def __init__(self, data: Data, pace: Pace) -> None:
        self._rows, self.pace = data.rows, pace
        self._ones = np.ones(data.n_rows)

    def times(self, d: Vector) -> Vector:
        """Return X d."""
        u = np.empty(self._ones.size)
        for begin, end in self.pace.slices(u.size):
            scores(self._rows, d, u, begin, end)
        return u

    def transposed(self, r: Vector, out: Vector) -> None:
        """out = X' r."""
        out[:] = 0.0
        for begin, end in self.pace.slices(r.size):
            add_weights(self._rows, r, self._ones, out, begin, end)


@kernel
def column_dots(columns: Columns, r: Vector, out: Vector, begin: Index, end: Index) -> None:
    """out_j = <x_j, r> for the columns j from begin to end."""
    for j in range(np.uint64(begin), np.uint64(end)):
        s = 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            s += columns.data[t] * r[columns.indices[t]]
        out[j] = s


@kernel
def add_columns(columns: Columns, d: Vector, u: Vector, begin: Index, end: Index) -> None:
    """u <- u + sum_j d_j x_j over the columns j from begin to end."""
    for j in range(np.uint64(begin), np.uint64(end)):
        if d[j] != 0.0:
            for t in range(columns.indptr[j], columns.indptr[j + ONE]):
                u[columns.indices[t]] += d[j] * columns.data[t]


def _sparse_add_exactly(rows: CsrRows | OnesRows, i: Index, a: float, high: Vector, low: Vector) -> None:
    for t in range(rows.indptr[i], rows.indptr[i + ONE]):
        add_product(a, np.float64(value(rows, t)), rows.indices[t], high, low)


def _dense_add_exactly(rows: DenseRows, i: Index, a: float, high: Vector, low: Vector) -> None:
    for j in range(np.uint64(rows.X.shape[1])):
        add_product(a, np.float64(rows.X[i, j]), j, high, low)


_add_row_exactly = by_type({CsrRows: _sparse_add_exactly, OnesRows: _sparse_add_exactly, DenseRows: _dense_add_exactly})


@exact_kernel
def add_exactly(rows: Rows, r: Vector, high: Vector, low: Vector, begin: Index, end: Index) -> None:
    """high + low <- high + low + sum r_i x_i over the rows begin to end, in twice the precision."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if r[i] != 0.0:
            _add_row_exactly(rows, i, r[i], high, low)
            add_product(r[i], rows.bias, high.size - 1, high, low)
