"""LIBLINEAR's ``-e`` in terms of ``tol``, the largest violation of the optimality conditions.

=====  ===============================================  ==========================================
types  LIBLINEAR stops when                             tol, at which that holds
=====  ===============================================  ==========================================
1, 3   the largest violation is at most eps             eps
2      |f'(w)| <= eps m |f'(0)|, m = min(pos, neg)/l    eps m |sum_i C_i z_i| / sum_i C_i |z_i|
=====  ===============================================  ==========================================

For type 2: a violation of at most tol in every variable means |alpha_i - 2 C_i max(0, g_i)| <= 2 C_i tol, so that
|f'(w)| = |sum_i (alpha_i - 2 C_i max(0, g_i)) z_i| <= 2 tol sum_i C_i |z_i|, and f'(0) = -2 sum_i C_i z_i.
"""

from __future__ import annotations

import numpy as np

from ..kernels.passes import squared_length, weighted_lengths
from ..pace import Pace
from ..problem import Problem
from ..solvers.certificate import weights
from ..solvers.state import new_variables_of
from .settings import Settings

LEAST = 1e-12


def tol_of(problem: Problem, settings: Settings) -> float:
    """Return the ``tol`` that LIBLINEAR's ``-e`` stands for in ``problem``."""
    if settings.type != 2:
        return settings.eps
    n, positive = problem.data.n_rows, int(np.count_nonzero(problem.y > 0.0))
    share = max(min(positive, n - positive), 1) / n
    C = problem.C * np.ones(n)
    slope = weights(problem, new_variables_of(problem, C), Pace())
    return max(settings.eps * share * float(np.sqrt(squared_length(slope))) / (_scale(problem, C) or 1.0), LEAST)


def _scale(problem: Problem, C: np.ndarray) -> float:
    """Sum of C_i |z_i|."""
    return float(weighted_lengths(C, problem.data.q))
