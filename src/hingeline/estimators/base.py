"""What the estimators share: reading X, scores, support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ..data.matrix import Data, Matrix
from ..data.read import read_data, read_matrix
from ..data.values import check_values, refuse_masked
from ..kernels.passes import scores, scores_of_many
from ..kernels.rows import CsrRows, DenseRows, OnesRows
from ..runtime.pace import Pace
from ..runtime.threads import in_parts


def as_matrix(X: Any) -> Any:
    """Return sparse matrices and arrays unchanged, and every data frame as an array."""
    if sparse.issparse(X) or type(X) is np.ndarray:
        return X
    refuse_masked(X, "X")
    return check_array(
        X,
        accept_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        ensure_2d=False,
        allow_nd=True,
        ensure_min_samples=0,
        ensure_min_features=0,
    )


class _Features(BaseEstimator):
    """Learns the number and names of features for an estimator, which must not change before it is trained."""


def read_to_fit(X: Any, bias: float, n_jobs: int | None = None) -> tuple[Data, dict[str, Any]]:
    """Read X, and what an estimator will remember about its features."""
    matrix = as_matrix(X)
    data = read_data(matrix, bias, effective_n_jobs(n_jobs))
    if matrix is X:  # an array or a sparse matrix: its features have no names
        return data, {"n_features_in_": data.n_features}
    features = _Features()
    validate_data(features, X if hasattr(X, "shape") else matrix, skip_check_array=True)
    return data, dict(vars(features))


def read_to_predict(estimator: Any, X: Any) -> Matrix:
    """Read X, whose features must be those that ``estimator`` was trained with. Values are not checked yet."""
    matrix = as_matrix(X)
    rows = read_matrix(matrix)
    validate_data(estimator, X if hasattr(X, "shape") else matrix, reset=False, skip_check_array=True)
    return rows


def dense_coef(coef: Any) -> np.ndarray:
    """Return coefficients, which may be sparse, as an array."""
    return np.asarray(coef.toarray() if sparse.issparse(coef) else coef)


def support_of(dual_coef: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the rows that have a non-zero dual variable in any problem."""

    def of_part(part: slice) -> np.ndarray:
        is_support = dual_coef[..., part] != 0.0  # NumPy lists the places of flags much faster than those of floats
        return part.start + np.flatnonzero(is_support if is_support.ndim == 1 else is_support.any(axis=0))

    parts = in_parts(effective_n_jobs(n_jobs), dual_coef.shape[-1], of_part)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def decision_values(matrix: Matrix, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Return X coef' + intercept, shape (n_rows, n_outputs); X is not copied, whatever its type.

    NaN and infinities in X show in the values, so X itself is checked only if they do.
    """
    rows = matrix.rows
    out = _dense_values(rows.X, coef) if isinstance(rows, DenseRows) else _sparse_values(rows, matrix.n_rows, coef)
    out += intercept
    if not np.isfinite(out.sum()):
        check_values(matrix)
    return out


def _sparse_values(rows: CsrRows | OnesRows, n_rows: int, coef: np.ndarray) -> np.ndarray:
    out = np.empty((n_rows, coef.shape[0]))
    if coef.shape[0] == 1:
        w = np.append(coef[0], 0.0)
        for begin, end in Pace().slices(n_rows):
            scores(rows, w, out[:, 0], begin, end)
    else:
        W = np.ascontiguousarray(coef.T)
        for begin, end in Pace().slices(n_rows):
            scores_of_many(rows, W, out, begin, end)
    return out


def _dense_values(X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Multiply in float64; float32 rows are converted block by block, never as a whole."""
    out = np.empty((X.shape[0], coef.shape[0]))
    block = max(1, 2**17 // X.shape[1]) if X.dtype == np.float32 else X.shape[0]
    for begin in range(0, X.shape[0], block):
        with np.errstate(invalid="ignore"):  # the caller reports infinities
            out[begin : begin + block] = X[begin : begin + block].astype(np.float64, copy=False) @ coef.T
    return out
