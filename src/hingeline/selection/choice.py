"""Which C to choose: the best, or the smallest that is as good within one standard error."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np


class Choice(NamedTuple):
    """Positions in the grid of C, and the scores they were chosen by."""

    best: int
    one_se: int
    means: np.ndarray
    std_errors: np.ndarray


def means_and_errors(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over the folds, the last axis, and its standard error; NaN if a fold is missing or alone."""
    means, n_folds = scores.mean(axis=-1), scores.shape[-1]
    if n_folds < 2:
        return means, np.full(means.shape, np.nan)
    return means, scores.std(axis=-1, ddof=1) / sqrt(n_folds)


def choose(scores: np.ndarray) -> Choice:
    """Choose by ``scores`` of shape (n_Cs, n_folds), larger is better. Rows with a NaN were not finished.

    Of equal means, the smallest C is the best. ``one_se`` is the smallest C whose mean score is at most one standard
    error (that of the best C) below the best.
    """
    means, std_errors = means_and_errors(scores)
    if np.isnan(means).all():
        raise ValueError("No C was scored in every fold, so none can be chosen: raise max_time, or use fewer folds.")
    best = int(np.nanargmax(means))
    margin = std_errors[best] if np.isfinite(std_errors[best]) else 0.0
    one_se = int(np.argmax(means >= means[best] - margin))
    return Choice(best, one_se, means, std_errors)
