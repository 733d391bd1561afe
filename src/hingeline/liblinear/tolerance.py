"""LIBLINEAR's ``-e`` in terms of ``tol``, the largest violation of the optimality conditions.

==============  ============================================  =========================================================
types           LIBLINEAR stops when                          tol, at which that holds
==============  ============================================  =========================================================
1, 3, 4, 21     the largest violation is at most eps          eps
7               that of log(alpha/(C - alpha)) is at most     eps/4, which follows from it for alpha/C (see below)
                eps
0, 2            |f'(w)| <= eps |f'(0)| min(pos, neg)/l        eps min(pos, neg)/l |f'(0)| / sum_i k_i |x_i|
11              |f'(w)| <= eps |f'(0)|                        eps |f'(0)| / sum_i k_i |x_i|
12, 13          the violations' sum is at most eps times      eps times the mean there
                what it is at alpha = 0
5, 6            the violations' sum over the columns is at    eps min(pos, neg)/l times the mean there
                most eps min(pos, neg)/l times what it is
                at w = 0
==============  ============================================  =========================================================

For the primal types: the response r_i of the loss to a margin is its derivative, f'(w) = w - sum_i r_i s_i x_i, and
w = sum_i alpha_i s_i x_i. A violation of at most tol means |alpha_i - r_i| <= k_i tol, with k_i = 2 C_i for the squared
losses and C_i for the logistic one; so |f'(w)| <= tol sum_i k_i |x_i| for every solution.

For type 7: if a logit is off by eps, the probability alpha/C is off by eps/4 at most, since the sigmoid is never
steeper than 1/4. The reverse does not hold: near 0 and C, logits may differ by more than eps while
probabilities agree. So here the rule that ends training is implied by LIBLINEAR's, and does not imply it; what such
variables add to the gap is smaller still.
"""

from __future__ import annotations

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import respond_rows, squared_length, weighted_lengths
from ..runtime.pace import Pace
from ..solution import Snapshot, Solution
from ..solvers.certificate import weights
from .settings import Settings

SMALLEST = 1e-12  # tolerance: zero would never be met
NO_STEP = 1e-8  # length of a gradient at which LIBLINEAR's conjugate gradients take no step, whatever the scale


def tol_of(problem: Problem, settings: Settings, included: np.ndarray | None = None) -> float:
    """Return the ``tol`` that LIBLINEAR's ``-e`` stands for in ``problem``, of which all rows count or some."""
    eps, solver_type = settings.eps, settings.solver_type
    y = problem.y if included is None else problem.y[included]
    if solver_type.dual and solver_type.loss == "logistic":
        return eps / 4.0
    if solver_type.dual and solver_type.is_regression:
        at_zero = np.maximum(np.abs(y) - settings.p, 0.0)
        return max(eps * float(at_zero.mean()), SMALLEST)
    if solver_type.dual:
        return eps
    share, slope = _share(y, settings), _pull(problem, np.zeros(problem.data.n_features + 1))
    if solver_type.penalty == "l1":
        return max(eps * share * float(np.maximum(np.abs(slope) - 1.0, 0.0).mean()), SMALLEST)
    return max(eps * share * float(np.sqrt(squared_length(slope))) / _scale(problem), SMALLEST)


class PrimalRule:
    """LIBLINEAR's own rule for the types 0, 2 and 11: |f'(w)| <= eps |f'(0)| min(pos, neg)/l, or almost zero.

    A model usually meets it long before its violation is below ``tol_of``, which guarantees it. Checking it takes a
    pass over the rows.
    """

    def __init__(self, problem: Problem, settings: Settings, included: np.ndarray | None) -> None:
        y = problem.y if included is None else problem.y[included]
        self._problem, self._settings = problem, settings
        at_zero = squared_length(_pull(problem, np.zeros(problem.data.n_features + 1)))
        self._most = settings.eps * _share(y, settings) * float(np.sqrt(at_zero))
        self.tol = max(self._most / _scale(problem), SMALLEST)  # as tol_of has it

    @staticmethod
    def applies_to(settings: Settings) -> bool:
        """Whether LIBLINEAR ends by this rule, and nothing else was asked for."""
        return not settings.solver_type.dual and settings.solver_type.penalty == "l2" and settings.gap is None

    def holds(self, at: Solution | Snapshot) -> bool:
        """Tell whether a model meets the rule."""
        bias = self._settings.bias
        w = np.append(at.w, at.intercept / bias if bias > 0.0 else 0.0)
        gradient = w - _pull(self._problem, w)
        if self._settings.free_bias:
            gradient[-1] -= w[-1]
        return float(np.sqrt(squared_length(gradient))) <= max(self._most, NO_STEP)


def _share(y: np.ndarray, settings: Settings) -> float:
    """Return min(pos, neg)/l; 1 for a regression."""
    if not settings.solver_type.is_classifier:
        return 1.0
    positive = int(np.count_nonzero(y > 0.0))
    return max(min(positive, y.size - positive), 1) / y.size


def _pull(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return sum_i r_i s_i x_i, with r_i the response to the score of row i: f'(w) is w less that."""
    response = np.empty(problem.data.n_rows)
    fixed = (problem.data.rows, problem.loss, problem.y, problem.C_values, w, response)
    for begin, end in Pace().slices(response.size):
        respond_rows(*fixed, begin, end)
    return weights(problem, response)


def _scale(problem: Problem) -> float:
    """Return sum_i k_i |x_i|."""
    k = problem.C * np.full(problem.data.n_rows, problem.loss.curvature_scale)
    return weighted_lengths(k, problem.data.q) or 1.0
