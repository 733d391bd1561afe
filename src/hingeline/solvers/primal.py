"""L1-regularised and elastic-net problems: proximal Newton, each step a lasso by adaptive frequencies over columns.

Problem    min_w   F(w) = sum_j (l1_j |w_j| + l2_j w_j^2/2) + sum_i loss_i(<x_i, w>)
Dual       max_a   sum_i [a_i missing(y_i, 0) - conjugate_i(a_i)] - sum_j max(0, |v_j| - l1_j)^2/(2 l2_j),
                   v = sum_i a_i s_i x_i,   |v_j| <= l1_j where l2_j = 0

with l1_j = l1_ratio and l2_j = 1 - l1_ratio. LIBLINEAR's types 5 (squared hinge) and 6 (logistic) have l1_ratio = 1.
The intercept is a column like the others, penalised with them as in LIBLINEAR, or free (l1_j = l2_j = 0).

An iteration expands the loss at w to second order and minimises  g'(z - w) + |u|^2/2 + penalty(z),
u = root(h) X (z - w),  over a working set (weights that are not zero, and columns that violate their condition) by
coordinate descent; then it goes from w towards z as far as F falls (after Yuan, Ho and Lin's newGLMNET). A column's
preference grows with what its steps gain, and outlives the iteration. Far from the optimum the
logistic loss is nearly straight and Newton steps are too long: its curvatures h begin as those of parabolas above it
and go over into Newton's; a step that fails is tried again with parabolas. The better the steps succeed, the more
sweeps a sub-problem gets.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from ..kernels.columns import Columns
from ..kernels.expansion import losses_along
from ..kernels.losses import Logistic
from ..kernels.random import seeded
from ..pace import Pace
from ..problem import Problem
from ..solution import Progress, Solution
from .blas import blas
from .driver import Clock, Ended, Run, Stop, Verdict
from .finish import meaning, run_engine, solution_of
from .frequencies import Frequencies
from .lasso import Seen, gram_lasso, lasso
from .penalised import Penalised

ACCURATE = 1e-9  # violation to which small problems are solved
MOST_SWEEPS = 128  # of a sub-problem: one as long as there is caution, then twice as many after each whole step
LESS = 0.1  # caution, after a step that was taken whole; more of it, after one that was not
MOST_COLUMNS_OF_GRAM = 400
SUFFICIENT, BACK, MOST_HALVINGS = 0.01, 0.5, 40
NEW_COLUMNS, GROWTH = 1000, 1.0  # columns that may join the working set: so many, and so many times its size


def train_primal(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    columns: Columns,
    l1_ratio: float = 1.0,
    free_intercept: bool = False,
    seed: int,
    alpha0: np.ndarray | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Solve ``problem`` with the penalty l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2 in the place of |w|^2/2.

    ``columns`` are those of the problem's data (``as_columns``: once for many problems). ``alpha0``, where
    to start, holds weights here, the intercept's last.
    """
    adapts, shrinks = meaning(solver, "with an L1 penalty")
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie between 0 and 1; got {l1_ratio!r}.")
    data = problem.data
    l1, l2 = np.full(data.n_features + 1, float(l1_ratio)), np.full(data.n_features + 1, 1.0 - float(l1_ratio))
    if free_intercept and data.rows.bias:
        l1[-1] = l2[-1] = 0.0
    clock = Clock(stop.max_time, cancelled)
    to_the_end = Pace(clock.check_cancelled)
    primal = Penalised(problem, columns, l1, l2, Pace(clock.check))
    if alpha0 is not None:
        primal.w[:] = alpha0
        primal.f[:] = primal.times(primal.w, Pace(clock.check, first=256))
    run = Run(stop, clock, certify=primal.certify, floor=primal.floor, callback=callback, take=primal.snapshot)
    rng = seeded(seed)
    with blas().limit(limits=1, user_api="blas"):
        reason = run_engine(lambda: _iterate(primal, run, rng, adapts, shrinks), run, data, solver, ACCURATE)
    primal.pace = primal.column_pace = to_the_end
    primal.refresh()
    certificate = primal.certify(to_the_end)
    intercept = data.rows.bias * float(primal.w[-1])
    return solution_of(run, reason, stop, certificate, solver, w=primal.w[:-1], intercept=intercept, alpha=primal.alpha)


