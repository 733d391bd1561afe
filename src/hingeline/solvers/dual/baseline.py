"""Algorithm 2 of the paper: dual coordinate ascent in uniform sweeps, with hard shrinking (LIBLINEAR's method).

Problem    min_w   |w|^2/2 + sum_i C_i max(0, 1 - y_i <x_i, w>)
Dual       max_a   W(a) = sum_i a_i - |w|^2/2,   w = sum_i a_i y_i x_i,   0 <= a_i <= C_i

A step maximises W in one variable: mu = [g_i / |x_i|^2] clipped to the box, g_i = dW/da_i = 1 - y_i <x_i, w>.
Variables that press against their bound harder than anything moved in the last sweep leave the active set A. When the
projected gradients of a sweep span less than eps, all variables come back; if that sweep agrees, training ends.

Differences from the printed algorithm: v_min and v_max track projected gradients (raw ones would end training after
one sweep), and clipped variables are set to their bound exactly. The squared hinge adds 1/(2 C_i) to the diagonal.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.losses import Loss, gap_estimate, missing, pull, sign, step
from ...kernels.rows import Rows, axpy, dot
from ...kernels.shrink import Thresholds, is_shrunk, next_thresholds
from ...kernels.types import Index, Indices, Vector
from ...kernels.variables import Variables
from ..driver import Run, Verdict
from ..state import State
from ..visit_order import shuffle_first


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    n_active: int = 0  # variables that stay in A
    v_min: float = inf
    v_max: float = -inf
    gain: float = 0.0
    gap: float = 0.0


@kernel
def visit(
    rows: Rows,
    loss: Loss,
    variables: Variables,
    w: Vector,
    A: Indices,
    begin: Index,
    end: Index,
    thresholds: Thresholds,
    seen: Seen,
) -> tuple[int, float, float, float, float]:
    """Visit the variables A[begin:end]; those that stay active are moved to the front of A."""
    alpha, q, C, _, y = variables
    n_active, v_min, v_max, gain, gap = seen
    for s in range(np.uint64(begin), np.uint64(end)):
        if s + RECORD_AHEAD < np.uint64(A.size):
            look_ahead(rows, alpha, y, w, A, s)
        i = A[s]
        m = missing(loss, y[i], dot(rows, i, w))
        v, pressure = pull(loss, m, alpha[i], C[i])
        if is_shrunk(thresholds, pressure):
            continue
        A[n_active] = i
        n_active += 1
        v_min, v_max = min(v_min, v), max(v_max, v)
        gap += gap_estimate(loss, m, alpha[i], C[i])
        if v != 0.0:
            stepped, delta = step(loss, m, alpha[i], q[i], C[i])
            mu = stepped - alpha[i]
            alpha[i] = stepped
            axpy(rows, i, mu * sign(loss, y[i]), w)
            gain += delta
    return n_active, v_min, v_max, gain, gap  # a plain tuple: see kernels/compile.py


def baseline(state: State, run: Run) -> None:
    """Run Algorithm 2 on ``state`` until it has converged or ``run`` ends it."""
    problem = state.problem
    rows, loss, l = problem.data.rows, problem.loss, problem.n_variables
    A = problem.variables_in_order()
    n_active, thresholds = l, Thresholds()
    for _ in run.sweeps():
        shuffle_first(A, n_active, state.rng, run.shuffles)
        seen = Seen()
        for begin, end in run.visits.slices(n_active):
            seen = Seen(*visit(rows, loss, state.variables, state.w, A[:n_active], begin, end, thresholds, seen))
        steps, n_active, complete = n_active, seen.n_active, n_active == l
        violation = max(seen.v_max, -seen.v_min, 0.0)
        span = max(seen.v_max, 0.0) - min(seen.v_min, 0.0)  # includes zero: violations that are all equal still count
        verdict = run.sweep(steps, violation, seen.gain, seen.gap, criterion=span, complete=complete)
        if verdict is Verdict.GO_ON:
            thresholds = next_thresholds(seen.v_min, seen.v_max)
        else:
            if verdict is Verdict.SATISFIED and n_active == l:
                break
            A = problem.variables_in_order()
            n_active, thresholds = l, Thresholds()
