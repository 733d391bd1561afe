"""Algorithms 3, 4 and 5 of the paper: dual coordinate ascent with adaptive variable selection frequencies.

Problem    min_w   |w|^2/2 + sum_i C_i max(0, 1 - y_i <x_i, w>)
Dual       max_a   W(a) = sum_i a_i - |w|^2/2,   w = sum_i a_i y_i x_i,   0 <= a_i <= C_i

The step is Algorithm 2's. What differs is which variable takes it: variable i is visited with frequency p_i / sum_j
p_j, and its preference p_i grows if its step gained more than the fading average D_ref and shrinks if it gained less.
Variables at their bounds gain nothing, so they are soon visited p_max/p_min = 400 times less often than the best; none
is ever dropped, and no shrinking is needed.

Differences from the printed algorithms: the exponent is Algorithm 5's (relative to D_ref) and bounded, the very first
sweep only collects D_ref, and p stays as it is while D_ref <= 0. The squared hinge adds 1/(2 C_i) to the diagonal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.losses import Loss, gap_estimate, missing, pull, sign, step
from ...kernels.rows import Rows, axpy, dot
from ...kernels.schedule import Learning, Preferences, define_schedule, learn
from ...kernels.types import Index, Indices, Vector
from ...kernels.variables import Variables
from ..driver import Run, Verdict
from ..state import State
from ..visit_order import shuffle_first, total_preference


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0


@kernel
def visit(
    rows: Rows,
    loss: Loss,
    variables: Variables,
    w: Vector,
    I: Indices,
    begin: Index,
    end: Index,
    mean_p: float,
    learning: Learning,
    seen: Seen,
) -> tuple[float, float, float, float]:
    """Visit the variables I[begin:end] and update their preferences."""
    alpha, q, C, p, y = variables
    v, D_ref, gain, gap = seen
    for k in range(np.uint64(begin), np.uint64(end)):
        if k + RECORD_AHEAD < np.uint64(I.size):
            look_ahead(rows, alpha, y, w, I, k)
        i = I[k]
        m = missing(loss, y[i], dot(rows, i, w))
        v = max(v, abs(pull(loss, m, alpha[i], C[i])[0]))
        gap += gap_estimate(loss, m, alpha[i], C[i]) * mean_p / p[i]  # rarely visited variables count for more
        stepped, delta = step(loss, m, alpha[i], q[i], C[i])
        mu = stepped - alpha[i]
        if mu != 0.0:
            alpha[i] = stepped
            axpy(rows, i, mu * sign(loss, y[i]), w)
        gain += delta
        p[i], D_ref = learn(learning, p[i], delta, D_ref)
    return v, D_ref, gain, gap  # a plain tuple: see kernels/compile.py


def avsf(state: State, run: Run, preferences: Preferences = Preferences()) -> None:
    """Run Algorithm 3 on ``state`` until it has converged or ``run`` ends it."""
    problem, p = state.problem, state.variables.p
    rows, loss, l = problem.data.rows, problem.loss, problem.n_variables
    kept = problem.variables_in_order()
    I = np.empty_like(kept)
    p[:] = 1.0
    seen = Seen()
    can_stop = True
    for sweep in run.sweeps():
        mean_p = schedule(state, run, kept, I)
        learning = Learning(*preferences, 1.0 / l, True, sweep == 0)
        seen = Seen(D_ref=seen.D_ref)
        for begin, end in run.visits.slices(l):
            seen = Seen(*visit(rows, loss, state.variables, state.w, I, begin, end, mean_p, learning, seen))
        verdict = run.sweep(l, seen.v, seen.gain, seen.gap, criterion=seen.v, complete=True)
        if verdict is Verdict.SATISFIED:
            if can_stop:
                break
            p[:] = 1.0
            can_stop = True
        else:
            can_stop = False


def schedule(state: State, run: Run, kept: Indices, I: Indices) -> float:
    """Fill the schedule I by Algorithm 4, in random order; returns the mean preference."""
    p, l = state.variables.p, kept.size
    total = total_preference(p, kept, run.shuffles)
    j, N = 0, total
    for begin, end in run.shuffles.slices(l):
        j, N = define_schedule(p, kept, I, begin, end, j, N, state.rng)
    shuffle_first(I, l, state.rng, run.shuffles)
    return total / l
