"""The linear one-class model: where most of the data lies, by adaptive frequencies over pairs.

Problem    min_{w, rho}   |w|^2/2 - nu (sum_i C_i) rho + sum_i C_i max(0, rho - <x_i, w>)
Dual       max_a          W(a) = -|w|^2/2,   w = sum_i a_i x_i,   0 <= a_i <= C_i,   sum_i a_i = nu sum_i C_i

LIBLINEAR's type 21, in its scaling: C_i is the row's weight, 1 without weights. The sum is fixed, so a step moves
two variables: the one that the adaptive schedule visits, and the best partner that is known, the one with the least
score that can rise or the largest that can fall. Variables at a bound whose score lies outside all that could
pair with them leave the active set. The start is feasible and near: a_i = C_i for the rows least along the mean. Sweeps
that converge slowly hand over to Newton's method (proximal_newton.py).

At given w the best rho is a weighted quantile of the scores, so the certificate is exact; its terms are the hinge's:

    P - W = sum_i [C_i max(0, rho - s_i) - a_i (rho - s_i)],   s_i = <x_i, w>,   every term >= 0.

That holds for feasible a only, so variables are made feasible before they are certified. The optimum is negative, or 0
if the rows surround the origin. So the gap is relative to the larger of |P| and |W|, and to at least what rounding can
tell from zero.
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
from ...kernels.passes import squared_length
from ...kernels.random import seeded
from ...kernels.types import Vector
from ...runtime.pace import Pace
from ...solution import Progress, Solution
from ..clock import Clock
from ..driver import Run, Verdict
from ..engines import AUTO, stepwise_engine
from ..exact.one_class import finished_one_class
from ..finish import insisting, solution_of
from ..frequencies import Frequencies
from ..handover import Handover
from ..select import is_for_rounding
from ..stop import Stop
from .dual_variables import OneClass
from .pair_steps import NOBODY, Limits, Points, Seen, visit_pairs
from .proximal_newton import LARGEST_SYSTEM, proximal_newton

ACCURATE = 1e-13  # violation to which small problems are solved, relative to the largest possible score
NEWTON_STEPS, STEP_COST, ROW_COST, TYPICAL_PRODUCTS = 40, 3000.0, 10.0, 100  # the cost of that, in visits of a row


def train_one_class(
    data: Data,
    weights: Vector | None,
    nu: float,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: Vector | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Train; the solution's ``intercept`` is -rho, and its ``alpha``, as ``alpha0``, the weights of the rows in w."""
    engine = stepwise_engine(solver, "a one-class model")
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must lie in (0, 1]; got {nu!r}.")
    if data.rows.bias:
        raise ValueError("A one-class model takes no bias: rho is its intercept. Leave bias at 0.")
    C = make_problem(data, np.ones(data.n_rows, dtype=np.float32), weights, Hinge(1.0)).C
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), data.n_rows).copy()
    clock = Clock(stop.max_time, None)
    to_the_end = Pace()
    model = OneClass(data, C, float(nu) * float(C.sum()), np.zeros(data.n_rows), np.zeros(data.n_features + 1))
    if alpha0 is None:
        model.start(to_the_end)
    else:
        model.start_from(alpha0, to_the_end)
    run = Run(stop, clock, certify=model.refresh, floor=model.floor, callback=callback, take=model.snapshot)
    everyone, rng = np.flatnonzero(C > 0.0).astype(np.uint32), seeded(seed)

    def sweep() -> None:
        _sweep(model, run, Frequencies(everyone, data.n_rows, rng, adapts=engine.adapts, shrinks=engine.shrinks))

    goal = stop
    if solver == AUTO and is_for_rounding(data, stop):
        goal = replace(stop, tol=min(stop.tol, ACCURATE * data.largest_q * model.total))
    cost = newton_cost(data.n_rows, data.n_features)
    handover = Handover(sweep, lambda: proximal_newton(model, run), data.n_rows, cost)
    reason, certificate, engines = handover.run(run, goal, solver)
    stop = insisting(stop, certificate)
    w, rho, alpha = model.w[:-1], model.rho, model.alpha
    found = solution_of(run, reason, stop, certificate, engines, w=w, intercept=-rho, alpha=alpha)
    return finished_one_class(model, found, stop)


def newton_cost(n_rows: int, n_features: int) -> float:
    """Return about what Newton's method costs, in visits of a row: scores, responses, Hessian, factorisation."""
    if n_features > LARGEST_SYSTEM:
        return NEWTON_STEPS * (STEP_COST + n_rows * TYPICAL_PRODUCTS)
    return NEWTON_STEPS * (STEP_COST + n_rows * (ROW_COST + n_features / 4.0) + n_features**2 / 6.0)


def _sweep(model: OneClass, run: Run, frequencies: Frequencies) -> None:
    """Sweep until converged or ``run`` ends it."""
    data, partners = model.data, np.array([NOBODY, NOBODY])
    points = Points(data.rows, data.q, model.C, model.alpha, model.w, partners, np.zeros_like(model.w))
    limits, seen = Limits(), Seen()
    model.rho = model.rho_of_a_sample()
    for sweep in run.sweeps():
        I = frequencies.schedule(run)
        seen = Seen(D_ref=seen.D_ref, s_up=seen.s_up, s_down=seen.s_down)
        rule = (limits, model.rho, frequencies.complete, frequencies.learning(sweep == 0))
        for begin, end in run.visits.slices(I.size):
            seen = Seen(*visit_pairs(points, frequencies.p, I, begin, end, *rule, seen))
        complete = frequencies.complete
        violation = max(0.0, seen.largest - seen.least)
        dual = -0.5 * squared_length(model.w)
        run.dual = -dual - seen.gain  # |W| before the sweep: what the gap is relative to
        verdict = run.sweep(seen.steps, violation, seen.gain, seen.gap, violation, complete, dual + seen.gap)
        if verdict is Verdict.SATISFIED and complete:
            break
        firm = frequencies.next_sweep(violation, verdict is Verdict.GO_ON)
        limits = Limits() if firm == inf else Limits(seen.least_late, seen.largest_late)
        if violation > 0.0:
            model.rho = 0.5 * (seen.least + seen.largest)
