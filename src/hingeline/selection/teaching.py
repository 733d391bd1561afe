"""What each machine learns from in each fold: labels, or targets, and the weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..data.problem import Data, Problem, make_problem
from ..estimators.labels import class_weights, drop_weightless, encode_labels
from ..kernels.losses import Loss
from ..solvers.one_versus_rest import OneVersusRest
from ..solvers.solve import checked_targets
from .folds import Fold


@dataclass(frozen=True)
class Targets:
    """A regression: one machine.

    Attributes
    ----------
    data : Data
    y : ndarray
        Targets.
    weights : ndarray or None
        Sample weights.
    loss : Loss
        Its C is set by the path.
    """

    data: Data
    y: np.ndarray
    weights: np.ndarray | None
    loss: Loss

    is_classification = False
    n_machines = 1

    def of(self, folds: list[Fold]) -> TargetMachines:
        """Return the machines of the folds."""
        return TargetMachines(self, folds)


@dataclass(frozen=True)
class TargetMachines:
    """The machine of each fold of a regression."""

    targets: Targets
    folds: list[Fold]

    def problem_at(self, fold: int, machine: int, C: float) -> Problem:
        """Return the problem of a fold for a C."""
        t = self.targets
        return make_problem(t.data, t.y, self.folds[fold].weights(t.weights), t.loss._replace(C=C))

    def is_taught(self, fold: int, machine: int) -> bool:
        """Tell whether there is anything to learn from: always."""
        return True


@dataclass(frozen=True)
class Labels:
    """A classification: one machine for two classes, one for each class against the rest for more.

    Attributes
    ----------
    data : Data
    classes, codes : ndarray
        The classes in order, and the number of each row's class.
    weights : ndarray or None
        Sample weights.
    class_weight : dict, "balanced" or None
        Balanced within the training rows of each fold.
    loss : Loss
        Its C is set by the path.
    """

    data: Data
    classes: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    class_weight: object
    loss: Loss

    is_classification = True

    @cached_property
    def one_versus_rest(self) -> OneVersusRest:
        """The binary problems."""
        return OneVersusRest(self.codes, int(self.classes.size))

    @property
    def n_machines(self) -> int:
        """Number of binary problems."""
        return len(self.one_versus_rest)

    @property
    def y(self) -> np.ndarray:
        """The labels, as they were given."""
        return np.asarray(self.classes[self.codes])

    def of(self, folds: list[Fold]) -> LabelMachines:
        """Return the machines of the folds; raises where a fold trains with one class alone."""
        return LabelMachines(self, folds)


class LabelMachines:
    """The machines of each fold of a classification."""

    def __init__(self, labels: Labels, folds: list[Fold]) -> None:
        self._labels, self._folds = labels, folds
        self._present = [self._classes_in(fold) for fold in folds]
        for number, present in enumerate(self._present):
            if np.count_nonzero(present) < 2:
                raise ValueError(
                    f"The training rows of fold {number} are all of one class: use fewer folds, or stratified ones."
                )

    def _classes_in(self, fold: Fold) -> np.ndarray:
        codes, weights = self._labels.codes, self._labels.weights
        trained = fold.counts > 0 if weights is None else (fold.counts > 0) & (weights > 0.0)
        return np.bincount(codes[trained], minlength=self._labels.classes.size) > 0

    def problem_at(self, fold: int, machine: int, C: float) -> Problem:
        """Return the problem of a machine in a fold for a C."""
        labels = self._labels
        weights = self._folds[fold].weights(labels.weights)
        per_class = class_weights(labels.class_weight, labels.classes, labels.codes, weights)
        loss = labels.loss._replace(C=C)
        return labels.one_versus_rest.problem(machine, labels.data, loss, per_class, weights)

    def is_taught(self, fold: int, machine: int) -> bool:
        """Tell whether the machine's class is among the training rows."""
        return bool(self._present[fold][self._labels.one_versus_rest.positives[machine]])


def read_targets(data: Data, y: Any, weights: np.ndarray | None, loss: Loss) -> Targets:
    """Return what a regression learns from, or raise."""
    y = column_or_1d(y, warn=True)
    _check_length(data, y.size)
    return Targets(data, checked_targets(y, data.n_rows), weights, loss)


def read_labels(data: Data, y: Any, weights: np.ndarray | None, class_weight: Any, loss: Loss) -> Labels:
    """Return what a classification learns from, or raise."""
    classes, codes = encode_labels(y)
    _check_length(data, codes.size)
    drop_weightless(classes, codes, weights)
    return Labels(data, classes, codes, weights, class_weight, loss)


def _check_length(data: Data, size: int) -> None:
    if size != data.n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{data.n_rows}, {size}]")
