"""Folds of a cross-validation on resident partitions: each worker finds out by itself which rows are held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.labels import number_labels


@dataclass(frozen=True)
class Fold:
    """One fold of several, stratified in each partition.

    The rows of a class, in random order, take turns in being held out. The draw depends only on the seed and the number
    of the partition, so every task finds the same rows and nothing needs to be stored.

    Attributes
    ----------
    number, n_folds : int
    seed : int
    """

    number: int
    n_folds: int
    seed: int

    def holds_out(self, partition: int, y: np.ndarray) -> np.ndarray:
        """Tell which rows of a partition are held out."""
        random = np.random.default_rng([self.seed, partition])
        classes, codes = number_labels(y)
        order = np.lexsort((random.random(codes.size), codes))
        first = random.integers(self.n_folds, size=classes.size)
        begins = np.cumsum(np.bincount(codes, minlength=classes.size)) - np.bincount(codes, minlength=classes.size)
        turn = np.empty(codes.size, dtype=np.int64)
        turn[order] = np.arange(codes.size) - begins[codes[order]] + first[codes[order]]
        return turn % self.n_folds == self.number

    def weights(self, partition: int, y: np.ndarray) -> np.ndarray:
        """Return the weights of rows in training: 0 for those that are held out, else 1."""
        return 1.0 - self.holds_out(partition, y)
