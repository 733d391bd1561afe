"""The problems of each fold: those of all rows, in which the rows that are held out have weight zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.problem import Problem
from ..estimators.training_set import ClassificationSet, TrainingSet
from ..kernels.losses import Loss
from .folds import Fold


class FoldProblems:
    """Makes the problems of every fold, for any C.

    Parameters
    ----------
    rows : TrainingSet
    folds : list of Fold
    loss : Loss
        Its C is not used.
    """

    def __init__(self, rows: TrainingSet, folds: list[Fold], loss: Loss) -> None:
        # Without what users gave: these problems may be sent to other processes.
        self._rows = replace(rows, X=None, y=None, sample_weight=None)
        self._folds, self._loss = folds, loss
        self._trainable = [self._trainable_in(number) for number in range(len(folds))]

    def problem_at(self, fold: int, k: int, C: float) -> Problem:
        """Return problem ``k`` of a fold for a C."""
        return self._rows.problem(k, self._loss._replace(C=C), self._folds[fold].weights(self._rows.weights))

    def is_trainable(self, fold: int, k: int) -> bool:
        """Tell whether the fold trains with any row of the class of problem ``k``."""
        return bool(self._trainable[fold][k])

    def _trainable_in(self, number: int) -> np.ndarray:
        rows = self._rows
        if not isinstance(rows, ClassificationSet):
            return np.ones(rows.n_problems, dtype=bool)
        present = rows.are_present(self._folds[number].counts > 0)
        if np.count_nonzero(present) < 2:
            raise ValueError(
                f"The training rows of fold {number} are all of one class: use fewer folds, or stratified ones."
            )
        return present[list(rows.one_versus_rest.positives)]
