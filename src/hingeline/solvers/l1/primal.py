"""L1-regularised and elastic-net problems: proximal Newton, each step a lasso by adaptive frequencies over columns.

Problem    min_w   F(w) = sum_j (l1_j |w_j| + l2_j w_j^2/2) + sum_i loss_i(<x_i, w>)
Dual       max_a   sum_i [a_i missing(y_i, 0) - conjugate_i(a_i)] - sum_j max(0, |v_j| - l1_j)^2/(2 l2_j),
                   v = sum_i a_i s_i x_i,   |v_j| <= l1_j if l2_j = 0

with l1_j = l1_ratio and l2_j = 1 - l1_ratio. LIBLINEAR's types 5 (squared hinge) and 6 (logistic) have l1_ratio = 1.
The intercept is a column like the others, penalised with them as in LIBLINEAR, or free (l1_j = l2_j = 0).

An iteration expands the loss at w to second order and minimises  g'(z - w) + sum_i h_i u_i^2/2 + penalty(z),
u = X (z - w),  over a working set (weights that are not zero, and columns that violate their condition) by
coordinate descent (lasso.py; gram_lasso.py for few columns); then it goes from w towards z as far as F falls
(proximal.py, after Yuan, Ho and Lin's newGLMNET). Squared losses over many columns are not expanded: sweeps visit them
as they are (pieces.py). A column's preference grows with what its steps gain, and outlives
the iteration. The better a model predicts the gain of its step, the more sweeps the next one gets. Far from the
optimum the logistic loss is nearly straight and Newton steps are too long: its curvatures h begin as those of parabolas
above it and turn into Newton's. If a step fails nevertheless, the curvatures grow again, so that rows which seemed to
be flat count in the next model.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.random import seeded
from ...kernels.types import Generator
from ...runtime.blas import one_blas_thread
from ...runtime.pace import Pace
from ...solution import Certificate, Progress, Solution
from ..clock import Clock, Ended
from ..driver import Run, Verdict, run_apart
from ..engines import Engine, stepwise_engine
from ..exact.last_resort import is_small_enough
from ..exact.penalised import finished_penalised
from ..finish import insisting, run_accurately, solution_of
from ..newton.newton import sample_step
from ..rounding import NEAR_FLOOR
from ..shards.sample import losses_at_zero, sample_of
from ..stop import GOOD_GAP, Stop
from .columns import Columns
from .penalised import Penalised
from .proximal import ProximalNewton

ACCURATE = 1e-9  # violation to which small problems are solved
BETTER, WORTH_A_STEP = 0.5, 1e-9  # times the best violation; share of the objective
MOST_CUT = 10  # steps that are cut short, before the problem is softened
GROWTH, SOFT_STEPS, SOFT_TOL = 10.0, 40, 1e-2  # of C in a softened problem; steps at one C; violation, as a share of l1
MOST_TAKEN = 500  # steps
SOON = 200  # steps after which a problem that decimals can solve is left to them: most take a tenth of that
FAR = 750.0  # margin at which exp underflows
OFTEN = 8  # iterations after which the gap is computed, even if it is known to be too large
LATER, FALLEN = 1.25, 1.5  # growth of visits until the next look at the objective; its fall, in gaps asked for
FIT_SHARE = 0.1  # of all visits: what a fit may cost
RATE, SOONEST = 0.33, 1.05  # the gap of a fit falls with the third power of visits, roughly; growth until the next fit
MOST_SAMPLED, SAMPLED = 20, 0.03  # steps over a sample, and share of the violation at zero that is left to all rows
SAMPLED_WELL, MOST_NOISE = 0.01, 10.0  # the same for the logistic loss, if a sample's noise is so many times l1 at most
MOST_STALLED, USELESS = 20, 5  # steps that bring nothing; what a step counts that moved nothing


def train_primal(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    columns: Columns | None,
    l1_ratio: float = 1.0,
    free_intercept: bool = False,
    seed: int,
    alpha0: np.ndarray | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Solve ``problem`` with the penalty l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2 instead of |w|^2/2.

    ``columns`` are those of the problem's data (``columns_if_many``, computed once for many problems). ``alpha0`` holds
    the weights to start from, the intercept's last.
    """
    engine = stepwise_engine(solver, "with an L1 penalty")
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie between 0 and 1; got {l1_ratio!r}.")
    data = problem.data
    l1, l2 = np.full(data.n_features + 1, float(l1_ratio)), np.full(data.n_features + 1, 1.0 - float(l1_ratio))
    if free_intercept and data.rows.bias:
        l1[-1] = l2[-1] = 0.0
    clock = Clock(stop.max_time, cancelled)
    primal = Penalised(problem, columns, l1, l2, clock.check)
    primal.asked = stop.gap_asked
    if alpha0 is not None:
        with clock.finishing():
            primal.place(alpha0)
    run = Run(stop, clock, certify=primal.certify_afresh, floor=primal.floor, callback=callback, take=primal.snapshot)
    rng = seeded(seed)
    with one_blas_thread():
        reason = "rounding"
        if not (l1[-1] == l2[-1] == 0.0 and _is_all_on_one_side(primal)):
            reason = run_accurately(
                lambda: _iterate(_newton(primal, run, rng, engine, alpha0 is None), run),
                run,
                data,
                solver,
                ACCURATE,
            )
    primal.call_between_slices(clock.check_cancelled)
    certificate = primal.certify_afresh(Pace(clock.check_cancelled))
    if reason == "rounding" and certificate.gap > GOOD_GAP and certificate.violation > NEAR_FLOOR * primal.floor():
        reason = "stalled"
    w, intercept, alpha = primal.w[:-1], data.rows.bias * float(primal.w[-1]), primal.dual_variables
    stop = insisting(stop, certificate)
    found = solution_of(run, reason, stop, certificate, solver, w=w, intercept=intercept, alpha=alpha)
    return finished_penalised(problem, found, stop, l1, l2, cancelled)


