"""The one door for data: X, y and weights come in, a validated ``Problem`` goes to the solvers.

Compiled code trusts what it is given, so everything is checked here: structure first (SciPy's own methods crash on a
malformed matrix), then the values, while the squared norms that every engine needs are computed. Arrays whose layout
fits are used as they are, as read-only views.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.losses import SMALLEST_C, Loss
from ..kernels.passes import scan_sparse, squared_norms
from ..kernels.rows import CsrRows, DenseRows, Rows
from ..kernels.views import read_only, unsigned
from ..runtime.pace import Pace
from ..runtime.threads import WORTH_SHARING, Team
from .blocks import Blocks, plan_blocks
from .layout import compressed, filled, sparse_rows

MOST_ROWS = 2**32 - 1  # schedules hold row numbers in 32 bits


class NotANumberError(ValueError, TypeError):
    """An entry of X that is no number: both a wrong value and a wrong type."""


class Matrix(NamedTuple):
    """X with a structure that compiled code can follow: its row view, the intercept's constant feature included."""

    rows: Rows
    n_rows: int
    n_features: int
    distinct: bool  # the indices of a row increase: none is repeated
    blocks: Blocks | None = None  # how rows are read from files where they do not fit in memory
    q: np.ndarray | None = None  # squared norms, where reading the rows once has to do


@dataclass(frozen=True)
class Data:
    """A matrix whose values are checked too, and the squared norms of its rows."""

    rows: Rows
    n_rows: int
    n_features: int
    distinct: bool
    q: np.ndarray
    blocks: Blocks | None = None
    range_of_q: tuple[float, float, float] | None = None  # smallest, largest and sum, if known

    @property
    def n_stored(self) -> int:
        """Number of stored values."""
        return int(self.rows.X.size if isinstance(self.rows, DenseRows) else self.rows.indices.size)

    @cached_property
    def largest_q(self) -> float:
        """Largest squared norm of a row."""
        return float(self.q.max()) if self.range_of_q is None else self.range_of_q[1]

    @cached_property
    def smallest_q(self) -> float:
        """Smallest squared norm of a row: zero if there are rows of zeros."""
        return float(self.q.min()) if self.range_of_q is None else self.range_of_q[0]

    @cached_property
    def mean_q(self) -> float:
        """Mean squared norm of a row."""
        return float(self.q.mean()) if self.range_of_q is None else self.range_of_q[2] / self.n_rows


@dataclass(frozen=True)
class Problem:
    """min_w |w|^2/2 + sum_i loss(y_i, <x_i, w>), with C_i the weight of row i; y holds labels, or targets (float64).

    ``kept`` lists the rows that an engine visits: rows of zeros are solved at once and rows of no weight count for
    nothing. None means every row.
    """

    data: Data
    y: np.ndarray
    C: np.ndarray | float
    loss: Loss
    kept: np.ndarray | None

    @cached_property
    def signs(self) -> np.ndarray:
        """Return the s_i in w = sum_i alpha_i s_i x_i: labels, or ones."""
        return np.ones(self.data.n_rows, dtype=np.float32) if self.loss.is_regression else self.y

    @cached_property
    def C_values(self) -> np.ndarray:
        """Return C_i as a vector: one entry per row, or a single one if all are the same."""
        return np.atleast_1d(np.asarray(self.C, dtype=np.float64))

    @property
    def every_row(self) -> bool:
        """Whether an engine visits every row."""
        return self.kept is None

    @property
    def n_variables(self) -> int:
        """Return l, the number of variables that an engine works on."""
        return self.data.n_rows if self.kept is None else self.kept.size

    def variables_in_order(self) -> np.ndarray:
        """Return the rows to visit, as a new array."""
        if self.kept is None:
            return np.arange(self.data.n_rows, dtype=np.uint32)
        return self.kept.copy()


