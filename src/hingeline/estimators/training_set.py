"""The input of ``fit``, read and checked once: for one fit, or for all folds of a search and its last fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import column_or_1d

from ..data.matrix import Data
from ..data.problem import Problem, make_problem
from ..data.values import refuse_masked
from ..kernels.losses import Loss
from ..solvers.one_versus_rest import OneVersusRest
from ..solvers.solve import checked_targets
from .base import read_to_fit
from .labels import class_weights, encode_labels, encode_weights


@dataclass(frozen=True)
class TrainingSet:
    """Rows and their weights; a subclass has their labels or targets.

    Attributes
    ----------
    X, y, sample_weight
        As they were given.
    data : Data
    features : dict
        What an estimator remembers about the features.
    weights : ndarray or None
        The sample weights, checked.
    """

    X: Any
    y: Any
    sample_weight: Any
    data: Data
    features: dict[str, Any]
    weights: np.ndarray | None

    @property
    def n_problems(self) -> int:
        """How many problems are trained."""
        return 1

    @property
    def names(self) -> list[Any]:
        """What the problems are called, if there are several."""
        return []

    @property
    def known(self) -> dict[str, Any]:
        """The attributes of a fitted estimator that are known before training."""
        return self.features

    @property
    def truth(self) -> np.ndarray:
        """The labels or targets, one per row."""
        raise NotImplementedError

    def problem(self, k: int, loss: Loss, weights: np.ndarray | None = None) -> Problem:
        """Return problem ``k``, with other ``weights`` of the rows if they are given."""
        raise NotImplementedError


@dataclass(frozen=True)
class ClassificationSet(TrainingSet):
    """Rows with the labels of classes: one problem for two classes, one per class for more.

    Attributes
    ----------
    classes, codes : ndarray
        The classes in order, and the number of each row's class.
    class_weight : dict, "balanced" or None
        Balanced among the rows that have a weight, if only some have.
    n_threads : int
        Threads for passes over the labels.
    """

    classes: np.ndarray
    codes: np.ndarray
    class_weight: Any
    n_threads: int = 1

    @cached_property
    def one_versus_rest(self) -> OneVersusRest:
        """The binary problems."""
        return OneVersusRest(self.codes, int(self.classes.size), n_threads=self.n_threads)

    @property
    def n_problems(self) -> int:
        """One for two classes, one per class for more."""
        return len(self.one_versus_rest)

    @property
    def names(self) -> list[Any]:
        """The classes."""
        return list(self.classes)

    @property
    def known(self) -> dict[str, Any]:
        """The attributes of a fitted estimator that are known before training."""
        return {**self.features, "classes_": self.classes}

    @property
    def truth(self) -> np.ndarray:
        """The labels, one per row."""
        return np.asarray(self.classes[self.codes])

    @cached_property
    def class_weights(self) -> np.ndarray | None:
        """The weight of each class; None if all are 1."""
        return class_weights(self.class_weight, self.classes, self.codes, self.weights)

    def row_weights(self, weights: np.ndarray | None = None) -> np.ndarray | None:
        """Return the weight of each row times that of its class, with other ``weights`` if they are given.

        None: all are 1.
        """
        if weights is None:
            weights, of_classes = self.weights, self.class_weights
        else:
            of_classes = class_weights(self.class_weight, self.classes, self.codes, weights)
        if of_classes is None:
            return weights
        of_rows = np.asarray(of_classes[self.codes])
        return of_rows if weights is None else weights * of_rows

    def problem(self, k: int, loss: Loss, weights: np.ndarray | None = None) -> Problem:
        """Return problem ``k``, with other ``weights`` of the rows if they are given."""
        if weights is None:
            weights, of_classes = self.weights, self.class_weights
        else:
            of_classes = class_weights(self.class_weight, self.classes, self.codes, weights)
        return self.one_versus_rest.problem(k, self.data, loss, of_classes, weights)

    def are_present(self, rows: np.ndarray) -> np.ndarray:
        """Tell for each class whether any of the rows in the mask ``rows`` has it and a weight above zero."""
        counted = rows if self.weights is None else rows & (self.weights > 0.0)
        return np.bincount(self.codes[counted], minlength=self.classes.size) > 0


@dataclass(frozen=True)
class RegressionSet(TrainingSet):
    """Rows with targets: one problem.

    Attributes
    ----------
    targets : ndarray of float64
    """

    targets: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        """The targets, one per row."""
        return self.targets

    def problem(self, k: int, loss: Loss, weights: np.ndarray | None = None) -> Problem:
        """Return the problem, with other ``weights`` of the rows if they are given."""
        return make_problem(self.data, self.targets, self.weights if weights is None else weights, loss)


def read_classification(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, bias: float, class_weight: Any
) -> ClassificationSet:
    """Return what a classifier learns from, or raise."""
    data, features = _read_rows(estimator, X, y, bias)
    n_threads = effective_n_jobs(estimator.n_jobs)
    classes, codes = encode_labels(y, n_threads)
    _check_length(data, codes.size)
    weights = encode_weights(sample_weight, data.n_rows)
    return ClassificationSet(X, y, sample_weight, data, features, weights, classes, codes, class_weight, n_threads)


def read_regression(estimator: Any, X: Any, y: Any, sample_weight: Any, *, bias: float) -> RegressionSet:
    """Return what a regression learns from, or raise."""
    data, features = _read_rows(estimator, X, y, bias)
    refuse_masked(y, "y")
    targets = column_or_1d(y, warn=True)
    _check_length(data, targets.size)
    weights = encode_weights(sample_weight, data.n_rows)
    return RegressionSet(X, y, sample_weight, data, features, weights, checked_targets(targets, data.n_rows))


def _read_rows(estimator: Any, X: Any, y: Any, bias: float) -> tuple[Data, dict[str, Any]]:
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    return read_to_fit(X, bias, estimator.n_jobs)


def _check_length(data: Data, size: int) -> None:
    if size != data.n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{data.n_rows}, {size}]")
