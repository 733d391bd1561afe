"""Rows that occur more than once with different labels, found and settled together (kernels/twins.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...data.problem import Data
from ...kernels.passes import scores
from ...runtime.pace import Pace
from .twin_rows import same_as_before

SEED = 0  # of the projection that equal rows share; rows that share it by chance are told apart afterwards


class Twins(NamedTuple):
    """Groups of examples with one row: ``members[first[g]:first[g + 1]]``."""

    members: np.ndarray
    first: np.ndarray

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.first.size - 1


NOBODY = Twins(np.zeros(0, dtype=np.uint32), np.zeros(1, dtype=np.int64))


def contradictory_twins(data: Data, y: np.ndarray, among: np.ndarray, pace: Pace) -> Twins:
    """Return the groups of equal rows, of those ``among``, that have more than one label ``y``.

    Equal rows have equal scores under any weights. So rows are sorted by their scores under random ones, and neighbours
    with equal scores are compared.
    """
    some = np.append(np.random.default_rng(SEED).normal(size=data.n_features), 0.0)
    s = np.empty(data.n_rows)
    for begin, end in pace.slices(data.n_rows):
        scores(data.rows, some, s, begin, end)
    order = among[np.argsort(s[among], kind="stable")]
    sorted_scores = s[order]
    same = np.append(False, sorted_scores[1:] == sorted_scores[:-1])
    for begin, end in pace.slices(order.size):
        same_as_before(data.rows, order, same, begin, end)
    starts = np.flatnonzero(~same)
    if starts.size == order.size:
        return NOBODY
    labels, sizes = y[order], np.diff(np.append(starts, order.size))
    mixed = np.minimum.reduceat(labels, starts) != np.maximum.reduceat(labels, starts)
    return Twins(order[np.repeat(mixed, sizes)], np.append(0, np.cumsum(sizes[mixed])))
