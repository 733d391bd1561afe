"""C_i of each row, from C and the weights of rows, and the rows that engines visit.

Compiled: searches do this for every C and fold, on threads of their own, and NumPy would need a pass for every step.
"""

from __future__ import annotations

import numpy as np

from ..kernels.compile import kernel
from ..kernels.types import Index, Indices, Vector
from ..runtime.pace import NUMBERS, Pace


def weighed(C: float, weights: Vector, least: float, q: Vector) -> tuple[Vector, int, float]:
    """Return C times the weights, how many rows are left to visit, and the largest C_i.

    C_i below ``least`` become zero. Rows without weight and rows of zeros (q_i = 0) are not visited.
    """
    out, n, largest = np.empty(weights.size), 0, 0.0
    for begin, end in Pace(first=NUMBERS).slices(out.size):
        visited, most = weigh(C, weights, least, q, out, begin, end)
        n, largest = n + visited, max(largest, most)
    return out, n, largest


def visited(C: Vector, q: Vector, n: int) -> Indices:
    """Return the rows that are visited, which are n; C has one entry per row, or a single one for all."""
    kept, at = np.empty(n, dtype=np.uint32), 0
    for begin, end in Pace(first=NUMBERS).slices(q.size):
        at = list_visited(C, q, kept, at, begin, end)
    return kept


@kernel
def weigh(
    C: float, weights: Vector, least: float, q: Vector, out: Vector, begin: Index, end: Index
) -> tuple[int, float]:
    """out_i <- C times weight i, or zero below ``least``; returns the rows to visit and the largest of these."""
    n, largest = 0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C * weights[i]
        if own < least:
            own = 0.0
        out[i] = own
        n += own > 0.0 and q[i] > 0.0
        largest = max(largest, own)
    return n, largest


@kernel
def list_visited(C: Vector, q: Vector, kept: Indices, at: int, begin: Index, end: Index) -> int:
    """Write the numbers of the visited rows from begin to end to ``kept``, from position ``at`` on; returns the end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if (C[i] if C.size > 1 else C[0]) > 0.0 and q[i] > 0.0:
            kept[at] = i
            at += 1
    return at
