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
    """Expand the losses at the scores f + tau u; returns the sum of their changes from ``before``.

    One exponential per row gives all that a step needs.
    """
    loss, y, C = losses
    values, alpha, r, h = expansion
    change = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        values[i], alpha[i], r[i], h[i] = 0.0, 0.0, 0.0, 0.0
        if C[i] > 0.0:
            m = missing(loss, y[i], f[i] + tau * u[i])
            values[i] = primal_term(loss, m, C[i])
            change += values[i] - before[i]
            alpha[i] = response(loss, m, C[i])
            r[i] = -sign(loss, y[i]) * alpha[i]
            h[i] = curvature(loss, m, C[i], caution)
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
