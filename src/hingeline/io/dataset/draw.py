"""Drawing synthetic rows: distinct columns from a Zipf distribution, sorted, and the score of a hidden rule.

Each row has a random stream of its own, and no tables are needed: rows can be drawn in any order, by any number of
threads, in memory that does not grow with the number of columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.random import uniform
from ...kernels.types import Counts, Indices, Matrix, Vector

MOST_DRAWS = 8  # per entry of a row; if columns still collide after these, the next free column is taken


class Zipf(NamedTuple):
    """A distribution over D columns: rank r = 0, 1, ... has the probability of [r + 1, r + 2) under the density x^-a.

    With span = (D + 1)^(1 - a) - 1 and exponent = 1 / (1 - a), the distribution function is inverted by
    x = (1 + u span)^exponent; for a = 1 by x = exp(u log(D + 1)). An affine map modulo D scatters the ranks over the
    columns.
    """

    n_columns: int
    span: float
    exponent: float
    logarithm: float  # log(D + 1) if a = 1, else 0
    factor: np.uint64
    offset: np.uint64


class Rule(NamedTuple):
    """The hidden rule: the weight of a column is a hash of its number and ``key``.

    A ``share`` of the columns has weights evenly spread over [-1, 1), the others have weight 0.
    """

    key: np.uint64
    share: float


class Drawn(NamedTuple):
    """Where rows are written to, one row of each array per row.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, per_row)
    values : ndarray of shape (n_rows, per_row), or (n_rows, 0) if all values are 1
    scores : ndarray of shape (n_rows,)
        What the rule gives.
    chances : ndarray of shape (n_rows,)
        One more random number in [0, 1) per row.
    """

    columns: Counts
    values: Matrix
    scores: Vector
    chances: Vector


@kernel
def draw_column(zipf: Zipf, u: float) -> np.int64:
    """Return the column at which the distribution function passes u in [0, 1)."""
    x = u * zipf.logarithm if zipf.logarithm > 0.0 else np.log(1.0 + u * zipf.span) * zipf.exponent
    rank = np.uint64(min(max(np.exp(x) - 1.0, 0.0), zipf.n_columns - 1.0))
    return np.int64((zipf.factor * rank + zipf.offset) % np.uint64(zipf.n_columns))


@kernel
def insert(row: Counts, count: int, column: np.int64) -> bool:
    """Insert a column into the ``count`` sorted ones of ``row``; return False if it is there already."""
    k = count
    while k > 0 and row[k - 1] > column:
        k -= 1
    if k > 0 and row[k - 1] == column:
        return False
    for m in range(count, k, -1):
        row[m] = row[m - 1]
    row[k] = column
    return True


@array_kernel
def draw_rows(zipf: Zipf, rule: Rule, streams: Indices, drawn: Drawn) -> None:
    """Draw rows; row i draws from the random stream that begins at ``streams[i]``."""
    columns, values, scores, chances = drawn
    n, K = columns.shape
    hidden = np.zeros(1, np.uint64)
    for i in range(n):
        stream, row = streams[i : i + 1], columns[i]
        count, draws = 0, 0
        while count < K:
            column = draw_column(zipf, uniform(stream))
            draws += 1
            while not insert(row, count, column):
                if draws < MOST_DRAWS * K:
                    column = draw_column(zipf, uniform(stream))
                    draws += 1
                else:
                    column = column + 1 if column + 1 < zipf.n_columns else np.int64(0)
            count += 1
        score = 0.0
        for k in range(K):
            hidden[0] = rule.key ^ np.uint64(row[k])
            u = uniform(hidden)
            weight = u * (2.0 / rule.share) - 1.0 if u < rule.share else 0.0
            if values.shape[1]:
                values[i, k] = 1.0 - uniform(stream)
                weight *= values[i, k]
            score += weight
        scores[i] = score
        chances[i] = uniform(stream)
