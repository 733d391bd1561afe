"""Crammer and Singer's multi-class classifier: one problem for all classes, by adaptive frequencies over examples.

Problem    min_w   sum_c |w_c|^2/2 + sum_i C_i max_c (<x_i, w_c> + [c != y_i] - <x_i, w_{y_i}>)
Dual       max_a   W(a) = -sum_c |w_c|^2/2 - sum_i sum_{c != y_i} a_ic,   w_c = sum_i a_ic x_i,
                   a_ic <= C_i [c = y_i],   sum_c a_ic = 0

LIBLINEAR's type 4 (Keerthi et al., 2008). A step solves the sub-problem of one example, all its classes, exactly; its
gain is what Algorithm 5 compares with the average, so an example has one preference. Examples that sit firmly at a
corner of their box leave the active set, and classes that are irrelevant to an example are left out of its steps, until
all come back. Equal rows with different labels are settled together before each sweep (twin_steps.py). If sweeps
converge slowly, Newton's method takes over (proximal_newton.py). Two classes are a binary
hinge problem with twice the C and half the objective (w_2 = -w_1), and go to its engines.

The gap is summed over pairs (example, class), each term >= 0, with G_ic = <x_i, w_c> + [c != y_i]:

    P - W = sum_i sum_c (C_i [c = y_i] - a_ic) (max_e G_ie - G_ic).

That holds for feasible a only, so variables are made exactly feasible before they are certified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ...data.matrix import Data
from ...data.problem import make_problem
from ...kernels.losses import Hinge
from ...kernels.random import seeded
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.pace import Pace
from ...solution import Look, Progress, Snapshot, Solution
from ..clock import Clock
from ..driver import Run, Verdict
from ..engines import AUTO, stepwise_engine
from ..exact.classes import finished_classes
from ..finish import insisting, solution_of
from ..frequencies import Frequencies
from ..handover import Handover
from ..history import scaled
from ..one_versus_rest import OneVersusRest
from ..select import is_for_rounding
from ..stop import Stop
from ..train import train
from .dual_state import DualState, dual_state
from .example_steps import Seen, visit_examples
from .proximal_newton import LARGEST_SYSTEM, proximal_newton
from .twins import Twins, contradictory_twins

ACCURATE = 1e-9  # violation to which small problems are solved
# The cost of Newton's method, in visits of an example.
NEWTON_STEPS, STEP_COST, ROW_COST, TYPICAL_SUPPORT, TYPICAL_PRODUCTS = 40, 3000.0, 10.0, 3, 100


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

    # Tiny problems are solved to the violation ACCURATE, which makes results independent of the order of rows.
    accurate = solver == AUTO and is_for_rounding(data, stop)
    goal = replace(stop, tol=min(stop.tol, ACCURATE)) if accurate else stop
    cost = newton_cost(data.n_rows, n_classes, data.n_features + 1)
    handover = Handover(sweep, lambda: proximal_newton(state, run), data.n_rows, cost)
    reason, certificate, engines = handover.run(run, goal, solver)
    w, intercept = state.snapshot()[:2]
    stop = insisting(stop, certificate)
    alpha = state.examples.alpha
    found = solution_of(run, reason, stop, certificate, engines, w=w, intercept=intercept, alpha=alpha)
    return finished_classes(problem, n_classes, found, stop)


def newton_cost(n_rows: int, n_classes: int, n_weights: int) -> float:
    """Return about what Newton's method costs, in visits of an example: scores, responses, Hessian, factorisation."""
    if n_classes * n_weights > LARGEST_SYSTEM:
        return NEWTON_STEPS * (STEP_COST + n_rows * TYPICAL_PRODUCTS)
    support = min(n_classes, TYPICAL_SUPPORT)
    row = ROW_COST + support**2 * n_weights / (4.0 * n_classes)
    return NEWTON_STEPS * (STEP_COST + n_rows * row + (n_classes * n_weights) ** 2 / 6.0)


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

    def of_both(alpha: Vector) -> Matrix:
        half = 0.5 * y * alpha
        return np.column_stack([-half, half])

    s = train(problem, solver, stop, seed=seed, alpha0=start, callback=_looking_at(of_both, callback))
    c = s.certificate
    return replace(
        s,
        w=np.array([-0.5 * s.w, 0.5 * s.w]),
        intercept=np.array([-0.5, 0.5]) * s.intercept,
        alpha=of_both(s.alpha),
        certificate=c._replace(primal=0.5 * c.primal, dual=0.5 * c.dual),
        history=scaled(s.history, 0.5),
    )


def _looking_at(
    of_both: Callable[[Vector], Matrix], callback: Callable[[Progress], Any] | None
) -> Callable[[Progress], Any] | None:
    """Return a callback that sees the dual variables of both classes."""
    if callback is None:
        return None

    def look(progress: Progress) -> Snapshot:
        at = progress.look()
        assert at.alpha is not None
        return at._replace(alpha=of_both(at.alpha), lower=None, upper=None)

    return lambda progress: callback(progress._replace(look=Look(lambda: look(progress))))
