"""A smooth loss around the present scores f: value, slope and curvature of each row, values along a line, gap terms.

Curvatures are what the losses' verb ``curvature`` returns: with ``caution`` more than the second derivative, since
Newton steps may be much too long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import curvature, gap_term, missing, primal_term, response, sign


@kernel
def expand(
    loss: Any, y: Any, C: Any, f: Any, u: Any, tau: Any, caution: Any, before: Any,
    after: Any, alpha: Any, r: Any, h: Any, begin: Any, end: Any,
) -> Any:  # fmt: skip
    """Expand the losses at the scores f + tau u: one exponential per row gives all that a step asks for.

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