def _is_all_on_one_side(primal: Penalised) -> bool:
    """Go to where a free intercept by itself makes all losses zero, if it can: if the rows that count have one label.

    The logistic loss has no minimum then, and no curvature where it is zero to rounding.
    """
    problem = primal.problem
    counted = np.broadcast_to(problem.C, problem.y.shape) > 0.0
    if problem.loss.is_regression or np.ptp(problem.y[counted]) > 0.0:
        return False
    start = primal.w.copy()
    for margin in (1.0, FAR):
        primal.w[:] = 0.0
        primal.w[-1] = problem.y[counted][0] * margin / problem.data.rows.bias
        primal.refresh()
        if primal.losses == 0.0:
            return True
    primal.w[:] = start
    primal.refresh()
    return False


def _newton(primal: Penalised, run: Run, rng: Generator, engine: Engine, from_zero: bool) -> ProximalNewton:
    """Return Newton's method at its start: the solution of a sample of the rows, if that is worth its cost, else w.

    The first steps bring the objective near its minimum, and for that a few rows are enough. The logistic loss takes as
    many steps from there as from zero if C is large: rows that a sample separates get weights that are much too large.
    """
    problem, how = primal.problem, (rng, engine.adapts, engine.shrinks)
    part, overshoots = None, problem.loss.newton_overshoots
    if from_zero and primal.columns is None:
        step = sample_step(problem.loss, problem.data.n_rows, primal.w.size)
        if step > 1 and not (overshoots and _noise(problem, step) > MOST_NOISE * float(primal.l1[0])):
            part = sample_of(problem, step)
    if part is not None:
        sample = Penalised(part, None, primal.l1, primal.l2, primal.pace.between)
        newton = ProximalNewton(sample, run_apart(run.stop), *how)
        enough = (SAMPLED_WELL if overshoots else SAMPLED) * sample.violation
        for _ in range(MOST_SAMPLED):
            if not newton.step()[1] or sample.violation <= enough:
                break
        primal.place(sample.w)
        begun = ProximalNewton(primal, run, *how)
        if primal.objective < losses_at_zero(problem):
            return begun
        primal.place(np.zeros_like(primal.w))
    return ProximalNewton(primal, run, *how)


def _noise(problem: Problem, step: int) -> float:
    """Return how far the gradient of one row in ``step`` is from that of all rows at w = 0, for a typical column."""
    slope = 0.5 * float(np.mean(problem.C))
    return slope * sqrt((step - 1) * float(np.sum(problem.data.q)) / problem.data.n_features)


