"""A smooth loss around the present scores f: value, slope and curvature of each row, values along a line, gap terms.

``curvature(loss, m, C, caution)`` is the second derivative of a loss in its score where caution is 0, and that of a
parabola that touches the loss at m and lies above it everywhere where caution is 1 (Jaakkola and Jordan's for the
logistic loss). A step that minimises the latter always descends, a Newton step is longer, and what lies between them is
between.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import by_type, kernel
from .logistic import sigmoid
from .losses import (
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    gap_term,
    missing,
    primal_term,
    response,
    sign,
)


def squared_hinge_curvature(loss: SquaredHinge, m: float, C: float, caution: float) -> float:
    return 2.0 * C if m * (1.0 - caution) + caution > 0.0 else 0.0


def logistic_curvature(loss: Logistic, m: float, C: float, caution: float) -> float:
    s = sigmoid(abs(m))
    above = (s - 0.5) / abs(m) if abs(m) > 1e-3 else 0.25
    return C * (s * (1.0 - s)) ** (1.0 - caution) * above**caution


def squared_insensitive_curvature(loss: SquaredEpsilonInsensitive, m: float, C: float, caution: float) -> float:
    return 2.0 * C if (abs(m) - loss.epsilon) * (1.0 - caution) + caution > 0.0 else 0.0


curvature = by_type(
    {
        SquaredHinge: squared_hinge_curvature,
        Logistic: logistic_curvature,
        SquaredEpsilonInsensitive: squared_insensitive_curvature,
    }
)


@kernel
def expand(loss: Any, y: Any, C: Any, f: Any, alpha: Any, r: Any, root: Any, caution: Any, begin: Any, end: Any) -> Any:
    """alpha_i that the scores call for, slopes r_i = -s_i alpha_i, roots of the curvatures; returns the losses' sum."""
    losses = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        alpha[i], r[i], root[i] = 0.0, 0.0, 0.0
        if C[i] > 0.0:
            m = missing(loss, y[i], f[i])
            losses += primal_term(loss, m, C[i])
            alpha[i] = response(loss, m, C[i])
            r[i] = -sign(loss, y[i]) * alpha[i]
            root[i] = np.sqrt(curvature(loss, m, C[i], caution))
    return losses


@kernel
def losses_along(loss: Any, y: Any, C: Any, f: Any, u: Any, tau: Any, begin: Any, end: Any) -> Any:
    """Sum of the losses' changes from f to f + tau u."""
    s = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0 and u[i] != 0.0:
            s += primal_term(loss, missing(loss, y[i], f[i] + tau * u[i]), C[i])
            s -= primal_term(loss, missing(loss, y[i], f[i]), C[i])
    return s


@kernel
def row_terms(loss: Any, y: Any, C: Any, f: Any, alpha: Any, t: Any, begin: Any, end: Any) -> Any:
    """Sums of the losses and of the gap terms with the dual variables t alpha."""
    losses, gap = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            m = missing(loss, y[i], f[i])
            losses += primal_term(loss, m, C[i])
            gap += gap_term(loss, m, t * alpha[i], C[i])
    return losses, gap
