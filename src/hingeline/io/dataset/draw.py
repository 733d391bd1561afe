"""Drawing synthetic rows: distinct columns from a Zipf distribution, sorted, and the score of a hidden rule.

Each row has a random stream of its own, and nothing is looked up in tables: rows can be drawn in any order, by any
number of threads, in memory that does not grow with the number of columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.random import uniform

PATIENCE = 8  # draws for each entry of a row; what still collides then takes the next column that is free


class Zipf(NamedTuple):
    """The column of rank r = 0, 1, ... is drawn with the probability that the density x^-a has in [r + 1, r + 2).

    With span = (D + 1)^(1 - a) - 1 and exponent = 1 / (1 - a), the distribution function is inverted by
    x = (1 + u span)^exponent; for a = 1 by x = exp(u log(D + 1)). Ranks are scattered over the columns by an affine
    map modulo D.
    """

    n_columns: int
    span: float
    exponent: float
    logarithm: float  # log(D + 1) where a = 1, else 0
    factor: np.uint64
    offset: np.uint64


@kernel
def draw_column(zipf: Any, u: Any) -> Any:
    """Return the column at which the distribution function passes u in [0, 1)."""
    x = u * zipf.logarithm if zipf.logarithm > 0.0 else np.log(1.0 + u * zipf.span) * zipf.exponent
    rank = np.uint64(min(max(np.exp(x) - 1.0, 0.0), zipf.n_columns - 1.0))
    return np.int64((zipf.factor * rank + zipf.offset) % np.uint64(zipf.n_columns))


@kernel
def insert(row: Any, count: Any, column: Any) -> Any:
    """Insert a column into the ``count`` sorted ones of ``row``; False where it is there already."""
    k = count
    while k > 0 and row[k - 1] > column:
        k -= 1
    if k > 0 and row[k - 1] == column:
        return False
    for m in range(count, k, -1):
        row[m] = row[m - 1]
    row[k] = column
    return True


@kernel
def draw_rows(
    zipf: Any, streams: Any, key: Any, share: Any, columns: Any, values: Any, scores: Any, chances: Any
) -> None:
    """Fill ``columns`` (a row of the result each), ``values`` (likewise, or without columns: all are 1), ``scores``.

    Row i draws from the stream that begins at ``streams[i]``; ``chances[i]`` is one more number in [0, 1) from it.
    The weight of a column in the score is a hash of it and ``key``: for a ``share`` of the columns evenly spread over
    [-1, 1), for the others 0.
    """
    n, K = columns.shape
    hidden = np.zeros(1, np.uint64)
    for i in range(n):
        stream, row = streams[i : i + 1], columns[i]
        count, draws = 0, 0
        while count < K:
            column = draw_column(zipf, uniform(stream))
            draws += 1
            while not insert(row, count, column):
                if draws < PATIENCE * K:
                    column = draw_column(zipf, uniform(stream))
                    draws += 1
                else:
                    column = column + 1 if column + 1 < zipf.n_columns else 0
            count += 1
        score = 0.0
        for k in range(K):
            hidden[0] = key ^ np.uint64(row[k])
            u = uniform(hidden)
            weight = u * (2.0 / share) - 1.0 if u < share else 0.0
            if values.shape[1]:
                values[i, k] = 1.0 - uniform(stream)
                weight *= values[i, k]
            score += weight
        scores[i] = score
        chances[i] = uniform(stream)