def make_problem(data: Data, y: np.ndarray, weights: np.ndarray | None, loss: Loss) -> Problem:
    """Return the problem of ``y`` (labels -1 and +1, or targets) and, where given, row ``weights`` that multiply C."""
    loss.check()
    C: np.ndarray | float = float(loss.C)
    every_row = data.smallest_q > 0.0
    if weights is not None:
        check_weights(weights, data.n_rows)
        with np.errstate(over="ignore"):
            C = loss.C * weights
        C[C < SMALLEST_C] = 0.0
        if not C.any():
            raise ValueError(f"sample_weight times C is below {SMALLEST_C:g} for every row: nothing is left to train.")
        every_row = every_row and bool((C > 0.0).all())
    # What an engine may meet on its way, at the most: |w|, a margin, an objective.
    total_C = data.n_rows * float(np.max(C))
    at_zero = max(1.0, float(np.abs(y).max())) if loss.is_regression else 1.0
    longest = 2.0 * total_C * sqrt(data.largest_q)
    farthest = at_zero + sqrt(data.largest_q) * longest
    largest = longest * longest + total_C * farthest
    if not (largest if loss.is_bounded else max(largest, farthest) * farthest) < inf:
        raise ValueError(
            f"C = {loss.C:g} times the weights times the squared values of X{' and y' * (at_zero > 1.0)} overflows "
            "float64: scale them, or choose a smaller C."
        )
    kept = None if every_row else np.flatnonzero((data.q > 0.0) & (np.asarray(C) > 0.0)).astype(np.uint32)
    return Problem(data, y, C, loss, kept)


def check_weights(weights: np.ndarray, n_rows: int) -> None:
    """Raise unless ``weights`` are non-negative, finite, and not all zero."""
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, X has {n_rows} rows: one weight a row is needed.")
    finite = np.isfinite(weights)
    if not finite.all():
        i = int(np.argmin(finite))
        raise ValueError(f"sample_weight[{i}] is {weights[i]}: weights must be finite (no NaN, no inf).")
    if weights.min() < 0.0:
        i = int(np.argmin(weights))
        raise ValueError(f"sample_weight[{i}] is {weights[i]}: negative weights have no meaning here; use 0 or more.")
    if weights.max() == 0.0:
        raise ValueError("sample_weight is zero for every row: nothing is left to train on.")


def read_matrix(X: Any, bias: float = 0.0, pace: Pace | None = None) -> Matrix:
    """Check the structure of ``X`` (dense, or sparse in any of SciPy's formats) and return it as rows."""
    return _sparse_rows(X, bias, pace or Pace()) if sparse.issparse(X) else _dense_rows(X, bias)


def read_data(X: Any, bias: float = 0.0, n_threads: int = 1) -> Data:
    """Check structure and values of ``X``, and return it as rows with a constant feature.

    What was read before is taken as it is: several problems over the same rows need one check.
    """
    if isinstance(X, Data):
        if X.rows.bias != bias:
            raise ValueError(f"X was read with a constant feature of {X.rows.bias}, not {bias}: read it anew.")
        return X
    stored = getattr(X, "data", None) if sparse.issparse(X) else X
    with Team(n_threads if getattr(stored, "size", 0) >= WORTH_SHARING else 1) as team:
        return check_values(_in_better_layout(read_matrix(X, bias, team.pace()), team.pace()), team.pace())


