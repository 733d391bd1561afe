"""The certificate: exact violation, primal, dual and duality gap of the model that is returned.

The violation that a sweep sees is approximate, since each variable was visited with another w. So w is computed afresh
from alpha (unless it is known to be as good as that), and one pass at that fixed w gives, with the m_i of
kernels/losses/verbs.py,

    P - D = sum_i gap_term(m_i, alpha_i),     P = |w|^2/2 + sum_i loss(m_i),     D = P - (P - D).

Every gap term is >= 0, so nothing cancels, and the dual never exceeds the primal.
"""

from __future__ import annotations

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import squared_length
from ..kernels.types import Vector
from ..solution import Certificate
from .shards import Shards, shards_of
from .shards.out_of_core import BlockShards
from .state import State

UNIT_ROUNDOFF = 2.0**-53
NEAR = 1e-24  # relative squared distance that rounding explains
FEW_STEPS, NEGLIGIBLE = 10_000_000, 1e-9  # so many steps from w = 0 may add this share to the gap by rounding


def refresh(state: State, n_steps: int) -> Certificate:
    """Return the exact certificate of what ``state`` holds, after ``n_steps``; makes w that of its variables.

    A w that is an engine's own stays. If its variables certify nothing (a gap above 1), they are set to zero: then the
    dual is not negative. If the intercept is free, the variables are balanced first.
    """
    state.refresh_alpha()
    shards = state.shards
    if state.is_free:
        shards.balance()
    keeps_in_step = bool(state.engines) and state.engines[-1].stepwise
    if isinstance(shards, BlockShards) or (shards.is_remote and keeps_in_step):
        return _refresh_in_one_pass(state, shards)
    if state.is_primal:
        u = state.regularised()
        parts, v = shards.certify_with_weights(state.w)
        own = parts.certificate(0.5 * squared_length(u), 0.5 * squared_length(u - v))
        if own.gap <= 1.0:
            return own
        shards.reset_alpha()
        return certify(shards, state.w, regularised=u, apart=u)
    n_steps += 2 * state.problem.n_variables  # a sweep that is cut short has not been counted
    if state.is_in_step and n_steps <= FEW_STEPS:
        own = certify(shards, state.w)
        if NEGLIGIBLE * own.gap >= drift(n_steps):
            return own
    if state.anchor == 0.0 and not state.is_free:
        shards.weights(out=state.w)  # in place: w may be as large as the data
        return certify(shards, state.w)
    state.follow(shards.weights())
    return certify(shards, state.w, regularised=state.regularised())


def _refresh_in_one_pass(state: State, shards: Shards) -> Certificate:
    """Return the certificate at the weights of ``state``; makes w what its variables give, unless it is near to that.

    One pass over the rows does both: v = Z' alpha is summed up on the way, and w = v + apart adds |apart|^2/2 to
    P - D. A w that was updated step by step differs from v by rounding alone.
    """
    for _ in range(2):
        parts, v = shards.certify_with_weights(state.w)
        distance = squared_length(state.regularised() - v)
        if state.is_primal or distance <= NEAR * squared_length(state.w):
            break
        state.follow(v)
    return parts.certificate(0.5 * squared_length(state.regularised()), 0.5 * distance)


def weights(problem: Problem, alpha: Vector) -> Vector:
    """Return w = sum_i alpha_i s_i x_i, on one thread; the last entry belongs to the intercept."""
    return shards_of(problem, alpha).weights()


def certify(
    shards: Shards, w: Vector, *, regularised: Vector | None = None, apart: Vector | None = None
) -> Certificate:
    """Return the certificate of the shards' alpha with its ``weights`` w, or with weights that are ``apart`` from them.

    Weights w = v + apart, with v those of alpha, add |apart|^2/2 to P - D; nothing else changes. ``regularised`` is the
    part of w that the regulariser sees, if that is not all of it.
    """
    return shards.certify(w).certificate(
        0.5 * squared_length(w if regularised is None else regularised),
        0.0 if apart is None else 0.5 * squared_length(apart),
    )


def certify_free(problem: Problem, w: Vector, intercept: float, alpha: Vector) -> Certificate:
    """Return the certificate of a model whose intercept is not regularised, with balanced dual variables."""
    shards, u = shards_of(problem, alpha), np.append(w, 0.0)
    whole = np.append(w, intercept / problem.data.rows.bias)
    return certify(shards, whole, regularised=u, apart=u - shards.weights())


def drift(n_steps: int) -> float:
    """Return a bound of what rounding adds to the gap if w has come from 0 in ``n_steps`` and is not computed afresh.

    Dual ascent from 0 keeps |w - w*|^2 <= 2 P, and |w*|^2 <= 2 P holds too, so a step rounds w by less than
    16 u sqrt(P) in all; weights that are ``apart`` from those of the variables add |apart|^2/2 to P - D.
    """
    apart = 16.0 * UNIT_ROUNDOFF * n_steps  # over sqrt(P)
    return 0.5 * apart * apart


def rounding_floor(state: State) -> float:
    """Return about what rounding makes of the violation 1 - <z, w> at the optimum: u (1 + max|z| sum alpha_i |z_i|)."""
    state.refresh_alpha()
    return UNIT_ROUNDOFF * (1.0 + state.shards.longest * state.shards.alpha_lengths())
