"""The certificate: exact violation, primal, dual and duality gap of the model that is returned.

The stop that a sweep sees is approximate, since each variable was looked at with another w. So w is computed afresh
from alpha, and one pass at that fixed w gives, with m_i = 1 - <z_i, w>,

    P - D = sum_i gap_term(m_i, alpha_i),     P = |w|^2/2 + sum_i loss(m_i),     D = P - (P - D).

Every gap term is >= 0, so nothing cancels, and the dual never exceeds the primal.
"""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np

from ..kernels.passes import add_weights, certify_rows, squared_length, weighted_lengths
from ..kernels.variables import Variables
from ..pace import Pace
from ..problem import Problem
from ..solution import Certificate
from ..threads import summed

UNIT_ROUNDOFF = 2.0**-53


def weights(problem: Problem, variables: Variables, pace: Pace) -> np.ndarray:
    """Return w = sum_i alpha_i y_i x_i; the last entry belongs to the intercept."""
    w = np.zeros((pace.n_parts, problem.data.n_features + 1))
    rows, alpha, y = problem.data.rows, variables.alpha, variables.y
    pace.each(problem.data.n_rows, lambda part, begin, end: add_weights(rows, alpha, y, w[part], begin, end))
    return summed(w)


def certify(problem: Problem, variables: Variables, w: np.ndarray, pace: Pace) -> Certificate:
    """Return the certificate of ``variables`` with their ``weights`` w."""
    rows, loss = problem.data.rows, problem.loss
    parts = pace.each(problem.data.n_rows, lambda part, begin, end: certify_rows(rows, loss, variables, w, begin, end))
    violations, losses, gaps = zip(*parts, strict=True)
    primal = 0.5 * squared_length(w) + fsum(losses)
    gap = fsum(gaps)
    return Certificate(max(violations), primal, primal - gap, 0.0 if primal == 0.0 else gap / primal)


def rounding_floor(problem: Problem, variables: Variables) -> float:
    """Return about what rounding makes of the violation 1 - <z, w> at the optimum: u (1 + max|z| sum alpha_i |z_i|)."""
    return UNIT_ROUNDOFF * (1.0 + sqrt(problem.data.largest_q) * weighted_lengths(variables.alpha, variables.q))
