"""The certificate: exact violation, primal, dual and duality gap of the model that is returned.

The violation that a sweep sees is approximate, since each variable was visited with another w. So w is computed afresh
from alpha (unless it is known to be as good as that), and one pass at that fixed w gives, with the m_i of
kernels/losses/verbs.py,

    P - D = sum_i gap_term(m_i, alpha_i),     P = |w|^2/2 + sum_i loss(m_i),     D = P - (P - D).

Every gap term is >= 0, so nothing cancels, and the dual never exceeds the primal.
"""

from __future__ import annotations

from itertools import chain
from math import sqrt

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import add_weights, certify_rows, squared_length, weighted_lengths
from ..kernels.variables import Variables
from ..runtime.pace import Pace
from ..solution import Certificate
from .certificate_parts import sum_parts
from .state import State

UNIT_ROUNDOFF = 2.0**-53
NEAR = 1e-24  # relative squared distance that rounding explains
FEW_STEPS, NEGLIGIBLE = 10_000_000, 1e-9  # so many steps from w = 0 may add this share to the gap by rounding


def refresh(state: State, n_steps: int, pace: Pace) -> Certificate:
    """Return the exact certificate of what ``state`` holds, after ``n_steps``; makes w that of its variables.

    A w that is an engine's own stays. If its variables certify nothing (a gap above 1), they are set to zero: then the
    dual is not negative.
    """
    problem, variables = state.problem, state.variables
    if problem.data.blocks is not None:
        return certify_by_blocks(state, pace)
    if state.is_primal:
        u = state.from_anchor(state.w)
        apart = u - weights(problem, variables, pace)
        own = certify(problem, variables, state.w, pace, regularised=u, apart=apart)
        if own.gap <= 1.0:
            return own
        variables.alpha[problem.variables_in_order()] = 0.0
        return certify(problem, variables, state.w, pace, regularised=u, apart=u)
    n_steps += 2 * problem.n_variables  # a sweep that is cut short has not been counted
    if state.is_in_step and n_steps <= FEW_STEPS:
        own = certify(problem, variables, state.w, pace)
        if NEGLIGIBLE * own.gap >= drift(n_steps):
            return own
    weights(problem, variables, pace, out=state.w)  # in place: w may be as large as the data
    if state.anchor == 0.0:
        return certify(problem, variables, state.w, pace)
    v = state.w.copy()
    state.w[-1] += state.anchor
    return certify(problem, variables, state.w, pace, regularised=v)


def weights(problem: Problem, variables: Variables, pace: Pace, out: np.ndarray | None = None) -> np.ndarray:
    """Return w = sum_i alpha_i s_i x_i, in ``out`` if given; the last entry belongs to the intercept."""
    w = np.empty(problem.data.n_features + 1) if out is None else out
    w.fill(0.0)
    parts = [w, *(np.zeros_like(w) for _ in range(1, pace.n_parts))]
    rows, alpha, s = problem.data.rows, variables.alpha, problem.signs
    pace.each(problem.data.n_rows, lambda part, begin, end: add_weights(rows, alpha, s, parts[part], begin, end))
    for part in parts[1:]:
        w += part
    return w


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

    Weights w = v + apart, with v those of the variables, add |apart|^2/2 to P - D; nothing else changes.
    ``regularised`` is the part of w that the regulariser sees, if that is not all of it.
    """
    rows, loss = problem.data.rows, problem.loss
    parts = pace.each(problem.data.n_rows, lambda part, begin, end: certify_rows(rows, loss, variables, w, begin, end))
    return sum_parts(parts).certificate(
        0.5 * squared_length(w if regularised is None else regularised),
        0.0 if apart is None else 0.5 * squared_length(apart),
    )


def certify_by_blocks(state: State, pace: Pace) -> Certificate:
    """Return the certificate at the weights of ``state``; makes w what its variables give, unless it is near to that.

    One pass over the files does both: v = sum_i alpha_i s_i x_i is summed up on the way, and w = v + apart adds
    |apart|^2/2 to P - D. A w that was updated step by step differs from v by rounding alone.
    """
    problem, variables, w = state.problem, state.variables, state.w
    assert problem.data.blocks is not None
    for _ in range(2):
        apart = np.zeros_like(w)
        parts = list[tuple[float, float, float]]()
        with problem.data.blocks.read() as stream:
            for block in chain.from_iterable(stream):
                inside = slice(block.begin, block.end)
                own = Variables(*(field[inside] for field in variables))
                for begin, end in pace.slices(block.n_rows):
                    parts.append(certify_rows(block.rows, problem.loss, own, w, begin, end))
                    add_weights(block.rows, own.alpha, problem.signs[inside], apart, begin, end)
        apart -= w
        apart[-1] += state.anchor
        distance = squared_length(apart)
        if state.is_primal or distance <= NEAR * squared_length(w):
            break
        w += apart
    of_anchor = w[-1] ** 2 - (w[-1] - state.anchor) ** 2
    return sum_parts(parts).certificate(0.5 * (squared_length(w) - of_anchor), 0.5 * distance)


def drift(n_steps: int) -> float:
    """Return a bound of what rounding adds to the gap if w has come from 0 in ``n_steps`` and is not computed afresh.

    Dual ascent from 0 keeps |w - w*|^2 <= 2 P, and |w*|^2 <= 2 P holds too, so a step rounds w by less than
    16 u sqrt(P) in all; weights that are ``apart`` from those of the variables add |apart|^2/2 to P - D.
    """
    apart = 16.0 * UNIT_ROUNDOFF * n_steps  # over sqrt(P)
    return 0.5 * apart * apart


def rounding_floor(problem: Problem, variables: Variables) -> float:
    """Return about what rounding makes of the violation 1 - <z, w> at the optimum: u (1 + max|z| sum alpha_i |z_i|)."""
    return UNIT_ROUNDOFF * (1.0 + sqrt(problem.data.largest_q) * weighted_lengths(variables.alpha, variables.q))
