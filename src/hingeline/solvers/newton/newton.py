"""Proximal Newton, by a dense Cholesky factorisation for few features or few rows. Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i psi_i(m_i)      (shards/kernels.py; m_i = m_i(0) - <z_i, w>, z_i = s_i x_i)
Gradient   w - Z' alpha(w)        Hessian   I + sum over the band of s_i z_i z_i'

For a smooth loss psi_i is the loss itself. Other losses are smoothed around abar (at first the middle of the box; for
the hinge C/2, which gives the Huberised hinge) with width delta. When w is optimal for the smoothed problem, a free
variable's violation is sigma_i |alpha_i - abar_i|: at most delta at first, later at most 2 delta. Then abar <- alpha,
delta shrinks, and the next stage begins. This is the method of multipliers for the dual, whose fixed point is the exact
optimum. Each sub-problem takes a few Newton steps with an exact line search on the stored Zw, Zp.

If there are many rows per weight, a sample of the rows goes through the wide stages, and its w is the start for all
rows. If there are many features and many rows in the band, conjugate gradients solve for the step approximately.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...kernels.losses import Loss
from ...kernels.types import Vector
from ...runtime.blas import one_blas_thread
from ..certificate import UNIT_ROUNDOFF, refresh
from ..clock import Ended
from ..driver import Run, Verdict, run_apart
from ..rounding import best_length, may_be_longer
from ..shards.interface import Shards
from ..shards.sample import step_between
from ..state import State
from ..stop import Stop
from .smoothed import CLEAR_GAP, NO_DECREASE, Smoothed

DELTA_FIRST, DELTA_LAST = 2.0, 1e-2  # widths, in units of m at w = 0: the first, and that of stages that gain FAST
WIDTH_SHARE, LEAST_WIDTH = 0.6, 1e-4  # first width near a known solution: fraction of how far margins move; least
NARROWER, NARROWER_NEAR, WIDER, FAST = 0.4, 0.7, 25.0, 0.1  # factors of the width: the second near a known solution
CLOSE = 4.0  # within this factor of the goal, only the centre changes; the width stays while that gains enough
LOOSE, LOOSE_NEAR = 0.1, 0.3  # promised decrease over the gap at which stages end: the second near a known solution
LESS_LOOSE = 3e-2  # the same if a classifier ends by its violation, which early ends leave larger
SAMPLE_STEP, LEAST_STEP = 16, 8  # one row in this many is sampled; the least for which a sample pays
SAMPLED_PER_WEIGHT, SAMPLED_IF_SMOOTH = 64, 16  # least number of sampled rows per weight
SAMPLE_DELTA = 0.1  # width at which the sample has no more to tell
SMOOTH_STEPS = 3  # steps after which it has no more to tell, if the loss is smooth: further ones only fit its own rows
ONE_THREAD_ANYWAY = 32  # weights; BLAS starts no threads for matrices as small as this
WORTH_KEEPING = 0.5  # fraction of the best violation so far, below which a point is kept when a stage is solved
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
MOST_STEPS, MOST_IF_SMOOTH = 60, 600  # of a stage; a smooth loss has only one stage
SMALL_DECREMENT = 1e-6  # promised decrease over |w|^2: near the end
FALLING = 0.1  # a decrease too small to measure must fall by this factor per step, or it is rounding
FAR = 2.0  # times the objective at w = 0: a worse start comes from weights that are mostly rounding
IDLE = 20  # stages (steps, if the loss is smooth) in a row without any progress
NOTHING = 1e-14  # relative gap that a narrower stage cannot reduce; if the residual is large, it is rounding
MOST_WORSE = 3  # steps whose dual variables certify less than earlier ones, if columns are nearly dependent
FAILED_STAGES = 4  # sub-problems that rounding leaves unsolved before training ends


def newton(state: State, run: Run) -> None:
    """Run Newton's method on ``state`` until it has converged or ``run`` ends it."""
    if state.w.size <= ONE_THREAD_ANYWAY:
        _newton(state, run)
    else:  # idle BLAS threads would spin and take cores from our own threads
        with one_blas_thread():
            _newton(state, run)


def sample_step(loss: Loss, n_rows: int, n_weights: int) -> int:
    """Return k if a sample of one row in k is worth its cost, else 1."""
    per_weight = SAMPLED_IF_SMOOTH if loss.is_smooth else SAMPLED_PER_WEIGHT
    return step_between(LEAST_STEP, SAMPLE_STEP, n_rows, n_weights, per_weight)