def _iterate(primal: Penalised, run: Run, rng: np.ndarray, adapts: bool, shrinks: bool) -> None:
    """Take proximal Newton steps until done (or ``run`` ends it)."""
    d = primal.w.size
    p, D_ref, sweeps = np.ones(d, dtype=np.float32), 0.0, 1
    few = d <= MOST_COLUMNS_OF_GRAM
    careful = isinstance(primal.loss, Logistic)
    primal.caution = 1.0 if careful and not few else 0.0
    primal.expand()
    for iteration in run.sweeps():
        trusting = careful and primal.caution < 1.0  # a careful step may succeed where this one fails
        S = _working_set(primal)
        seen = Seen(D_ref=D_ref)
        if S.size:
            frequencies = Frequencies(np.arange(S.size, dtype=np.uint32), S.size, rng, adapts=adapts, shrinks=shrinks)
            frequencies.p[:] = p[S]
            solve = gram_lasso if few else lasso
            z, seen = solve(primal, run, S, frequencies, seen, iteration == 0, sweeps)
            p[S] = np.abs(frequencies.p)
            D_ref = seen.D_ref
            tau = _move(primal, S, z)
            if tau == 1.0:
                sweeps = 1 if primal.caution > 0.0 else min(2 * sweeps, MOST_SWEEPS)
                primal.caution = max(0.0, primal.caution - LESS)
            else:
                sweeps = max(sweeps // 2, 1)
                primal.caution = min(1.0, primal.caution + (LESS if tau > 0.0 else 1.0)) if careful else 0.0
        else:
            tau, trusting = 0.0, False
        primal.expand()
        gap = _gap_estimate(primal, run)
        verdict = run.sweep(seen.steps, primal.violation, np.nan, gap, criterion=primal.violation, complete=True)
        if verdict is Verdict.SATISFIED:
            break
        if tau == 0.0 and not trusting:
            raise Ended("rounding")


def _gap_estimate(primal: Penalised, run: Run) -> float:
    """Return the gap where the run stops on it; sets the run's dual."""
    if run.stop.gap_tol is None:
        return inf
    certificate = primal.certify(run.passes)
    run.dual = certificate.dual
    return certificate.primal - certificate.dual


def _working_set(primal: Penalised) -> np.ndarray:
    """Return the columns in use, and of those that violate their condition the worst."""
    used = primal.w != 0.0
    new = np.flatnonzero((primal.violations > 0.0) & ~used)
    most = NEW_COLUMNS + int(GROWTH * np.count_nonzero(used))
    if new.size > most:
        new = new[np.argpartition(-primal.violations[new], most)[:most]]
    used[new] = True
    return np.flatnonzero(used)


def _move(primal: Penalised, S: np.ndarray, z: np.ndarray) -> float:
    """Go from w towards z as far as the objective falls enough; returns the share of the way."""
    d = np.zeros_like(primal.w)
    d[S] = z - primal.w[S]
    u = primal.times(d, primal.column_pace)
    at = primal.penalty(primal.w)
    promised = float(primal.g @ d) + primal.penalty(primal.w + d) - at
    if not promised < 0.0:
        return 0.0
    tau = 1.0
    for _ in range(MOST_HALVINGS):
        change = primal.penalty(primal.w + tau * d) - at
        for begin, end in primal.pace.slices(u.size):
            change += losses_along(primal.loss, primal.y, primal.C, primal.f, u, tau, begin, end)
        if change <= SUFFICIENT * tau * promised:
            primal.w[S] = z if tau == 1.0 else primal.w[S] + tau * d[S]
            primal.f += tau * u
            return tau
        tau *= BACK
    return 0.0
