"""Equal rows with different labels: found by a random projection, to be settled together (twin_steps.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...data.matrix import Data
from ...kernels.compile import by_type, kernel
from ...kernels.passes import scores
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from ...kernels.types import Counts, Flags, Index, Indices
from ...runtime.pace import Pace

SEED = 0  # of the projection: equal rows have equal scores; other rows with equal scores are told apart afterwards


class Twins(NamedTuple):
    """Groups of examples with equal rows: ``members[first[g]:first[g + 1]]``."""

    members: Indices
    first: Counts

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.first.size - 1


NO_TWINS = Twins(np.zeros(0, dtype=np.uint32), np.zeros(1, dtype=np.int64))


def sparse_same(rows: CsrRows | OnesRows, i: Index, j: Index) -> bool:
    a, b, n = rows.indptr[i], rows.indptr[j], rows.indptr[i + ONE] - rows.indptr[i]
    if rows.indptr[j + ONE] - b != n:
        return False
    different = 0
    for t in range(n):
        different += rows.indices[a + t] != rows.indices[b + t] or value(rows, a + t) != value(rows, b + t)
    return different == 0


def dense_same(rows: DenseRows, i: Index, j: Index) -> bool:
    different = 0
    for t in range(np.uint64(rows.X.shape[1])):
        different += rows.X[i, t] != rows.X[j, t]
    return different == 0


same_row = by_type({CsrRows: sparse_same, OnesRows: sparse_same, DenseRows: dense_same})


@kernel
def same_as_before(rows: Rows, order: Indices, out: Flags, begin: Index, end: Index) -> None:
    """Set out_k to whether row order[k] equals row order[k - 1]; an out_k that is False already stays so."""
    for k in range(np.uint64(begin), np.uint64(end)):
        if out[k]:
            out[k] = same_row(rows, np.uint64(order[k - ONE]), np.uint64(order[k]))


def contradictory_twins(data: Data, y: Indices, among: Indices, pace: Pace) -> Twins:
    """Return the groups of equal rows, of those ``among``, that have more than one label ``y``.

    Equal rows have equal scores under any weights. So rows are sorted by their scores under random weights, and
    neighbours with equal scores are compared.
    """
    if among.size == 0:
        return NO_TWINS
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
        return NO_TWINS
    labels, sizes = y[order], np.diff(np.append(starts, order.size))
    mixed = np.minimum.reduceat(labels, starts) != np.maximum.reduceat(labels, starts)
    return Twins(order[np.repeat(mixed, sizes)], np.append(0, np.cumsum(sizes[mixed])))
