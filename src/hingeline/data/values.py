"""The values of X: finite, with squares that do not overflow. Their squared norms are computed on the way."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..kernels.passes import squared_norms, summed_norms
from ..kernels.rows import CsrRows, DenseRows, Rows
from ..runtime.pace import Pace
from .matrix import Data, Matrix


def refuse_masked(values: Any, name: str) -> None:
    """Raise if an entry of a masked array is masked: later code would see the number below the mask."""
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        at = ", ".join(map(str, np.argwhere(np.broadcast_to(values.mask, values.shape))[0]))
        raise ValueError(f"{name}[{at}] is masked: fill it ({name}.filled(0.0), or an imputer), or drop the row.")


def check_values(matrix: Matrix, pace: Pace | None = None) -> Data:
    """Raise if a value is not finite or its square overflows; returns the rows with their squared norms."""
    if matrix.q is not None:
        return Data(*matrix[:4], matrix.q, matrix.blocks)
    q, range_of_q = checked_norms(matrix, pace or Pace())
    return Data(*matrix[:4], q, matrix.blocks, range_of_q)


def checked_norms(matrix: Matrix, pace: Pace, first: int = 0) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Return q with its smallest and largest value and its sum; raises if it is not finite.

    ``first`` is the number of the first row, for errors.
    """
    rows, n_rows, n_features, distinct = matrix[:4]
    q = np.empty(n_rows)
    if distinct:
        parts = pace.each(n_rows, lambda part, begin, end: squared_norms(rows, q, begin, end))
    else:
        scratch = [np.zeros(n_features + 1) for _ in range(pace.n_parts)]
        parts = pace.each(n_rows, lambda part, begin, end: summed_norms(rows, scratch[part], q, begin, end))
    smallest, largest, totals = zip(*parts, strict=True)
    if not isfinite(sum(totals)):
        bad = int(np.argmin(np.isfinite(q)))
        if not isfinite(q[bad]):
            raise ValueError(_what_is_not_finite(rows, bad, first + bad))
    return q, (min(smallest), max(largest), sum(totals))


def _what_is_not_finite(rows: Rows, i: int, name: int) -> str:
    if isinstance(rows, DenseRows):
        values, columns = rows.X[i], np.arange(rows.X.shape[1])
    else:
        inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        columns = rows.indices[inside]
        values = rows.data[inside] if isinstance(rows, CsrRows) else np.ones(columns.size)
    for test, kind in ((np.isnan, "NaN"), (np.isinf, "infinity (inf)")):
        if test(values).any():
            column = columns[int(np.argmax(test(values)))]
            return f"Input X contains {kind} at row {name}, column {column}: replace it, or drop the row."
    return (
        f"The squares of row {name} of X overflow float64 (largest value {np.abs(values).max():g}, bias "
        f"{rows.bias:g}): scale the data."
    )
