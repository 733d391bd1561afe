"""Where to start from when only weights are known."""

from __future__ import annotations

import numpy as np

from ..kernels.losses import SquaredHinge
from ..kernels.passes import scores
from ..pace import Pace
from ..problem import Problem
from .certificate import weights
from .state import new_variables_of


def from_weights(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return dual variables that fit the weights ``w`` (the intercept's last) of a model of similar data.

    The optimality conditions at w propose alpha_i = 2 C_i max(0, m_i) for the squared hinge and, for the hinge, C_i
    where m_i > 0 (m_i = 1 - y_i <x_i, w>). Their multiple t alpha, t <= 1, of largest dual value is never worse
    than alpha = 0: D(t alpha) = t sum alpha_i - t^2 (|Z' alpha|^2 + sum diagonal_i alpha_i^2)/2.
    """
    n = problem.data.n_rows
    m = np.empty(n)
    for begin, end in Pace().slices(n):
        scores(problem.data.rows, w, m, begin, end)
    m = 1.0 - problem.y * m
    squared = isinstance(problem.loss, SquaredHinge)
    alpha = 2.0 * problem.C * np.maximum(m, 0.0) if squared else problem.C * (m > 0.0)
    v = weights(problem, new_variables_of(problem, alpha), Pace())
    curvature = float(np.sum(v * v))
    if squared:
        curvature += float(np.sum(alpha * np.maximum(m, 0.0)))  # alpha_i^2 / (2 C_i)
    t = float(alpha.sum()) / curvature if curvature > 0.0 else 1.0
    return np.asarray(min(1.0, t) * alpha)
