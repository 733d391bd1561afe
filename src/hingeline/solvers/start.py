"""Where to start from when only weights are known."""

from __future__ import annotations

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import respond_rows, sum_dual_terms
from ..runtime.pace import Pace
from .certificate import weights

SHARES = np.linspace(0.0, 1.0, 11)  # multiples of the proposed dual variables to try first; then closer to the best
REFINED = 3


def from_weights(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return dual variables that match the weights ``w`` (the intercept's last) of a model of similar data.

    The optimality conditions at w give the loss's response to each margin: alpha_i = 2 C_i max(0, m_i) for the squared
    hinge, C_i if m_i > 0 for the hinge. Of the multiples t alpha, 0 <= t <= 1, the one with the largest dual value is
    returned; it is never worse than alpha = 0.
    """
    loss, y, C, alpha = problem.loss, problem.y, problem.C_values, np.empty(problem.data.n_rows)
    for begin, end in Pace().slices(alpha.size):
        respond_rows(problem.data.rows, loss, y, C, w, alpha, begin, end)
    v = weights(problem, alpha)
    length = float(np.sum(v * v))

    def dual(t: float) -> float:
        terms = (sum_dual_terms(loss, y, C, alpha, t, begin, end) for begin, end in Pace().slices(alpha.size))
        return sum(terms) - 0.5 * t * t * length

    low, high, best = 0.0, 1.0, 0.0
    for _ in range(1 + REFINED):  # the dual is concave in t
        shares = low + (high - low) * SHARES
        k = int(np.argmax([dual(float(t)) for t in shares]))
        best, low, high = float(shares[k]), float(shares[max(k - 1, 0)]), float(shares[min(k + 1, shares.size - 1)])
    return best * alpha
