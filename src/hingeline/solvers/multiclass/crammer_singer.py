"""Crammer and Singer's multi-class machine: one problem for all classes, by adaptive frequencies over the examples.

Problem    min_w   sum_c |w_c|^2/2 + sum_i C_i max_c (<x_i, w_c> + [c != y_i] - <x_i, w_{y_i}>)
Dual       max_a   W(a) = -sum_c |w_c|^2/2 - sum_i sum_{c != y_i} a_ic,   w_c = sum_i a_ic x_i,
                   a_ic <= C_i [c = y_i],   sum_c a_ic = 0

LIBLINEAR's type 4 (Keerthi et al., 2008). A step solves the sub-problem of one example, all its classes, exactly; its
gain is what Algorithm 5 compares with the average, so an example has one preference. Examples that sit firmly at a
corner of their box leave the active set, and classes that are out of the question for an example leave it alone, until
all come back. Equal rows with different labels are settled together before each sweep (kernels/twins.py). Two classes
are the hinge's machine with twice the C and half the objective (w_2 = -w_1), and go to its engines.

The gap is summed over pairs (example, class), each term >= 0, with G_ic = <x_i, w_c> + [c != y_i]:

    P - W = sum_i sum_c (C_i [c = y_i] - a_ic) (max_e G_ie - G_ic).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import fsum, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ...data.problem import Data, make_problem
from ...kernels.losses import Hinge
from ...kernels.passes import squared_length, weighted_lengths
from ...kernels.random import seeded
from ...kernels.schedule import Preferences
from ...runtime.pace import Pace
from ...solution import Certificate, Progress, Snapshot, Solution
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from ..driver import Clock, Run, Verdict
from ..engines import stepwise_engine
from ..finish import certificate_of, run_engine, solution_of
from ..frequencies import Frequencies
from ..stop import Stop
from ..train import train
from .examples import add_class_weights, certify_examples, visit
from .twin_rows import settle_twins
from .twins import Twins, contradictory_twins

ACCURATE = 1e-9  # violation to which small problems are solved


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0


@dataclass
class Examples:
    """The dual variables, one a row and class, with w = sum_i alpha_i (x) x_i, classes side by side."""

    data: Data
    y: np.ndarray
    C: np.ndarray
    alpha: np.ndarray
    w: np.ndarray
    scratch: np.ndarray
    live: np.ndarray  # classes that an example still considers, first n_live[i] of row i
    n_live: np.ndarray

    def refresh(self, pace: Pace) -> Certificate:
        """Compute w afresh and return the exact certificate there."""
        rows, n = self.data.rows, self.data.n_rows
        self.w[:] = 0.0
        for begin, end in pace.slices(n):
            add_class_weights(rows, self.alpha, self.w, self.scratch, begin, end)
        parts = (
            certify_examples(rows, self.alpha, self.C, self.y, self.w, self.scratch, begin, end)
            for begin, end in pace.slices(n)
        )
        return sum_parts(parts).certificate(0.5 * squared_length(self.w))

    def settle(self, twins: Twins, pace: Pace) -> tuple[int, float]:
        """Solve the sub-problems of the twins; returns steps and gain."""
        arrays = (self.data.rows, self.alpha, self.data.q, self.C, self.y, self.w, self.n_live, *twins)
        parts = [settle_twins(*arrays, begin, end) for begin, end in pace.slices(twins.n_groups)]
        return sum(steps for steps, _ in parts), fsum(gain for _, gain in parts)

    def snapshot(self) -> Snapshot:
        """Return the model so far: weights of shape (n_classes, n_features), intercepts of shape (n_classes,)."""
        W = self.w.reshape(-1, self.alpha.shape[1]).T
        return Snapshot(np.ascontiguousarray(W[:, :-1]), self.data.rows.bias * W[:, -1])

    def floor(self) -> float:
        """Return about what rounding makes of a violation at the optimum."""
        lengths = 2.0 * weighted_lengths(np.abs(self.alpha).max(axis=1), self.data.q)
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * lengths)


def train_crammer_singer(
    data: Data,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    C: float,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: np.ndarray | None = None,
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
    examples = _examples(problem.data, problem.y, problem.C, n_classes, alpha0)
    run = Run(stop, clock, certify=examples.refresh, floor=examples.floor, callback=callback, take=examples.snapshot)
    to_the_end = Pace()
    if alpha0 is not None:
        run.dual = examples.refresh(to_the_end).dual
    rng = seeded(seed)

    def sweep() -> None:
        everyone = problem.variables_in_order()
        twins = contradictory_twins(data, examples.y, everyone, run.passes)
        _sweep(
            examples, run, Frequencies(everyone, data.n_rows, rng, adapts=engine.adapts, shrinks=engine.shrinks), twins
        )

    reason = run_engine(sweep, run, data, solver, ACCURATE)
    certificate = certificate_of(run, reason, examples.refresh, to_the_end)
    w, intercept = examples.snapshot()[:2]
    return solution_of(run, reason, stop, certificate, solver, w=w, intercept=intercept, alpha=examples.alpha)


def _examples(data: Data, y: np.ndarray, C: Any, k: int, alpha0: np.ndarray | None) -> Examples:
    """Return the variables at ``alpha0`` (moved into the box) or zero; rows of zeros at one of their optima."""
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), data.n_rows).copy()
    alpha = np.zeros((data.n_rows, k))
    rows = np.arange(data.n_rows)
    if alpha0 is not None:
        alpha[:] = np.minimum(alpha0, 0.0)
        alpha[rows, y] = 0.0
        total = -alpha.sum(axis=1)
        alpha *= np.minimum(1.0, C / np.where(total > 0.0, total, 1.0))[:, None]
        alpha[rows, y] = np.minimum(C, -alpha.sum(axis=1))
    solved = (data.q == 0.0) | (C == 0.0)
    alpha[solved] = 0.0
    alpha[solved, y[solved]] = C[solved]
    alpha[solved, (y[solved] + 1) % k] = -C[solved]
    w, live = np.zeros((data.n_features + 1) * k), np.zeros((data.n_rows, k), dtype=np.uint32)
    return Examples(data, y, C, alpha, w, np.zeros((3, k)), live, np.full(data.n_rows, k, dtype=np.uint32))


def _sweep(
    examples: Examples, run: Run, frequencies: Frequencies, twins: Twins, preferences: Preferences = Preferences()
) -> None:
    """Sweep until done (or ``run`` ends it)."""
    data = examples.data
    if frequencies.n_active == 0:  # rows of zeros alone
        return
    enough, seen, groups = inf, Seen(), Pace(run.clock.check)
    for sweep in run.sweeps():
        I = frequencies.schedule(run)
        if frequencies.complete:
            examples.n_live[:] = examples.alpha.shape[1]
        steps, gain = examples.settle(twins, groups)
        seen = Seen(steps, D_ref=seen.D_ref, gain=gain)
        arrays = (data.rows, examples.alpha, data.q, examples.C, examples.y, frequencies.p, examples.w)
        how = (preferences, 1.0 / frequencies.n_active, frequencies.adapts, frequencies.complete, sweep == 0)
        for begin, end in run.visits.slices(I.size):
            bounds = (examples.live, examples.n_live, I, begin, end, enough, frequencies.shrinks)
            seen = Seen(*visit(*arrays, *bounds, *how, examples.scratch, seen))
        complete = frequencies.complete
        verdict = run.sweep(seen.steps, seen.v, seen.gain, seen.gap, criterion=seen.v, complete=complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        enough = frequencies.next_sweep(seen.v, verdict is Verdict.GO_ON)


def _two_classes(
    data: Data,
    codes: np.ndarray,
    weights: np.ndarray | None,
    C: float,
    solver: str,
    stop: Stop,
    seed: int,
    alpha0: np.ndarray | None,
    callback: Callable[[Progress], Any] | None,
) -> Solution:
    """Train the hinge's machine at 2 C: with v = w_1 - w_0 and a_i in [0, 2 C_i], the objective is half of its own."""
    y = np.where(codes == 1, np.float32(1.0), np.float32(-1.0))
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
