"""Schedules: which variables a sweep visits, in which order. The only place that knows preferences.

Every function does a slice of its work, so that no compiled call lasts long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compile import kernel
from .exponentials import rough_exp
from .random import below, uniform
from .types import Generator, Index, Indices, Vector

LARGEST_EXPONENT = 30.0  # e^30 lifts any p above p_max; more could overflow


class Preferences(NamedTuple):
    """Constants of Algorithm 5, with the paper's values."""

    c: float = 1 / 5
    p_min: float = 1 / 20
    p_max: float = 20.0


class Learning(NamedTuple):
    """How a sweep learns from the gains of its steps.

    It is flat, since numba takes time to unpack each NamedTuple at a call.

    Attributes
    ----------
    c, p_min, p_max : float
        As in ``Preferences``.
    fading : float
        Weight of a step in the fading average D_ref of the gains: one over the number of variables visited.
    adapts : bool
        Whether preferences follow the gains.
    first_sweep : bool
        Whether this is the very first sweep, which only collects D_ref.
    """

    c: float
    p_min: float
    p_max: float
    fading: float
    adapts: bool
    first_sweep: bool


@kernel
def shuffle(order: Indices, n: Index, begin: Index, end: Index, rng: Generator) -> None:
    """Fisher-Yates over ``order[:n]``: positions begin to end get their final entry."""
    n = np.uint64(n)
    for s in range(np.uint64(begin), np.uint64(end)):
        r = s + below(rng, n - s)
        order[s], order[r] = order[r], order[s]


@kernel
def sum_preferences(p: Vector, kept: Indices, begin: Index, end: Index) -> float:
    """Sum of p over the variables ``kept[begin:end]``."""
    s = 0.0
    for k in range(np.uint64(begin), np.uint64(end)):
        s += p[kept[k]]
    return s


@kernel
def define_schedule(
    p: Vector, kept: Indices, I: Indices, begin: Index, end: Index, j: int, N: float, rng: Generator
) -> tuple[int, float]:
    """Algorithm 4 for the variables ``kept[begin:end]``: how often each one occurs in the schedule I.

    ``j`` entries of I are filled and ``N`` is the sum of the preferences not yet dealt with; both are returned
    for the next slice. The schedule has as many entries as there are variables: N may have drifted by
    rounding, so n is clamped to what is left, and the last variable takes the rest.
    """
    l = kept.size
    for k in range(np.uint64(begin), np.uint64(end)):
        i = kept[k]
        m = p[i] * (l - j) / N if N > 0.0 else 0.0
        n = int(m)
        if uniform(rng) < m - n:
            n += 1
        n = l - j if k == l - 1 else min(n, l - j)
        for _ in range(n):
            I[j] = i
            j += 1
        N -= p[i]
    return j, N


@kernel
def accumulate(
    p: Vector, A: Indices, accounts: Vector, I: Indices, begin: Index, end: Index, scale: float, n: int
) -> int:
    """Schedule by accounts: variable i of A[begin:end] is due floor(accounts_i + scale p_i) times; the rest is kept.

    ``scale`` makes the mean of p one, in place. ``n`` entries of I are filled so far, and visits that it cannot hold
    wait for the next sweep. Returns the new n.
    """
    for k in range(np.uint64(begin), np.uint64(end)):
        i = A[k]
        p[i] *= scale
        accounts[i] += p[i]
        while accounts[i] >= 1.0 and n < I.size:
            accounts[i] -= 1.0
            I[n] = i
            n += 1
    return n


@kernel
def keep_active(p: Vector, A: Indices, n: Index) -> int:
    """Move the variables of A[:n] that are still active (p_i > 0) to its front, in order; returns their number."""
    kept = 0
    for k in range(np.uint64(n)):
        if p[A[k]] > 0.0:
            A[kept] = A[k]
            kept += 1
    return kept


@kernel
def adapted(preferences: Preferences | Learning, p: float, gain: float, D_ref: float) -> float:
    """Algorithm 5: the new preference of a variable whose step gained ``gain`` while the average is ``D_ref``."""
    if D_ref <= 0.0:
        return p
    h = preferences.c * (gain / D_ref - 1.0)
    return min(max(rough_exp(min(h, LARGEST_EXPONENT)) * p, preferences.p_min), preferences.p_max)


@kernel
def learn(learning: Learning, p: float, gain: float, D_ref: float) -> tuple[float, float]:
    """Return the new preference of a variable whose step gained ``gain``, and the new fading average."""
    if learning.first_sweep:
        return p, D_ref + learning.fading * gain
    if learning.adapts:
        p = adapted(learning, p, gain, D_ref)
    return p, (1.0 - learning.fading) * D_ref + learning.fading * gain
