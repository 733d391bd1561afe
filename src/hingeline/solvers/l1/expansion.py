"""A smooth loss around the current scores f: value, slope and curvature of each row, values along a line, gap terms.

Curvatures are what the losses' verb ``curvature`` returns: with ``caution`` more than the second derivative, since
Newton steps may be much too long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import Loss, curvature, gap_term, missing, primal_term, response, sign
from ...kernels.types import Index, Vector

BLOCK = np.uint64(512)  # rows whose numbers stay in the nearest cache


class RowLosses(NamedTuple):
    """The loss of each row, as a function of its score."""

    loss: Loss
    y: Vector
    C: Vector


class Expansion(NamedTuple):
    """Losses, the alpha_i that their scores call for, slopes r_i = -s_i alpha_i, and curvatures h_i."""

    values: Vector
    alpha: Vector
    r: Vector
    h: Vector


@kernel
def expand(
    losses: RowLosses,
    f: Vector,
    u: Vector,
    tau: float,
    caution: float,
    before: Vector,
    expansion: Expansion,
    begin: Index,
    end: Index,
) -> float:
    """Expand the losses at the scores f + tau u; returns the sum of their changes from ``before``."""
    loss, y, C = losses
    values, alpha, r, h = expansion
    change = 0.0
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:  # one array at a time, and no branches: loops like that use the vector units
        last = min(first + BLOCK, beyond)
        for i in range(first, last):
            h[i] = missing(loss, y[i], f[i] + tau * u[i])
        for i in range(first, last):
            value = primal_term(loss, h[i], C[i]) if C[i] > 0.0 else 0.0
            change += value - before[i]
            values[i] = value
        for i in range(first, last):
            alpha[i] = response(loss, h[i], C[i]) if C[i] > 0.0 else 0.0
        for i in range(first, last):
            r[i] = -sign(loss, y[i]) * alpha[i]
        for i in range(first, last):
            h[i] = curvature(loss, h[i], C[i], caution) if C[i] > 0.0 else 0.0
        first = last
    return change


@kernel
def row_terms(losses: RowLosses, f: Vector, alpha: Vector, begin: Index, end: Index) -> tuple[float, float]:
    """Sums of the losses and of the gap terms with the dual variables alpha."""
    loss, y, C = losses
    total, gap = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            m = missing(loss, y[i], f[i])
            total += primal_term(loss, m, C[i])
            gap += gap_term(loss, m, alpha[i], C[i])
    return total, gap
