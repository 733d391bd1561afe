"""A smooth loss around the present scores f: value, slope and curvature of each row, values along a line, gap terms.

``curvature(loss, m, C, caution)`` is the second derivative of a loss in its score, or more, since Newton steps may be
much too long. The logistic loss is nearly straight far from zero: with ``caution`` 1 it has the curvature of the
parabola that touches it at m and lies above it everywhere (Jaakkola and Jordan's), whose minimum is always a descent,
and with less something between the two, as long as no row that is far on the wrong side asks for a step longer than
``LONGEST``. Squared losses are flat on one side of a bend, and a step may cross it: rows up to ``caution`` away from it
have the curvature of the parabola that touches the loss at m and meets it ``caution`` further on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import by_type, kernel
from ...kernels.logistic import sigmoid
from ...kernels.losses import (
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    gap_term,
    missing,
    primal_term,
    response,
    sign,
)

LEAST = 1e-300  # curvature
LONGEST = 32.0  # step in its score that a row may ask for, as long as there is caution


@kernel
def near_share(distance: Any, caution: Any) -> Any:
    """Curvature of the parabola that touches a flat loss there and meets its square ``caution`` further on."""
    return (1.0 - distance / caution) ** 2 if distance < caution else 0.0


def squared_hinge_curvature(loss: SquaredHinge, m: float, C: float, caution: float) -> float:
    return 2.0 * C if m > 0.0 else 2.0 * C * near_share(-m, caution)


def logistic_curvature(loss: Logistic, m: float, C: float, caution: float) -> float:
    s = sigmoid(abs(m))
    newton = s * (1.0 - s)
    if caution == 0.0:
        return C * newton
    above = (s - 0.5) / abs(m) if abs(m) > 1e-3 else 0.25
    newton = max(newton, LEAST)
    return C * max(newton * (above / newton) ** caution, sigmoid(m) / LONGEST)


def squared_insensitive_curvature(loss: SquaredEpsilonInsensitive, m: float, C: float, caution: float) -> float:
    return 2.0 * C if abs(m) > loss.epsilon else 2.0 * C * near_share(loss.epsilon - abs(m), caution)


curvature = by_type(
    {
        SquaredHinge: squared_hinge_curvature,
        Logistic: logistic_curvature,
        SquaredEpsilonInsensitive: squared_insensitive_curvature,
    }
)


@kernel
def expand(
    loss: Any, y: Any, C: Any, f: Any, u: Any, tau: Any, caution: Any, before: Any,
    after: Any, alpha: Any, r: Any, h: Any, begin: Any, end: Any,
) -> Any:  # fmt: skip
    """Expand the losses at the scores f + tau u: one exponential a row gives all that a step asks for.

    That is the losses themselves (``after``), the alpha_i that the scores call for, slopes r_i = -s_i alpha_i, and the
    curvatures h_i. Returns the sum of the losses' changes from ``before``.
    """
    change = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        after[i], alpha[i], r[i], h[i] = 0.0, 0.0, 0.0, 0.0
        if C[i] > 0.0:
            m = missing(loss, y[i], f[i] + tau * u[i])
            after[i] = primal_term(loss, m, C[i])
            change += after[i] - before[i]
            alpha[i] = response(loss, m, C[i])
            r[i] = -sign(loss, y[i]) * alpha[i]
            h[i] = curvature(loss, m, C[i], caution)
    return change


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
