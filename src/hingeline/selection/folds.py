"""Folds as weights on the rows of one matrix: a row that is held out has weight zero, so X is never copied.

A row of weight zero is not part of a problem: no engine visits it, and the certificate leaves it out. So a fold's
problem over all rows has exactly the optimum and the certificate of the problem over its own rows alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

DEFAULT_FOLDS = 5


class Fold(NamedTuple):
    """One fold.

    Attributes
    ----------
    counts : ndarray of shape (n_rows,)
        How often each row is trained with: 0 or 1, or more if a splitter repeats rows.
    held_out : ndarray
        The rows that are scored.
    """

    counts: np.ndarray
    held_out: np.ndarray

    def weights(self, sample_weight: np.ndarray | None) -> np.ndarray:
        """Return the weights of all rows for training."""
        return self.counts.astype(np.float64) if sample_weight is None else self.counts * sample_weight


def read_folds(cv: Any, X: Any, y: np.ndarray, n_rows: int, *, stratify: bool, **params: Any) -> list[Fold]:
    """Return the folds of ``cv``: a number, a splitter or an iterable of index arrays, as in scikit-learn.

    None means five, or as many as the smallest class has rows (at least two). In a regression a fold has at least two
    rows, since one row has no R^2.
    """
    if cv is None:
        smallest = int(np.unique(y, return_counts=True)[1].min()) if stratify else n_rows // 2
        cv = max(2, min(DEFAULT_FOLDS, smallest))
    splitter = check_cv(cv, y, classifier=stratify)
    folds = []
    for number, (train, test) in enumerate(splitter.split(X, y, **params)):
        held_out = _as_indices(test, n_rows, number)
        counts = np.bincount(_as_indices(train, n_rows, number), minlength=n_rows)
        folds.append(Fold(counts.astype(np.min_scalar_type(int(counts.max()))), held_out))
    if not folds:
        raise ValueError("cv gives no folds: it must give at least one.")
    return folds


def _as_indices(rows: Any, n_rows: int, number: int) -> np.ndarray:
    """Return the rows of a fold as indices that are not negative, from indices or a mask."""
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"cv: fold {number} must have rows to train on and rows to score, given by their indices.")
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise ValueError(f"cv: fold {number} names rows that X does not have; X has {n_rows} rows.")
    return np.where(rows < 0, rows + n_rows, rows)
