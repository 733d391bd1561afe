"""The only entrance for data: turns X, in any form that users have, into checked rows.

Compiled code trusts its input, so everything is checked here: structure first (structure.py), then the values
(values.py), while the squared norms that every engine needs are computed. Arrays with a suitable layout are used
without a copy, as read-only views.
"""

from __future__ import annotations

import reprlib
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.rows import CsrRows, DenseRows, Rows
from ..kernels.views import read_only
from ..runtime.aside import aside
from ..runtime.pace import Pace
from ..runtime.threads import WORTH_SHARING, Team
from .blocks import Blocks, plan_blocks
from .layout import compressed, filled, sparse_rows
from .matrix import Data, Matrix
from .structure import check_structure, check_vectors, csr_arrays
from .values import check_values, checked_norms, refuse_masked

MOST_ROWS = 2**32 - 1  # schedules hold row numbers in 32 bits


class NotANumberError(ValueError, TypeError):
    """An entry of X that is not a number: both a wrong value and a wrong type."""


def read_matrix(X: Any, bias: float = 0.0, pace: Pace | None = None) -> Matrix:
    """Check the structure of ``X`` (dense, or sparse in any of SciPy's formats) and return it as rows."""
    return _sparse_rows(X, bias, pace or Pace()) if sparse.issparse(X) else _dense_rows(X, bias)


def read_data(X: Any, bias: float = 0.0, n_threads: int = 1) -> Data:
    """Check structure and values of ``X``, and return it as rows with a constant feature.

    Data that were read before are returned unchanged: several problems over the same rows need one check.
    """
    if isinstance(X, Data):
        if X.rows.bias != bias:
            raise ValueError(f"X was read with a constant feature of {X.rows.bias}, not {bias}: read it again.")
        return X
    stored = getattr(X, "data", None) if sparse.issparse(X) else X
    with Team(n_threads if getattr(stored, "size", 0) >= WORTH_SHARING else 1) as team:
        return check_values(_in_better_layout(read_matrix(X, bias, team.pace()), team.pace()), team.pace())


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless ``shape`` is that of a matrix, not empty, with a number of rows that kernels can handle."""
    if len(shape) != 2:
        raise ValueError(
            f"X must be a matrix of shape (rows, columns); got {len(shape)} dimension(s), shape {shape}. Reshape your "
            "data: X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single row."
        )
    for size, name in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(f"Found array with 0 {name}(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] > MOST_ROWS:
        raise ValueError(f"X has {shape[0]} rows; at most {MOST_ROWS} are supported.")


def _as_values(values: np.ndarray, name: str) -> np.ndarray:
    """Return float32 and float64 values unchanged, others as the smaller of these two types that is exact."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {values.dtype}.")
    if kind == "f" and size in (4, 8):
        return values
    if (kind in "iu" and size <= 2) or kind == "b" or (kind == "f" and size == 2):
        return values.astype(np.float32)
    if kind in "mM":
        raise NotANumberError(f"{name} has dtype {values.dtype}: turn dates and durations into numbers, such as days.")
    try:
        with np.errstate(over="ignore"):  # values beyond float64 become infinite, and are reported as such
            return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotANumberError(f"{_first_non_number(values, name)}: {error}. Encode it as a number.") from error


def _first_non_number(values: np.ndarray, name: str) -> str:
    for at, value in np.ndenumerate(values):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            return f"{name}[{', '.join(map(str, at))}] is {reprlib.repr(value)}"
    return f"{name} has dtype {values.dtype}"


def _dense_rows(X: Any, bias: float) -> Matrix:
    refuse_masked(X, "X")
    X = np.asarray(X)
    check_shape(X.shape)
    values = aside(lambda: read_only(_as_values(X, "X")), X.size)
    return Matrix(DenseRows(values, bias), X.shape[0], X.shape[1], True)


def _in_better_layout(matrix: Matrix, pace: Pace) -> Matrix:
    """Return dense rows of few non-zeros as sparse ones, and sparse rows that are nearly full as dense ones."""
    if matrix.blocks is not None or not matrix.distinct:
        return matrix
    if isinstance(matrix.rows, DenseRows):
        rows: Rows | None = compressed(matrix.rows, pace)
    else:
        rows = filled(matrix.rows, matrix.n_rows, matrix.n_features)
    return matrix if rows is None else matrix._replace(rows=rows)


def _sparse_rows(X: Any, bias: float, pace: Pace) -> Matrix:
    check_shape(X.shape)
    n_rows, n_features = X.shape
    data, indices, indptr = csr_arrays(X, pace)
    check_vectors(indptr, indices, data, n_rows, "row")
    values = _stored_values(data)
    rows, q = sparse_rows(indptr, indices, values, bias), None
    blocks = plan_blocks(rows, n_rows, n_features)
    if blocks is None:
        distinct, all_ones = check_structure(indptr, indices, values, n_rows, n_features, "row", "column", pace)
    else:
        distinct, all_ones, q = _read_blocks(blocks, n_rows, n_features)
    if all_ones and isinstance(rows, CsrRows):
        rows = sparse_rows(indptr, indices, None, bias)
        blocks = blocks and plan_blocks(rows, n_rows, n_features)
    return Matrix(rows, n_rows, n_features, distinct, blocks, q)


def _stored_values(data: np.ndarray) -> np.ndarray | None:
    """Return the values as float32 or float64; None if one stored 1 stands for all of them (a stride of 0)."""
    if data.ndim == 1 and data.size > 1 and data.strides == (0,):
        value = _as_values(data[:1], "X.data")
        return None if value[0] == 1.0 else read_only(np.full(data.size, value[0]))
    return aside(lambda: read_only(_as_values(data, "X.data")), data.size)


def _read_blocks(blocks: Blocks, n_rows: int, n_features: int) -> tuple[bool, bool, np.ndarray]:
    """Check rows from files; tell whether they are sorted, whether values are all 1, and the squared norms."""
    distinct = all_ones = True
    q = np.empty(n_rows)
    with blocks.read() as stream:
        for block in chain.from_iterable(stream):
            rows = block.rows
            data = rows.data if isinstance(rows, CsrRows) else None
            indptr, indices = (array.view(f"i{array.itemsize}") for array in (rows.indptr, rows.indices))
            increasing, ones = check_structure(
                indptr, indices, data, block.n_rows, n_features, "row", "column", Pace(), block.begin
            )
            distinct &= increasing
            all_ones &= ones
            matrix = Matrix(rows, block.n_rows, n_features, increasing)
            q[block.begin : block.end], _ = checked_norms(matrix, Pace(), block.begin)
    return distinct, all_ones, q
