"""LIBLINEAR's predictions, to the last bit: terms are added in the order of the indices, ``> 0`` is the first label."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io.models.liblinear_file import LinearModel
from ..io.text.small import PlainRows


def scores(model: LinearModel, X: Any) -> np.ndarray:
    """Return the decision values, shape (n_rows, n_outputs), of rows in CSR form: SciPy's, or ``PlainRows``.

    Features that the model does not know are ignored. The terms of a row are added one by one in the order of their
    indices, as LIBLINEAR does; the term of the constant feature comes last.
    """
    out = plain_products(X, model.w, model.n_features) if isinstance(X, PlainRows) else products(X, model)
    if model.bias >= 0.0:
        out += model.w[model.n_features] * model.bias
    if model.solver_type.task == "one_class":
        out -= model.rho
    return out


def products(X: Any, model: LinearModel) -> np.ndarray:
    """Return the products of rows and weights. SciPy adds the terms of a row in the order in which they are stored."""
    from scipy import sparse

    X = sparse.csr_matrix(X, copy=False)
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    n = min(X.shape[1], model.n_features)
    if n < X.shape[1]:
        X = X[:, :n]
    return np.asarray(X.astype(np.float64, copy=False) @ np.ascontiguousarray(model.w[:n]))


def plain_products(X: PlainRows, w: np.ndarray, n_features: int) -> np.ndarray:
    """Return the same without SciPy. ``bincount`` adds in the order of the entries, unlike NumPy's sums."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    known = X.indices < n_features
    rows, indices, values = rows[known], X.indices[known], X.data[known]
    columns = [np.bincount(rows, values * w[indices, k], minlength=X.shape[0]) for k in range(w.shape[1])]
    return np.column_stack(columns)


def decide(model: LinearModel, values: np.ndarray) -> np.ndarray:
    """Return the predicted label (of a regression: the value) for each row of decision values."""
    if model.solver_type.is_regression:
        return values[:, 0]
    if model.n_classes == 2:
        first, second = (1, -1) if model.labels is None else model.labels
        return np.where(values[:, 0] > 0.0, first, second)
    return np.asarray(model.labels)[np.argmax(values, axis=1)]


def probabilities(model: LinearModel, values: np.ndarray) -> np.ndarray:
    """Return one probability per class, in the order of the labels, for a logistic model."""
    with np.errstate(over="ignore"):  # exp(-x) is infinite if the probability is 0
        p = 1.0 / (1.0 + np.exp(-values))
    if model.n_classes == 2:
        return np.column_stack((p[:, 0], 1.0 - p[:, 0]))
    return p / p.sum(axis=1, keepdims=True)
