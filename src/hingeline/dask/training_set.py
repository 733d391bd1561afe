"""What a Dask estimator learns from: partitions of rows, their classes, and the resulting problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..estimators.labels import (
    checked_classes,
    class_weights,
    classes_in_order,
    number_labels,
)
from .partitions import Block, Partitions
from .target import Binary, Target, Targets


class ClassCounts(NamedTuple):
    """The classes of some rows: how many rows each has with a weight above zero, and the sum of their weights."""

    classes: np.ndarray
    counts: np.ndarray  # (2, n_classes)


@dataclass(frozen=True)
class ClusterSet:
    """Rows on the workers, with targets of a regression; ``ClassifiedCluster`` has classes instead.

    It replaces a ``TrainingSet``; everything with one entry per row is on the workers.
    """

    data: Partitions
    X: ClassVar[None] = None
    y: ClassVar[None] = None
    sample_weight: ClassVar[None] = None

    @property
    def features(self) -> dict[str, Any]:
        """What an estimator remembers of the features."""
        return self.data.features

    @property
    def known(self) -> dict[str, Any]:
        """The attributes of a fitted estimator that are known before training."""
        return self.features

    @property
    def n_problems(self) -> int:
        """How many problems are trained."""
        return 1

    @property
    def names(self) -> list[Any]:
        """What the problems are called, if there are several."""
        return []

    def target(self, k: int) -> Target:
        """Return how workers read y in problem ``k``."""
        return Targets()

    def class_weight(self, k: int) -> tuple[float, float] | None:
        """Return the weights of the rest and of the positive class in problem ``k``; None if both are 1."""
        return None


@dataclass(frozen=True)
class ClassifiedCluster(ClusterSet):
    """Rows on the workers with the labels of classes: one problem for two classes, one per class for more.

    Attributes
    ----------
    classes : ndarray
        In order.
    class_weights : ndarray or None
        One per class; None if all are 1.
    is_present : ndarray of bool
        Whether a class has any row with a weight above zero.
    """

    classes: np.ndarray
    class_weights: np.ndarray | None
    is_present: np.ndarray

    @property
    def known(self) -> dict[str, Any]:
        """The attributes of a fitted estimator that are known before training."""
        return {**self.features, "classes_": self.classes}

    @property
    def n_problems(self) -> int:
        """One for two classes, one per class for more."""
        return 1 if self.classes.size == 2 else int(self.classes.size)

    @property
    def names(self) -> list[Any]:
        """The classes."""
        return list(self.classes)

    def target(self, k: int) -> Target:
        """Return how workers read y in problem ``k``: the second of two classes is the positive one."""
        return Binary(self.classes[1 if self.classes.size == 2 else k])

    def class_weight(self, k: int) -> tuple[float, float] | None:
        """Return the weights of the rest and of the positive class in problem ``k``.

        As in LIBLINEAR, each of two classes has its own weight; with more classes, the rest has weight 1.
        """
        if self.class_weights is None:
            return None
        if self.classes.size == 2:
            return float(self.class_weights[0]), float(self.class_weights[1])
        return 1.0, float(self.class_weights[k])


def classified(partitions: Partitions, class_weight: Any, fold: Any = None) -> ClassifiedCluster:
    """Find the classes by a tree reduction on the workers, and check them. Rows that a fold holds out do not count."""
    found: ClassCounts = partitions.reduce(count_classes, add_counts, fold)
    classes, (n_weighted, weight) = checked_classes(found.classes), found.counts
    every = np.arange(classes.size)
    weights = class_weights(class_weight, classes, every, weight)
    return ClassifiedCluster(partitions, classes, weights, n_weighted > 0.0)


def count_classes(k: int, block: Block, fold: Any = None) -> ClassCounts:
    """Return the classes of partition ``k``, of its rows in a fold if one is given."""
    try:
        classes, codes = number_labels(block.y)
        if classes.size > 1:
            checked_classes(classes)  # checked here: a regression's targets would give as many classes as rows
    except ValueError as error:
        raise type(error)(f"Partition {k} (rows are counted from its first): {error}") from error
    weights = np.ones(len(codes)) if block.sample_weight is None else block.sample_weight
    if fold is not None:
        weights = weights * fold.weights(k, block.y)
    counts = [np.bincount(codes, values, minlength=classes.size) for values in (weights > 0.0, weights)]
    return ClassCounts(classes, np.array(counts))


def add_counts(parts: Sequence[ClassCounts]) -> ClassCounts:
    """Return the classes of all parts together."""
    kinds = {part.classes.dtype.kind for part in parts}
    if kinds & set("US") and kinds & set("biuf"):
        raise ValueError("y holds strings in some partitions and numbers in others: use one type for all.")
    classes, codes = classes_in_order(np.concatenate([part.classes for part in parts]))
    counts = np.zeros((2, classes.size))
    np.add.at(counts.T, codes, np.concatenate([part.counts for part in parts], axis=1).T)
    return ClassCounts(classes, counts)
