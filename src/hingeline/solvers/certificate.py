"""The certificate: exact violation, primal, dual and duality gap of the model that is returned.

The violation that a sweep sees is approximate, since each variable was visited with a different w. So w is recomputed
from alpha (unless it is known to be just as accurate), and one pass at that fixed w gives, with the m_i of
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
FEW_STEPS, NEGLIGIBLE = 10_000_000, 1e-9  # rounding in this many steps from w = 0 may add this relative gap


def refresh(state: State, n_steps: int) -> Certificate:
    """Return the exact certificate of ``state`` after ``n_steps``; sets w to the weights of the dual variables.

    A w that an engine computed by itself is kept. If the dual variables certify nothing (a gap above 1), they are set
    to zero, so that the dual is not negative. If the intercept is free, the variables are balanced first.
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
    n_steps += 2 * state.problem.n_variables  # a sweep that was cut short has not been counted
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
    """Return the certificate at the weights of ``state``; sets w to the weights of alpha unless it is close to them.

    One pass over the rows does both: v = Z' alpha is summed up on the way, and w = v + apart adds |apart|^2/2 to
    P - D. A w that was updated step by step differs from v only by rounding.
    """
    for _ in range(2):
        parts, v = shards.certify_with_weights(state.w)
        distance = squared_length(state.regularised() - v)
        if state.is_primal or distance <= NEAR * squared_length(state.w):
            break
        state.follow(v)
    return parts.certificate(0.5 * squared_length(state.regularised()), 0.5 * distance)


def weights(problem: Problem, alpha: Vector) -> Vector:
    """Return w = sum_i alpha_i s_i x_i, computed on one thread; the last entry belongs to the intercept."""
    return shards_of(problem, alpha).weights()


def certify(
    shards: Shards, w: Vector, *, regularised: Vector | None = None, apart: Vector | None = None
) -> Certificate:
    """Return the certificate of the shards' alpha with its ``weights`` w, or with weights that are ``apart`` from them.

    Weights w = v + apart, with v the weights of alpha, add |apart|^2/2 to P - D; nothing else changes. ``regularised``
    is the part of w that is regularised, if that is not all of it.
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
    """Return a bound on what rounding adds to the gap if w was updated from 0 in ``n_steps`` and is not recomputed.

    Dual ascent from 0 keeps |w - w*|^2 <= 2 P, and |w*|^2 <= 2 P holds too, so one step rounds w by less than
    16 u sqrt(P). Weights that are ``apart`` from those of the variables add |apart|^2/2 to P - D.
    """
    apart = 16.0 * UNIT_ROUNDOFF * n_steps  # divided by sqrt(P)
    return 0.5 * apart * apart


def rounding_floor(state: State) -> float:
    """Estimate the rounding error in the violation 1 - <z, w> at the optimum: u (1 + max|z| sum alpha_i |z_i|)."""
    state.refresh_alpha()
    return UNIT_ROUNDOFF * (1.0 + state.shards.longest * state.shards.alpha_lengths())