def _iterate(engine: ProximalNewton, run: Run) -> None:
    """Take proximal Newton steps until converged or ``run`` ends it.

    At large C rows sit close to the bend of their loss, and steps may be cut short again and again. Then the problem is
    softened: C begins small and grows by GROWTH, with a few steps each, so that rows change sides one after the other.
    Before that, steps over squared losses themselves that bring nothing more are followed by steps over their models.
    """
    primal, stall, fits = engine.primal, Stall(), Fits()
    was_softened, left = False, 0
    most = SOON if is_small_enough(primal.problem.data, primal.w.size) else inf
    for _ in run.sweeps():
        steps, goes_on = engine.step()
        criterion, gap = _reached(primal, run, fits)
        objective = primal.objective if primal.softness == 1.0 else inf
        verdict = run.sweep(steps, primal.violation, np.nan, gap, criterion, True, objective)
        if verdict is Verdict.SATISFIED:
            break
        if run.n_iter >= most:
            primal.soften(1.0)
            raise Ended("rounding")
        if primal.softness < 1.0:
            left -= 1
            if left == 0 or not goes_on or primal.violation <= SOFT_TOL * float(primal.l1.max()):
                primal.soften(min(1.0, GROWTH * primal.softness))
                stall, left = Stall(), SOFT_STEPS
            continue
        is_long = stall.is_long(primal, goes_on)
        if is_long and engine.goes_over_to_models():
            stall = Stall()
        elif is_long or (engine.n_cut > MOST_CUT and not was_softened):
            if was_softened or primal.certify_afresh(run.passes).gap <= GOOD_GAP:
                raise Ended("rounding")
            was_softened, left = True, SOFT_STEPS
            curvature = primal.largest_C * primal.problem.data.mean_q  # 0 if it underflows
            primal.soften(1.0 / max(1.0, curvature))


def _reached(primal: Penalised, run: Run, fits: Fits) -> tuple[float, float]:
    """Return what is compared with tol, and the gap if it is known; then it also sets the run's dual.

    A violation below tol counts only if the model's violation, with recomputed scores, is below tol too and its gap is
    good. Before that, gaps serve only the history: each costs a part of a step, so they are computed more and more
    rarely. With a tolerance on the gap, a pass over the rows is spared if the penalty's share is too large already.
    """
    if primal.softness < 1.0:
        return inf, inf
    is_last, by_gap = primal.violation < run.stop.tol, run.stop.gap_tol is not None
    if not (is_last or by_gap or _is_power_of_two(run.n_iter + 1)):
        return primal.violation, inf
    if by_gap and (run.n_iter + 1) % OFTEN and primal.gap_exceeds(run.stop.gap_asked):
        fitted = fits.certify(primal, run)
        if fitted is None:
            return inf, inf
        certificate = fitted
    else:
        certificate = primal.certify_afresh(run.passes) if is_last and not by_gap else primal.certify(run.passes)
        if by_gap and certificate.gap > run.stop.gap_asked:
            certificate = fits.certify(primal, run) or certificate
    run.dual = certificate.dual
    gap = certificate.primal - certificate.dual
    if by_gap:
        return inf, gap
    reached = certificate.violation if certificate.gap <= GOOD_GAP else inf
    return reached if is_last else primal.violation, gap


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


class Fits:
    """When to fit a dual point: once the objective hardly falls, so that only the dual point may be in the way."""

    def __init__(self) -> None:
        self._due, self._objective = 0.0, inf

    def certify(self, primal: Penalised, run: Run) -> Certificate | None:
        """Return the certificate of a fitted dual point, if one is due and worth its cost."""
        visits, objective, asked = float(run.n_steps), primal.objective, run.stop.gap_asked
        if visits < self._due:
            return None
        fallen, self._objective, self._due = self._objective - objective, objective, LATER * visits
        if fallen > FALLEN * asked * abs(objective):
            return None
        certificate = primal.certify_fitted(run.passes, asked, FIT_SHARE * visits)
        if certificate is not None:
            self._due = visits * min(max((certificate.gap / asked) ** RATE, SOONEST), LATER)
        return certificate


class Stall:
    """Counts steps without progress: the violation has not halved, and the objective has hardly fallen."""

    def __init__(self) -> None:
        self._violation, self._objective, self._steps, self._taken = inf, inf, 0, 0

    def is_long(self, primal: Penalised, goes_on: bool) -> bool:
        """Count a step; tells whether to give up. A step after which the next can do no more counts as several."""
        objective = primal.objective
        if primal.violation < BETTER * self._violation or objective < self._objective - WORTH_A_STEP * abs(objective):
            self._violation, self._objective, self._steps = min(primal.violation, self._violation), objective, 0
        self._steps += 1 if goes_on else USELESS
        self._taken += 1  # rounding in the scores may look like progress for ever
        return self._steps >= MOST_STALLED or self._taken >= MOST_TAKEN
