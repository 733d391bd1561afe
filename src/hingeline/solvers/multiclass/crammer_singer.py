"""Crammer and Singer's multi-class classifier: one problem for all classes, by adaptive frequencies over examples.

Problem    min_w   sum_c |w_c|^2/2 + sum_i C_i max_c (<x_i, w_c> + [c != y_i] - <x_i, w_{y_i}>)
Dual       max_a   W(a) = -sum_c |w_c|^2/2 - sum_i sum_{c != y_i} a_ic,   w_c = sum_i a_ic x_i,
                   a_ic <= C_i [c = y_i],   sum_c a_ic = 0

LIBLINEAR's type 4 (Keerthi et al., 2008). A step solves the sub-problem of one example, all its classes, exactly; its
gain is what Algorithm 5 compares with the average, so an example has one preference. Examples that sit firmly at a
corner of their box leave the active set, and classes that are irrelevant to an example are left out of its steps, until
all come back. Equal rows with different labels are settled together before each sweep (twin_steps.py). Two classes are
a binary hinge problem with twice the C and half the objective (w_2 = -w_1), and go to its engines.

The gap is summed over pairs (example, class), each term >= 0, with G_ic = <x_i, w_c> + [c != y_i]:

    P - W = sum_i sum_c (C_i [c = y_i] - a_ic) (max_e G_ie - G_ic).

That holds for feasible a only, so variables are made exactly feasible before they are certified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import fsum, inf, sqrt
from typing import Any

import numpy as np

from ...data.problem import Data, Problem, make_problem
from ...kernels.losses import Hinge
from ...kernels.passes import squared_length, weighted_lengths
from ...kernels.random import seeded
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Progress, Snapshot, Solution
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from ..clock import Clock
from ..driver import Run, Verdict
from ..engines import stepwise_engine
from ..finish import run_accurately, solution_of
from ..frequencies import Frequencies
from ..one_versus_rest import OneVersusRest
from ..stop import Stop
from ..train import train
from .example_passes import Examples, add_class_weights, certify_examples, make_feasible
from .example_steps import Seen, visit_examples
from .twin_steps import settle_twins
from .twins import Twins, contradictory_twins

ACCURATE = 1e-9  # violation to which small problems are solved


@dataclass
class DualState:
    """The dual variables of all examples, and their weights."""

    data: Data
    examples: Examples

    def refresh(self, pace: Pace) -> Certificate:
        """Make the variables feasible, compute w afresh, and return the exact certificate there."""
        examples, n = self.examples, self.data.n_rows
        examples.w[:] = 0.0
        for begin, end in pace.slices(n):
            make_feasible(examples.alpha, examples.C, examples.y, begin, end)
            add_class_weights(examples, begin, end)
        parts = (certify_examples(examples, begin, end) for begin, end in pace.slices(n))
        return sum_parts(parts).certificate(0.5 * squared_length(examples.w))

    def settle(self, twins: Twins, pace: Pace) -> tuple[int, float]:
        """Solve the sub-problems of the twins; returns steps and gain."""
        parts = [settle_twins(self.examples, twins, begin, end) for begin, end in pace.slices(twins.n_groups)]
        return sum(steps for steps, _ in parts), fsum(gain for _, gain in parts)

    def snapshot(self) -> Snapshot:
        """Return the model so far: weights of shape (n_classes, n_features), intercepts of shape (n_classes,)."""
        W = self.examples.w.reshape(-1, self.examples.alpha.shape[1]).T
        return Snapshot(np.ascontiguousarray(W[:, :-1]), self.data.rows.bias * W[:, -1])

    def floor(self) -> float:
        """Return about what rounding makes of a violation at the optimum."""
        lengths = 2.0 * weighted_lengths(np.abs(self.examples.alpha).max(axis=1), self.data.q)
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * lengths)


def train_crammer_singer(
    data: Data,
    codes: Indices,
    n_classes: int,
    weights: Vector | None,
    C: float,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: Matrix | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Train on rows of class numbers ``codes``; ``alpha0`` of shape (n_rows, n_classes) is where to start.

    The solution's ``w`` has shape (n_classes, n_features), its ``intercept`` (n_classes,), its ``alpha`` (n_rows,
    n_classes).
    """
    if n_classes == 2:
        return _two_classes(data, codes, weights, C, solver, stop, seed, alpha0, callback)
    engine = stepwise_engine(solver, 'multi_class="crammer_singer" with more than two classes')
    problem = make_problem(data, codes.astype(np.uint32), weights, Hinge(float(C)))
    clock = Clock(stop.max_time, None)
    state = dual_state(problem, n_classes, alpha0)
    run = Run(stop, clock, certify=state.refresh, floor=state.floor, callback=callback, take=state.snapshot)
    to_the_end = Pace()
    if alpha0 is not None:
        run.dual = state.refresh(to_the_end).dual
    rng = seeded(seed)

    def sweep() -> None:
        everyone = problem.variables_in_order()
        twins = contradictory_twins(data, problem.y, everyone, run.passes)
        frequencies = Frequencies(everyone, data.n_rows, rng, adapts=engine.adapts, shrinks=engine.shrinks)
        _sweep(state, run, frequencies, twins)

    reason = run_accurately(sweep, run, data, solver, ACCURATE)
    certificate = run.certificate_after(reason, to_the_end)
    w, intercept = state.snapshot()[:2]
    return solution_of(run, reason, stop, certificate, solver, w=w, intercept=intercept, alpha=state.examples.alpha)


