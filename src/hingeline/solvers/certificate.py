"""The certificate: exact violation, primal, dual and duality gap of the model that is returned.

The stop that a sweep sees is approximate, since each variable was looked at with another w. So w is computed afresh
from alpha, and one pass at that fixed w gives, with the m_i of kernels/losses.py,

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
    """Return w = sum_i alpha_i s_i x_i; the last entry belongs to the intercept."""
    w = np.zeros((pace.n_parts, problem.data.n_features + 1))
    rows, alpha, s = problem.data.rows, variables.alpha, problem.signs
    pace.each(problem.data.n_rows, lambda part, begin, end: add_weights(rows, alpha, s, w[part], begin, end))
    return summed(w)


def certify(
    problem: Problem,
    variables: Variables,
    w: np.ndarray,
    pace: Pace,
    *,
    regularised: np.ndarray | None = None,
    apart: np.ndarray | None = None,
) -> Certificate:
    """Return the certificate of ``variables`` with their ``weights`` w, or with weights that are ``apart`` from those.

    Weights w = v + apart, where v belongs to the variables, add |apart|^2/2 to P - D; nothing else changes.
    ``regularised`` is what the regulariser sees of w, where that is not all of it.
    """
    rows, loss = problem.data.rows, problem.loss
    parts = pace.each(problem.data.n_rows, lambda part, begin, end: certify_rows(rows, loss, variables, w, begin, end))
    violations, losses, gaps = zip(*parts, strict=True)
    primal = 0.5 * squared_length(w if regularised is None else regularised) + fsum(losses)
    gap = fsum(gaps) + (0.0 if apart is None else 0.5 * squared_length(apart))
    return Certificate(max(violations), primal, primal - gap, 0.0 if primal == 0.0 else gap / primal)


def rounding_floor(problem: Problem, variables: Variables) -> float:
    """Return about what rounding makes of the violation 1 - <z, w> at the optimum: u (1 + max|z| sum alpha_i |z_i|)."""
    return UNIT_ROUNDOFF * (1.0 + sqrt(problem.data.largest_q) * weighted_lengths(variables.alpha, variables.q))
