"""The Gram matrix of weighted rows: ``gram(rows, s, distinct, G, room, begin, end)``.

G <- G + sum s_i x_i x_i' over the rows begin to end, upper triangle, the constant feature last. ``distinct`` says that
no row names a column twice. ``room`` is work space, see ``room_for_gram``.
"""

from __future__ import annotations

import numpy as np

from .compile import by_type, kernel
from .rows import ONE, CsrRows, DenseRows, OnesRows, Rows, value
from .types import Matrix, Vector

WIDE = np.uint64(512)  # columns from which on G is filled row by row; below that, column by column is faster
BLOCK = 64  # dense rows that are multiplied at a time, column by column: the vector units see long sums


def room_for_gram(rows: Rows) -> Matrix:
    """Return the work space for these rows; sparse ones need none."""
    return np.empty((2, rows.X.shape[1] + 1, BLOCK) if isinstance(rows, DenseRows) else (2, 0, 0))


def sparse_gram(
    rows: CsrRows | OnesRows, s: Vector, distinct: bool, G: Matrix, room: Matrix, begin: int, end: int
) -> None:
    last = np.uint64(G.shape[0] - 1)
    for i in range(np.uint64(begin), np.uint64(end)):
        if s[i] == 0.0:
            continue
        G[last, last] += s[i] * rows.bias * rows.bias
        first, beyond = rows.indptr[i], rows.indptr[i + ONE]
        for k in range(first, beyond):
            u, v = rows.indices[k], s[i] * value(rows, k)
            G[u, last] += v * rows.bias
            if distinct and last >= WIDE:  # and in order: the indices from k on are those above u
                for m in range(k, beyond):
                    G[u, rows.indices[m]] += v * value(rows, m)
            elif distinct:
                for m in range(first, k + ONE):
                    G[rows.indices[m], u] += v * value(rows, m)
            else:  # with a repeated index both orders count, as they must
                for m in range(first, beyond):
                    if rows.indices[m] <= u:
                        G[rows.indices[m], u] += v * value(rows, m)


def dense_gram(rows: DenseRows, s: Vector, distinct: bool, G: Matrix, room: Matrix, begin: int, end: int) -> None:
    X, first, beyond, d = rows.X, np.uint64(begin), np.uint64(end), np.uint64(rows.X.shape[1])
    columns, weighted = room[0], room[1]
    while first < beyond:
        k, i = np.uint64(0), first
        while i < beyond and k < np.uint64(BLOCK):
            if s[i] != 0.0:
                for u in range(d):
                    columns[u, k] = X[i, u]
                    weighted[u, k] = s[i] * X[i, u]
                columns[d, k] = rows.bias
                weighted[d, k] = s[i] * rows.bias
                k += ONE
            i += ONE
        first = i
        for u in range(d + ONE):
            for v in range(u, d + ONE):
                total = 0.0
                for r in range(k):
                    total += weighted[u, r] * columns[v, r]
                G[u, v] += total


gram = by_type({CsrRows: sparse_gram, OnesRows: sparse_gram, DenseRows: dense_gram})


@kernel
def add_gram(rows: Rows, s: Vector, distinct: bool, G: Matrix, room: Matrix, begin: int, end: int) -> None:
    """G <- G + sum s_i x_i x_i' over the rows begin to end: ``gram`` for callers in Python."""
    gram(rows, s, distinct, G, room, begin, end)