def dual_state(problem: Problem, k: int, alpha0: Matrix | None) -> DualState:
    """Return the variables at ``alpha0`` (moved into the box) or zero; rows of zeros at one of their optima."""
    data, y = problem.data, problem.y
    C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), data.n_rows).copy()
    alpha = np.zeros((data.n_rows, k))
    if alpha0 is not None:
        alpha[:] = alpha0
        make_feasible(alpha, C, y, 0, data.n_rows)
    solved = (data.q == 0.0) | (C == 0.0)
    alpha[solved] = 0.0
    alpha[solved, y[solved]] = C[solved]
    alpha[solved, (y[solved] + 1) % k] = -C[solved]
    w, live = np.zeros((data.n_features + 1) * k), np.zeros((data.n_rows, k), dtype=np.uint32)
    n_live = np.full(data.n_rows, k, dtype=np.uint32)
    return DualState(data, Examples(data.rows, data.q, C, y, alpha, w, live, n_live))


def _sweep(state: DualState, run: Run, frequencies: Frequencies, twins: Twins) -> None:
    """Sweep until done (or ``run`` ends it)."""
    if frequencies.n_active == 0:  # rows of zeros alone
        return
    examples = state.examples
    enough, seen, groups = inf, Seen(), Pace(run.clock.check)
    for sweep in run.sweeps():
        I = frequencies.schedule(run)
        if frequencies.complete:
            examples.n_live[:] = examples.alpha.shape[1]
        steps, gain = state.settle(twins, groups)
        seen = Seen(steps, D_ref=seen.D_ref, gain=gain)
        rule = (enough, frequencies.shrinks, frequencies.complete, frequencies.learning(sweep == 0))
        for begin, end in run.visits.slices(I.size):
            seen = Seen(*visit_examples(examples, frequencies.p, I, begin, end, *rule, seen))
        complete = frequencies.complete
        verdict = run.sweep(seen.steps, seen.v, seen.gain, seen.gap, criterion=seen.v, complete=complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        enough = frequencies.next_sweep(seen.v, verdict is Verdict.GO_ON)


def _two_classes(
    data: Data,
    codes: Indices,
    weights: Vector | None,
    C: float,
    solver: str,
    stop: Stop,
    seed: int,
    alpha0: Matrix | None,
    callback: Callable[[Progress], Any] | None,
) -> Solution:
    """Train the binary hinge problem at 2 C: v = w_1 - w_0 and a_i in [0, 2 C_i], and half of its objective is ours."""
    y = OneVersusRest(codes, 2).labels(0)
    problem = make_problem(data, y, weights, Hinge(2.0 * float(C)))
    start = None if alpha0 is None else 2.0 * np.maximum(alpha0[np.arange(codes.size), codes], 0.0)
    s = train(problem, solver, stop, seed=seed, alpha0=start, callback=callback)
    c = s.certificate
    half = 0.5 * y * s.alpha
    return replace(
        s,
        w=np.array([-0.5 * s.w, 0.5 * s.w]),
        intercept=np.array([-0.5, 0.5]) * s.intercept,
        alpha=np.column_stack([-half, half]),
        certificate=c._replace(primal=0.5 * c.primal, dual=0.5 * c.dual),
    )