def _smoothed(state: State, run: Run) -> Smoothed:
    """Return the smoothed problem at its start: the solution of a sample, if that is good enough, else w.

    A sample is a better start than the sweeps of an earlier phase, but not better than one that the user gave.
    """
    shards, unit = state.shards, state.shards.mean_margin_at_zero()
    if state.near is not None and state.begins_near(run.n_iter):
        delta = min(max(WIDTH_SHARE * state.near.width, LEAST_WIDTH * unit), WIDTH_SHARE * unit)
        return Smoothed(shards, run, state.near.w.copy(), delta, state.is_free)
    no_start = not state.w.any() or run.n_steps > 0
    sample = _solved_sample(state, run, unit) if no_start else None
    if sample is not None:
        whole = Smoothed(shards, run, *sample, state.is_free)
        if whole.primal < shards.losses_at_zero():
            return whole
    start = Smoothed(shards, run, state.w.copy(), DELTA_FIRST * unit, state.is_free)
    if start.primal <= FAR * shards.losses_at_zero():
        return start
    return Smoothed(shards, run, np.zeros_like(state.w), DELTA_FIRST * unit, state.is_free)


def _solved_sample(state: State, run: Run, unit: float) -> tuple[Vector, float] | None:
    """Return w and the smoothing width from a sample of the rows; None if there is no sample, or it failed.

    The sample is solved only as accurately as that helps all rows.
    """
    shards = state.shards
    step = sample_step(shards.loss, shards.n_rows, shards.n_weights)
    return shards.solve_sample(step, partial(solution_of_sample, unit, state.is_free, run.stop)) if step > 1 else None


def solution_of_sample(unit: float, free: bool, stop: Stop, part: Shards) -> tuple[Vector, float] | None:
    """Return w and the smoothing width at which the sample ``part`` has no more to tell; None if it failed."""
    sample = Smoothed(part, run_apart(stop), np.zeros(part.n_weights), DELTA_FIRST * unit, free)
    _approach(sample, SAMPLE_DELTA * unit)
    return (sample.w, sample.delta) if np.isfinite(sample.w).all() else None


def _approach(smoothed: Smoothed, delta: float) -> None:
    """Go through the stages down to the width ``delta``, each only as far as it pays."""
    for _ in range(SMOOTH_STEPS if smoothed.is_smooth else MOST_STEPS):
        decrement = smoothed.step()
        if not smoothed.is_finite:
            break
        if decrement <= _loose(smoothed) * (smoothed.primal if smoothed.is_smooth else smoothed.gap):
            if smoothed.delta <= delta:
                break
            smoothed.next_stage(NARROWER)


def _loose(smoothed: Smoothed) -> float:
    """Return the promised decrease over the gap at which a stage ends."""
    by_violation = not (smoothed.is_smooth or smoothed.goes_by_gap or smoothed.shards.loss.is_regression)
    return LESS_LOOSE if by_violation else LOOSE


def _newton(state: State, run: Run) -> None:
    if not state.anchor and state.shards.losses_at_zero() == 0.0:
        state.shards.reset_alpha()  # nothing is better than this, but smoothing would lead away from it
        state.move_to(np.zeros_like(state.w), is_primal=True)
        raise Ended("rounding")
    smoothed, best = _smoothed(state, run), _Best()
    try:
        _descend(smoothed, best, state, run)
    except Ended as end:
        if end.reason == "rounding":
            if not smoothed.is_smooth:
                best.offer(smoothed, state)
            best.restore(state, run)
            _lengthen(state, run)
        raise


class _Best:
    """The w of the smoothed problem with the smallest gap, and its dual variables.

    If values are large, Z' alpha has far larger rounding errors than the w that Newton's method has found.
    """

    def __init__(self) -> None:
        self._apart = np.inf  # P - D
        self._w, self._alpha = np.empty(0), None

    def offer(self, smoothed: Smoothed, state: State) -> None:
        """Keep a copy of the current point if it is the best so far."""
        apart = min(smoothed.gap + 0.5 * smoothed.distance, smoothed.primal)  # dual variables of 0 certify the latter
        if smoothed.is_finite and apart < self._apart:
            kept = state.shards.copy_alpha()
            state.shards.keep()
            self._apart, self._w, self._alpha = apart, smoothed.w.copy(), state.shards.copy_alpha()
            state.shards.set_alpha(kept)

    def offer_state(self, state: State, run: Run) -> bool:
        """Keep a copy of the state if its exact certificate is the best so far; tells whether it is.

        What Newton's equation proposes is only as accurate as the equation's solution, which rounding limits too.
        """
        certificate = refresh(state, run.n_steps)
        apart = certificate.gap * certificate.primal
        if not apart < self._apart:
            return False
        self._apart, self._w, self._alpha = apart, state.w.copy(), state.shards.copy_alpha()
        return True

    def restore(self, state: State, run: Run) -> None:
        """Go to the best point offered, if its gap is smaller than that of the state."""
        if not self._w.size:
            return
        certificate = refresh(state, run.n_steps)
        if not self._apart >= certificate.gap * certificate.primal:
            state.shards.set_alpha(self._alpha)
            state.move_to(self._w, is_primal=True)