def check_values(matrix: Matrix, pace: Pace | None = None) -> Data:
    """Raise if a value is not finite or its square overflows; returns the rows with their squared norms."""
    if matrix.q is not None:
        return Data(*matrix[:4], matrix.q, matrix.blocks)
    q, range_of_q = _checked_norms(matrix, pace or Pace())
    return Data(*matrix[:4], q, matrix.blocks, range_of_q)


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless ``shape`` is that of a matrix with rows and columns that kernels can number."""
    if len(shape) != 2:
        raise ValueError(
            f"X must be a matrix of shape (rows, columns); got {len(shape)} dimension(s), shape {shape}. Reshape your "
            "data: X.reshape(-1, 1) where it has a single feature, X.reshape(1, -1) where it is a single row."
        )
    for size, name in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(f"Found array with 0 {name}(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] > MOST_ROWS:
        raise ValueError(f"X has {shape[0]} rows; at most {MOST_ROWS} are supported.")


def _as_values(values: np.ndarray, name: str) -> np.ndarray:
    """Return float32 or float64 values, without a copy where they are such, else in the smaller type that is exact."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {values.dtype}.")
    if kind == "f" and size in (4, 8):
        return values
    if (kind in "iu" and size <= 2) or kind == "b" or (kind == "f" and size == 2):
        return values.astype(np.float32)
    if kind in "iuf":
        return values.astype(np.float64)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise NotANumberError(f"{_first_non_number(values, name)}: {error}. Encode it as a number.") from error


def _first_non_number(values: np.ndarray, name: str) -> str:
    for at, value in np.ndenumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{name}[{', '.join(map(str, at))}] is {value!r}"
    return f"{name} has dtype {values.dtype}"


def _dense_rows(X: Any, bias: float) -> Matrix:
    X = np.asarray(X)
    check_shape(X.shape)
    return Matrix(DenseRows(read_only(_as_values(X, "X")), bias), X.shape[0], X.shape[1], True)


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
    data, indices, indptr = _csr_arrays(X, pace)
    _check_vectors(indptr, indices, data, n_rows, "row")
    values = _stored_values(data)
    rows, q = sparse_rows(indptr, indices, values, bias), None
    blocks = plan_blocks(rows, n_rows, n_features)
    if blocks is None:
        distinct, all_ones = _scan(indptr, indices, values, n_rows, n_features, "row", "column", pace)
    else:
        distinct, all_ones, q = _read_blocks(blocks, n_rows, n_features)
    if all_ones and isinstance(rows, CsrRows):
        rows = sparse_rows(indptr, indices, None, bias)
        blocks = blocks and plan_blocks(rows, n_rows, n_features)
    return Matrix(rows, n_rows, n_features, distinct, blocks, q)


def _stored_values(data: np.ndarray) -> np.ndarray | None:
    """Return the values as float32 or float64; None where one stored 1 stands for all of them (a stride of 0)."""
    if data.ndim == 1 and data.size > 1 and data.strides == (0,):
        value = _as_values(data[:1], "X.data")
        return None if value[0] == 1.0 else read_only(np.full(data.size, value[0]))
    return read_only(_as_values(data, "X.data"))


def _read_blocks(blocks: Blocks, n_rows: int, n_features: int) -> tuple[bool, bool, np.ndarray]:
    """Check rows from files; tell whether they are sorted, whether values are all 1, and the squared norms."""
    distinct = all_ones = True
    q = np.empty(n_rows)
    with blocks.read() as stream:
        for block in chain.from_iterable(stream):
            rows = block.rows
            data = rows.data if isinstance(rows, CsrRows) else None
            indptr, indices = (array.view(f"i{array.itemsize}") for array in (rows.indptr, rows.indices))
            increasing, ones = _scan(
                indptr, indices, data, block.n_rows, n_features, "row", "column", Pace(), block.begin
            )
            distinct &= increasing
            all_ones &= ones
            matrix = Matrix(rows, block.n_rows, n_features, increasing)
            q[block.begin : block.end], _ = _checked_norms(matrix, Pace(), block.begin)
    return distinct, all_ones, q


