"""A sweep over active variables with adaptive preferences: the kernel of the hybrid, in memory and out of core."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.losses import Loss, gap_estimate, missing, pull, sign, step
from ...kernels.rows import Rows, axpy, dot
from ...kernels.schedule import Learning, Preferences, learn
from ...kernels.shrink import Thresholds, is_shrunk
from ...kernels.types import Index, Indices, Vector
from ...kernels.variables import Variables

AT_P_MAX = 0.9  # fraction of p_max from which a preference counts as limited by it (rescaling moves it a little)
MOST_GAIN, LITTLE_GAIN = 0.5, 0.25  # fractions of a sweep's gain
LARGEST_P_MAX = 400.0  # p_max / p_min of the paper: AVSF's largest ratio of visits between two variables


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    steps: int = 0
    v_min: float = inf
    v_max: float = -inf
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0
    gain_at_p_max: float = 0.0  # the part of the gain that variables at p_max made

    @property
    def violation(self) -> float:
        """The largest projected gradient."""
        return max(self.v_max, -self.v_min, 0.0)


@kernel
def visit_active(
    rows: Rows,
    loss: Loss,
    variables: Variables,
    w: Vector,
    I: Indices,
    begin: Index,
    end: Index,
    thresholds: Thresholds,
    learning: Learning,
    once: bool,
    seen: Seen,
) -> tuple[int, float, float, float, float, float, float]:
    """Visit the variables I[begin:end]; a negative p_i marks a variable that leaves the active set.

    ``once`` says that the sweep visits every variable once, whatever its preference.
    """
    alpha, q, C, p, y = variables
    steps, v_min, v_max, D_ref, gain, gap, gain_at_p_max = seen
    for k in range(np.uint64(begin), np.uint64(end)):
        if k + RECORD_AHEAD < np.uint64(I.size):
            look_ahead(rows, alpha, y, w, I, k)
        i = np.uint64(I[k])  # so that all kernels that a fit needs share one ``dot``
        if p[i] < 0.0:
            continue
        steps += 1
        m = missing(loss, y[i], dot(rows, i, w))
        v, pressure = pull(loss, m, alpha[i], C[i])
        if is_shrunk(thresholds, pressure):
            p[i] = -p[i]
            continue
        v_min, v_max = min(v_min, v), max(v_max, v)
        term = gap_estimate(loss, m, alpha[i], C[i])
        gap += term if once else term / p[i]  # rarely visited variables count for more
        delta = 0.0
        if v != 0.0:
            stepped, delta = step(loss, m, alpha[i], q[i], C[i])
            mu = stepped - alpha[i]
            alpha[i] = stepped
            axpy(rows, i, mu * sign(loss, y[i]), w)
            gain += delta
            if p[i] > AT_P_MAX * learning.p_max:
                gain_at_p_max += delta
        p[i], D_ref = learn(learning, p[i], delta, D_ref)
    return steps, v_min, v_max, D_ref, gain, gap, gain_at_p_max  # a plain tuple: see kernels/compile.py


def with_adjusted_p_max(preferences: Preferences, least: float, seen: Seen) -> Preferences:
    """Return the preferences with p_max doubled if variables at p_max made most of the gain, halved if little of it.

    Preferences are scaled to mean one over A. A p_max of 20 is too small if a handful of variables depend on each other
    (rows that contradict each other, at large C); otherwise a larger one only adds noise. p_max never falls below
    ``least``.
    """
    p_max = preferences.p_max
    if seen.gain_at_p_max > MOST_GAIN * seen.gain:
        p_max = min(2.0 * p_max, LARGEST_P_MAX)
    elif seen.gain_at_p_max < LITTLE_GAIN * seen.gain:
        p_max = max(0.5 * p_max, least)
    return preferences._replace(p_max=p_max)
