"""Lazy predictions and scores of collections: nothing is computed until requested, and rows stay on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Future
from scipy import sparse
from sklearn.base import is_classifier

from .inputs import cut_like, is_list_of_pieces, pieces_of, row_chunks


def apply(model: Any, method: str, X: Any, example: np.ndarray) -> Any:
    """Return ``model.<method>`` of the pieces of a collection, lazily.

    Parameters
    ----------
    model : estimator
        A plain one.
    method : str
    X : collection
    example : ndarray
        What the method returns for a single row: it shows the type, and the shape apart from the number of rows.

    Returns
    -------
    A Dask array for Dask arrays and dataframes; a list of delayed for a list, a delayed for a delayed.
    """
    shared = delayed(model, traverse=False)
    results = [delayed(apply_to_piece)(shared, method, piece, example[:0]) for piece in pieces_of(X, "X")]
    if is_list_of_pieces(X):
        return results[0] if isinstance(X, (Delayed, Future)) else results
    n_rows = X.chunks[0] if isinstance(X, da.Array) else [nan] * len(results)
    shapes = [(n, *example.shape[1:]) for n in n_rows]
    parts = [da.from_delayed(part, at, dtype=example.dtype) for part, at in zip(results, shapes, strict=True)]
    return da.concatenate(parts)


def apply_to_piece(model: Any, method: str, X: Any, empty: np.ndarray) -> np.ndarray:
    """Return ``model.<method>(X)``; ``empty`` if there are no rows."""
    return np.asarray(getattr(model, method)(X)) if n_rows_of(X) else empty


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a matrix, array or frame."""
    return int(X.shape[0]) if hasattr(X, "shape") or sparse.issparse(X) else len(X)


class Tally(NamedTuple):
    """Sums over rows from which scores are computed; they add up."""

    weight: float
    right: float  # classifiers: weight of the rows that are predicted correctly
    mean: float = 0.0  # regression: mean of y, weighted
    spread: float = 0.0  # sum of weighted squares of y - mean
    error: float = 0.0  # sum of weighted squares of y - f(x)


def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Delayed:
    """Return the accuracy or, of a regression, R^2, as a delayed float."""
    chunks = row_chunks(X)
    columns = [pieces_of(X, "X")]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        pieces = [None] * len(columns[0]) if values is None else pieces_of(cut_like(values, chunks, name), name)
        if len(pieces) != len(columns[0]):
            raise ValueError(f"X has {len(columns[0])} partitions, but {name} has {len(pieces)}: they must match.")
        columns.append(pieces)
    shared, is_class = delayed(model, traverse=False), is_classifier(model)
    tallies = [delayed(tally)(shared, is_class, *piece) for piece in zip(*columns, strict=True)]
    return delayed(score_of)(delayed(add_tallies)(tallies), is_class)


def tally(model: Any, is_class: bool, X: Any, y: Any, sample_weight: Any) -> Tally:
    """Return the sums over some rows."""
    y = np.asarray(y)
    if y.shape[0] != n_rows_of(X):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows_of(X), y.shape[0]]}")
    weights = np.ones(y.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(weights.sum())
    if not total:
        return Tally(0.0, 0.0)
    predicted = model.predict(X)
    if is_class:
        return Tally(total, float(weights[predicted == y].sum()))
    mean = float(weights @ y) / total
    return Tally(total, 0.0, mean, float(weights @ (y - mean) ** 2), float(weights @ (y - predicted) ** 2))


def add_tallies(parts: Sequence[Tally]) -> Tally:
    """Return the sums over the rows of all parts."""
    total = Tally(0.0, 0.0)
    for part in parts:
        both = total.weight + part.weight
        if not part.weight:
            continue
        apart = part.mean - total.mean  # different means add to the spread
        total = Tally(
            both,
            total.right + part.right,
            total.mean + apart * part.weight / both,
            total.spread + part.spread + apart**2 * total.weight * part.weight / both,
            total.error + part.error,
        )
    return total


def score_of(total: Tally, is_class: bool) -> float:
    """Return the accuracy or, of a regression, R^2."""
    if not total.weight:
        raise ValueError("There is nothing to score: no row has a weight above zero.")
    if is_class:
        return total.right / total.weight
    return 1.0 - total.error / total.spread if total.spread else float(total.error == 0.0)