def _csr_arrays(X: Any, pace: Pace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices, indptr of ``X`` as CSR; what SciPy is to convert is checked first."""
    if X.format != "csr":
        if X.format == "csc":
            _scan(X.indptr, X.indices, X.data, X.shape[1], X.shape[0], "column", "row", pace)
        elif X.format == "bsr":
            r, c = X.blocksize
            blocks = X.data.reshape(len(X.data), -1)[:, 0] if X.data.size else X.data.reshape(-1)
            _scan(X.indptr, X.indices, blocks, X.shape[0] // r, X.shape[1] // c, "block row", "block column", pace)
        elif X.format == "coo":
            _check_coordinates(X)
        X = X.tocsr()
    return X.data, X.indices, X.indptr


def _check_coordinates(X: Any) -> None:
    for axis, (at, size) in enumerate(zip((X.row, X.col), X.shape, strict=True)):
        name = ("row", "col")[axis]
        if at.shape != X.data.shape or at.dtype.kind not in "iu":
            raise ValueError(f"X.{name} must hold one integer for each entry of X.data: the COO matrix is malformed.")
        if at.size and not (at.min() >= 0 and at.max() < size):
            k = int(np.argmax((at < 0) | (at >= size)))
            raise ValueError(f"X.{name}[{k}] is {at[k]}, outside of [0, {size}): the COO matrix is malformed.")


def _check_vectors(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray | None, n_major: int, major: str) -> None:
    """Raise unless the vectors of a compressed matrix have the types and lengths that they must have."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"X.{name} must be a vector of integers; got {array.dtype} of shape {array.shape}.")
    if indptr.size != n_major + 1:
        raise ValueError(f"X.indptr has {indptr.size} entries, {n_major} {major}s need {n_major + 1}.")
    if data is not None and (data.ndim != 1 or indices.size != data.size):
        raise ValueError(f"X.indices has {indices.size} entries, X.data has shape {data.shape}: they must match.")
    if indptr[0] != 0:
        raise ValueError(f"X.indptr[0] is {indptr[0]}; it must be 0.")


def _scan(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray | None,
    n_major: int,
    n_minor: int,
    major: str,
    minor: str,
    pace: Pace,
    first: int = 0,
) -> tuple[bool, bool]:
    """Check a compressed matrix before anything follows its indices; tell whether rows are sorted and values all 1.

    ``first`` is what the first row is called.
    """
    _check_vectors(indptr, indices, data, n_major, major)
    is_float = data is not None and data.dtype.kind == "f" and data.dtype.itemsize in (4, 8)
    numeric = read_only(data) if is_float and data is not None else None
    arrays = unsigned(indptr), unsigned(indices), numeric, n_minor
    strictly_increasing = all_ones = True
    for bad, increasing, ones in pace.each(n_major, lambda part, begin, end: scan_sparse(*arrays, begin, end)):
        if bad >= 0:
            raise ValueError(_what_is_broken(indptr, indices, bad, n_minor, major, minor, first + bad))
        strictly_increasing &= increasing
        all_ones &= ones
    return strictly_increasing, all_ones and indices.size > 0


def _what_is_broken(
    indptr: np.ndarray, indices: np.ndarray, i: int, n_minor: int, major: str, minor: str, name: int
) -> str:
    first, last = int(indptr[i]), int(indptr[i + 1])
    if not 0 <= first <= last <= indices.size:
        return (
            f"X.indptr is broken at {major} {name}: it runs from {first} to {last}, but bounds must not decrease and "
            f"not exceed the {indices.size} stored entries. Rebuild the matrix from its entries."
        )
    at = first + int(np.argmax((indices[first:last] < 0) | (indices[first:last] >= n_minor)))
    return f"X has {minor} index {indices[at]} in {major} {name}, outside of [0, {n_minor}). Check how it was built."


def _checked_norms(matrix: Matrix, pace: Pace, first: int = 0) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Return q with its smallest and largest value and its sum; raises if it is not finite.

    ``first`` is the number of the first row, for errors.
    """
    rows, n_rows, n_features, distinct = matrix[:4]
    q = np.empty(n_rows)
    scratch = [np.zeros(1 if distinct else n_features + 1) for _ in range(pace.n_parts)]
    parts = pace.each(n_rows, lambda part, begin, end: squared_norms(rows, scratch[part], distinct, q, begin, end))
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