def _lengthen(state: State, run: Run) -> None:
    """Lengthen w by what rounding takes from its scores, if that gives a better model."""
    w, shards = state.w.copy(), state.shards
    if not state.is_primal or not may_be_longer(shards.loss, refresh(state, run.n_steps)):
        return

    def primal_at(factor: float) -> float:
        state.move_to(factor * w, is_primal=True)
        return refresh(state, run.n_steps).primal

    noise = UNIT_ROUNDOFF * (shards.longest * float(np.sqrt(w[:-1] @ w[:-1])) + abs(state.intercept))
    state.move_to(best_length(primal_at, noise) * w, is_primal=True)


def _descend(smoothed: Smoothed, best_point: _Best, state: State, run: Run) -> None:
    """Take steps, stage by stage, until ``run`` is satisfied or ends it; small problems keep their best point."""
    best, last_stage, narrow = np.inf, np.inf, DELTA_LAST * state.shards.mean_margin_at_zero()
    narrower, loose = NARROWER, _loose(smoothed)
    if state.near is not None and state.begins_near(run.n_iter) and state.near.width < np.inf:
        narrower, loose = NARROWER_NEAR, LOOSE_NEAR
    steps, failed_stages, decrement = 0, 0, np.inf
    idle, least, least_gap, lowest, worse = 0, np.inf, np.inf, np.inf, 0
    for _ in run.sweeps():
        last_decrement, decrement = decrement, smoothed.step()
        if not smoothed.is_finite:  # the state is still that of the step before
            raise Ended("rounding")
        steps += 1
        if smoothed.is_tiny and not smoothed.is_smooth:
            best_point.offer(smoothed, state)
        solved = smoothed.is_smooth or smoothed.is_solved
        reached = smoothed.violation  # at w, if w is the model; otherwise the error bounds what Z' alpha adds
        if not (smoothed.is_precise and smoothed.is_near):
            reached += smoothed.error
        # A run may end anywhere, and then this is the model. Without smoothing, w is a better one than Z' alpha.
        falls = smoothed.is_smooth and smoothed.primal < (1.0 - NO_DECREASE) * lowest
        gap = smoothed.gap + 0.5 * smoothed.distance  # P(w) - D(alpha)
        if smoothed.goes_by_gap:
            measure, enough = gap, best
        else:
            measure, enough = reached, (1.0 if solved else WORTH_KEEPING) * best
        better = falls or measure < enough
        if better:
            best, lowest = measure, smoothed.primal
            state.shards.keep()
            state.move_to(smoothed.w, smoothed.is_smooth or smoothed.is_precise or smoothed.goes_by_gap)
        run.dual = smoothed.primal - smoothed.gap
        if smoothed.may_propose(decrement):
            proposed_gap = smoothed.gap_of_proposal()
            if proposed_gap < gap:
                gap = proposed_gap
                state.shards.keep(proposed=True)
                state.move_to(smoothed.w, is_primal=True)
                if not smoothed.is_smooth:
                    best_point.offer_state(state, run)
        if run.sweep(0, reached, np.nan, gap, reached, True, smoothed.primal) is Verdict.SATISFIED:
            break
        clear = (gap if smoothed.is_smooth else smoothed.gap) <= CLEAR_GAP * smoothed.primal
        if clear and decrement <= SMALL_DECREMENT * smoothed.length and reached <= AT_FLOOR * run.floor():
            raise Ended("rounding")
        most = MOST_IF_SMOOTH if smoothed.is_smooth else MOST_STEPS
        exhausted = steps >= most or smoothed.is_exhausted(decrement)
        if smoothed.is_smooth:
            falling = decrement < FALLING * last_decrement
            if clear and smoothed.is_certified_by_proposals:
                worse = 0 if best_point.offer_state(state, run) else worse + 1
                if worse >= MOST_WORSE and not falling:
                    raise Ended("rounding")
            stalled = not (falling or smoothed.is_precise) and decrement <= NO_DECREASE * smoothed.primal
            idle = 0 if better else idle + 1
            if (exhausted or stalled) and (clear or idle >= IDLE or steps >= most):
                raise Ended("rounding")
            continue
        # A narrower stage is worth more than the last digits of this one, unless it is to be the last.
        passing = smoothed.may_pass and decrement <= loose * smoothed.gap and not smoothed.is_within(run.stop)
        if solved or passing or exhausted:
            failed = not (solved or (passing and smoothed.gap > NOTHING * smoothed.primal))
            failed_stages += failed
            halved = reached < 0.5 * least or smoothed.gap < 0.5 * least_gap
            idle = 0 if reached < least or smoothed.gap < least_gap else idle + 1
            least, least_gap = min(least, reached), min(least_gap, smoothed.gap)
            if failed_stages >= FAILED_STAGES or idle >= IDLE:
                raise Ended("rounding")
            fast = smoothed.violation < FAST * last_stage and smoothed.delta < narrow
            stays = fast or (halved and smoothed.is_within(run.stop, CLOSE))
            last_stage, steps = smoothed.violation, 0
            smoothed.next_stage(WIDER if failed else 1.0 if stays else narrower ** (1 + idle))
