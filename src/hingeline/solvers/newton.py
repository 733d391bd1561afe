"""Proximal Newton, by a dense Cholesky factorisation for few features or few rows. Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i psi_i(m_i)      (kernels/smooth.py; m_i = m_i(0) - <z_i, w>, z_i = s_i x_i)
Gradient   w - Z' alpha(w)        Hessian   I + sum over the band of s_i z_i z_i'

For a smooth loss psi_i is the loss itself. For the others it is smoothed around abar (at first the middle of the box;
for the hinge C/2, the Huberised hinge) at width delta; when w is optimal for it, a free variable's violation is sigma_i
|alpha_i - abar_i|, at first delta at the most, later 2 delta. Then abar <- alpha, a smaller delta, and again: the
method of multipliers for the dual, whose fixed point is the exact optimum. Each sub-problem takes a few Newton steps
with an exact line search on the stored Zw, Zp.

Where rows are many for each weight, a sample of them goes through the wide stages, and all of them begin at its w.
Where neither features nor rows of the band are few, conjugate gradients solve for the step, roughly.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..kernels.losses import SMOOTH, UNBOUNDED, Logistic, lower, missing, upper
from ..kernels.newton_step import newton_step, respond_at_once
from ..kernels.smooth import along_line, compare_duals, narrowed, respond, step_found
from ..problem import Problem
from ..threads import WORTH_SHARING, Team
from .blas import blas
from .conjugate import conjugate_gradients, steps_worth
from .driver import ALONE, Ended, Run, Stop, Verdict
from .line import LINE_STEPS, beginning, line_pace, step_along
from .operators import RowOperator
from .sample import objective_at_zero, sample_of, step_between
from .state import State, new_variables_of

DELTA_FIRST, DELTA_LAST = 2.0, 1e-2  # widths, in units of m at w = 0: at first, and where stages gain FAST
WIDTH_SHARE, LEAST_WIDTH = 0.3, 1e-4  # near to a known solution: the share of the margins' way, in the same units
NARROWER, WIDER, FAST = 0.4, 25.0, 0.1
CLOSE = 4.0  # times what is asked for: a new centre is enough from here on, the width stays
INNER = 0.1  # residual, as a share of the violation, at which a sub-problem counts as solved
LOOSE = 3e-2  # promised decrease, as a share of the gap, at which a stage that is not the last one ends
LARGEST_FACTOR = 2_000  # rows of a dense Cholesky factor: about 0.1 s, which Ctrl-C has to wait for
LARGEST_BLOCK = 20_000_000  # entries of a dense block of rows
FORCING = 0.1  # what conjugate gradients may leave of the residual
MOST_PRODUCTS = 250  # of conjugate gradients a step
LINE_ACCURACY = 1e-3
SMOOTH_LINE_ACCURACY = 0.1  # where the loss has no kinks, a whole step is good enough in the end
ROUGH_LINE_ACCURACY = 0.3  # squared losses: exact searches may end at one kink after the other, so these are not
ROUGH_SEARCHES = range(4, 12)
SAMPLE_STEP, LEAST_STEP = 16, 8  # one row in so many is sampled; less is not worth it
SAMPLED_PER_WEIGHT, SAMPLED_IF_SMOOTH = 64, 16  # rows of a sample, at the least
SAMPLE_DELTA = 0.1  # width at which the sample has told what it can
SMOOTH_STEPS = 3  # after which it has, where the loss is smooth: further ones fit its rows, and no others
TINY = 10_000  # rows times columns; not worth any bookkeeping
FEW_WEIGHTS, AT_ONCE = 64, 300_000  # so few weights, and rows times weights: a step is one call of some milliseconds
ONE_THREAD_ANYWAY = 32  # weights; BLAS starts no threads for matrices as small as this
WORTH_KEEPING = 0.5  # times the best violation so far; better ones are kept where a stage is solved
WORTH_A_LOOK = 10.0  # times the gap that is asked for: a step that promised no more may have a good certificate
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
MOST_STEPS, MOST_IF_SMOOTH = 60, 600  # of a stage; a smooth loss has but one
SMALL_DECREMENT, SMALLEST_DECREMENT = 1e-6, 1e-16  # promised decrease over |w|^2: near the end; beyond, rounding has it
NO_DECREASE, FALLING = 1e-13, 0.1  # the same over the objective: too small to show; by what it falls nevertheless
FAILED_STAGES = 4  # sub-problems that rounding leaves unsolved before training ends


class _Smoothed:
    """The smoothed problem at one point: margins, responses, residual."""

    def __init__(self, state: State, run: Run, team: Team, w: np.ndarray, delta: float) -> None:
        problem = state.problem
        self.loss, self.run = problem.loss, run
        self.Z = RowOperator(problem, problem.signs.astype(np.float64), team.pace(run.clock.check))
        self._terms = team.pace(run.clock.check)
        self._searches = line_pace(run.clock.check, problem.data.n_rows)
        self.is_tiny = problem.data.n_rows * problem.data.n_features < TINY
        n = self.Z.n_weights
        self._room: tuple[np.ndarray, ...] = ()
        if n <= FEW_WEIGHTS and problem.data.n_rows * n <= AT_ONCE:
            self._room = (np.empty((n, n)), np.empty(n), np.empty(problem.data.n_rows))
        self.is_smooth = isinstance(problem.loss, SMOOTH)
        self.delta = 0.0 if self.is_smooth else delta
        self._searched = 0
        responding = (state.variables.q > 0.0) & (state.variables.C > 0.0)  # the others are solved already
        self.C = np.where(responding, state.variables.C, 0.0)
        self.alpha = np.ascontiguousarray(state.variables.alpha)
        self.abar = self.alpha.copy()
        if not self.is_smooth and not self.alpha.any():
            self.abar[:] = 0.5 * (lower(self.loss, self.C) + upper(self.loss, self.C))
        self.change, self.band = np.zeros_like(self.alpha), np.zeros_like(self.alpha)
        self.counted = np.zeros_like(self.alpha)  # the band that the Gram matrix G knows of
        self.G = np.zeros((0, 0))
        self._proposal: tuple[np.ndarray, np.ndarray | None] | None = None  # dual variables, and their Z' a if known
        self.w = w  # the intercept's from its anchor
        self.v = np.zeros_like(w)  # Z' alpha
        self.m, scores = missing(self.loss, problem.y, 0.0).astype(np.float64), self.Z.times(state.to_anchor(w))
        self.max_z = sqrt(problem.data.largest_q)
        self.respond(1.0, scores, afresh=True)

    def respond(self, tau: float, t: np.ndarray, afresh: bool = False) -> None:
        """Compute the margins m - tau t, alpha, the band and the residual w - Z' alpha there.

        Most variables stay at their bounds: Z' alpha is brought up to date by what changed, and now and then afresh.
        """
        if self._room:
            self.m -= tau * t
            self._locate(*respond_at_once(*self._arrays()))
            return
        arrays = (self.m, tau, t, self.abar, self.delta, self.alpha, self.change, self.band, self.counted)
        parts = self._terms.each(self.m.size, lambda part, begin, end: respond(self.loss, self.C, *arrays, begin, end))
        violations, sizes, moved, losses, gaps = zip(*parts, strict=True)
        self.moved = sum(moved)
        self.v = self.Z.transposed(self.alpha) if afresh else self.v + self.Z.transposed(self.change)
        self._locate(max(violations), sum(sizes), sum(losses), sum(gaps))

    def _locate(self, violation: float, band_size: int, losses: float, gap: float) -> None:
        """Take down what the responses are like, and what follows from w and v = Z' alpha."""
        self.violation, self.band_size = violation, band_size
        self.gap = gap  # as far as w = v holds
        self.length = float(self.w @ self.w)
        self.primal = 0.5 * self.length + losses
        self.residual = self.w - self.v
        self.distance = float(self.residual @ self.residual)
        self.error = self.max_z * sqrt(self.distance)

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the present alpha and change its width."""
        self.abar[:] = self.alpha
        self.delta *= factor
        self.respond(0.0, self.m, afresh=True)

    def approach(self, delta: float) -> None:
        """Go through the stages down to the width ``delta``, no stage further than it is worth."""
        for _ in range(SMOOTH_STEPS if self.is_smooth else MOST_STEPS):
            decrement = self.step()
            if decrement <= LOOSE * (self.primal if self.is_smooth else self.gap):
                if self.delta <= delta:
                    break
                self.next_stage(NARROWER)

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would do (or ``times`` as much were asked for), if only w = Z' alpha held."""
        if stop.gap_tol is None:
            return self.violation < times * stop.tol
        return self.gap <= times * stop.gap_tol * self.primal

    @property
    def scale(self) -> float:
        """Curvature of a row in the band over its entry there."""
        if self.is_smooth:
            return 2.0 if isinstance(self.loss, UNBOUNDED) else 1.0
        return 0.5 / self.delta

    def _accuracy(self) -> float:
        """Return what the next line search may leave of the slope."""
        self._searched += 1
        if isinstance(self.loss, Logistic):
            return SMOOTH_LINE_ACCURACY
        return ROUGH_LINE_ACCURACY if self.is_smooth and self._searched - 1 in ROUGH_SEARCHES else LINE_ACCURACY

    def direction(self) -> np.ndarray:
        """Solve (I + Z_B' S Z_B) p = -residual, in the smaller of the two dimensions; s_i = scale C_i in the band B."""
        scale = self.scale
        smaller = min(self.Z.n_weights, self.band_size)
        self._is_exact = True
        if smaller > LARGEST_FACTOR or (smaller < self.Z.n_weights and smaller * self.Z.n_weights > LARGEST_BLOCK):
            return self._direction_by_products(scale * self.band)
        if self.Z.n_weights <= max(self.band_size, 64):
            H = scale * self._gram()
            H.flat[:: len(H) + 1] += 1.0  # the diagonal
            _, p, _ = lapack.dposv(H.T, -self.residual, lower=True, overwrite_a=True)
            return np.asarray(p)
        if self.band_size == 0:
            return -self.residual
        band = np.flatnonzero(self.band)
        Z = self.Z.block(band)
        K = Z @ Z.T
        K.flat[:: len(K) + 1] += 1.0 / (scale * self.band[band])
        _, u, _ = lapack.dposv(K, Z @ self.residual, lower=True, overwrite_a=True)
        return np.asarray(Z.T @ u - self.residual)

    def _direction_by_products(self, s: np.ndarray) -> np.ndarray:
        """Solve (I + Z' S Z) p = -residual by conjugate gradients, preconditioned by the diagonal, roughly."""
        self._is_exact = False
        diagonal = 1.0 + self.Z.curvature_diagonal(s)
        p, _, n_products = conjugate_gradients(
            lambda d: d + self.Z.curvature_times(s, d),
            lambda r: r / diagonal,
            self.residual,
            FORCING * sqrt(self.distance),
            MOST_PRODUCTS,
        )
        self.run.effort += n_products * steps_worth(s)
        return p

    def _gram(self) -> np.ndarray:
        """Return sum over the band of C_i z_i z_i', by what entered and left it since, or afresh where that is less."""
        if self.is_tiny or self.moved >= self.band_size:
            self.G = np.zeros((self.Z.n_weights, self.Z.n_weights))
            self.counted[:] = 0.0
        self.Z.update_gram(self.band, self.counted, self.G)
        return self.G

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns the decrease that it promised (twice)."""
        if self._room:
            return self._step_at_once()
        p = self.direction()
        t = self.Z.times(p)
        decrement = -float(self.residual @ p)
        if self.is_smooth and self.run.stop.gap_tol is not None:
            self._proposal = self.alpha - self.scale * self.band * t, self.w + p if self._is_exact else None
        tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        self.w += tau * p
        self.respond(tau, t)
        return decrement

    def may_propose(self, decrement: float) -> bool:
        """Tell whether w is good enough, by what its last step promised, and the slopes alone are not."""
        if self._proposal is None or self.run.stop.gap_tol is None:
            return False
        allowed = self.run.stop.gap_tol * self.primal
        return decrement <= allowed * WORTH_A_LOOK and self.gap + 0.5 * self.distance > allowed

    def proposed_dual(self) -> tuple[np.ndarray, float]:
        """Return the dual variables that Newton's equation proposed, moved into the box, and the gap they leave at w.

        It says w + p = Z'(alpha - S Zp), if p is exact: where the step was cut short, or few rows have changed sides,
        these certify much more than the slopes at the new w do.
        """
        assert self._proposal is not None
        a, v = self._proposal
        excess = np.empty_like(a)
        parts = self._terms.each(
            a.size, lambda part, begin, end: compare_duals(self.loss, self.C, self.m, a, excess, begin, end)
        )
        apart = self.w - (self.Z.transposed(a) if v is None else v)
        if v is not None and any(clipped for _, _, clipped in parts):
            apart += self.Z.transposed(excess)
        return a, sum(gap for _, gap, _ in parts) + 0.5 * float(apart @ apart)

    def _step_at_once(self) -> float:
        """Do the same in one call."""
        how = (self.Z.distinct, self.scale, self._accuracy(), LINE_STEPS, self.w)
        args: tuple[Any, ...] = (*self._arrays(), *how, *self._room)
        decrement, sums = newton_step(*args)
        self._locate(*sums)
        self.run.clock.check()
        return float(decrement)

    def _arrays(self) -> tuple[Any, ...]:
        """Return what the calls that do everything at once work on."""
        problem = (self.Z.rows, self.loss, self.C, self.Z.s, self.abar, self.delta)
        return (*problem, self.m, self.alpha, self.band, self.v)

    def _line_search(self, t: np.ndarray, wp: float, pp: float, slope: float) -> float:
        """Return the step to the minimum along the line."""
        accuracy = self._accuracy()
        if self._terms.n_parts == 1:
            line = (self.loss, self.C, self.m, t, self.abar, self.delta, self.scale, wp, pp)
            return step_along(self._searches, slope, accuracy, *line)
        at = beginning(slope)
        for _ in range(LINE_STEPS):
            tau = at[-2]
            first, second = self._derivatives(t, tau)
            at = narrowed(at, first + wp + tau * pp, second + pp, slope, accuracy)
            if at[-1]:
                break
        return float(step_found(at))

    def _derivatives(self, t: np.ndarray, tau: float) -> tuple[float, float]:
        """Return the first and second derivative of the losses along the line, each thread's share added up."""
        args = (self.loss, self.C, self.m, t, self.abar, self.delta, self.scale, tau)
        parts = self._terms.each(t.size, lambda part, begin, end: along_line(*args, begin, end))
        first, second = zip(*parts, strict=True)
        return sum(first), sum(second)


def newton(state: State, run: Run) -> None:
    """Run Newton's method on ``state`` until it is done (or ``run`` ends it), on no more threads than ``run`` has."""
    if state.w.size <= ONE_THREAD_ANYWAY:
        _newton(state, run)
    else:
        with blas().limit(limits=run.team.n_threads, user_api="blas"):
            _newton(state, run)


def _unit(problem: Problem) -> float:
    """Return what is missing at w = 0 on average: 1 for the hinge. Widths are told in it."""
    return float(np.abs(missing(problem.loss, problem.y, 0.0)).mean()) or 1.0


def sample_step(problem: Problem) -> int:
    """Return k where one row in k makes a sample that is worth its cost, else 1."""
    per_weight = SAMPLED_IF_SMOOTH if isinstance(problem.loss, SMOOTH) else SAMPLED_PER_WEIGHT
    return step_between(LEAST_STEP, SAMPLE_STEP, problem, per_weight)


def _smoothed(state: State, run: Run) -> _Smoothed:
    """Return the smoothed problem where it begins: at the solution of a sample, if that is any good, else at w.

    A sample tells more than the sweeps of a phase before this one, but not more than a start that the user gave.
    """
    step, unit = sample_step(state.problem), _unit(state.problem)
    if state.near is not None and run.n_iter == 0:
        delta = min(max(WIDTH_SHARE * state.near.width, LEAST_WIDTH * unit), WIDTH_SHARE * unit)
        return _Smoothed(state, run, run.team, state.from_anchor(state.near.w), delta)
    no_start = not state.w.any() or (run.n_steps > 0 and state.anchor == 0.0)
    part = sample_of(state.problem, step) if step > 1 and no_start else None
    if part is not None:
        zero = np.zeros_like(state.w)
        beginning = State(part, new_variables_of(part, None), zero, state.rng)
        team = run.team if part.data.n_stored >= WORTH_SHARING else ALONE
        sample = _Smoothed(beginning, run, team, zero, DELTA_FIRST * unit)
        sample.approach(SAMPLE_DELTA * unit)
        if np.isfinite(sample.w).all():
            whole = _Smoothed(state, run, run.team, sample.w, sample.delta)
            if whole.primal < objective_at_zero(state.problem):
                return whole
    return _Smoothed(state, run, run.team, state.from_anchor(state.w), DELTA_FIRST * unit)


def _newton(state: State, run: Run) -> None:
    smoothed = _smoothed(state, run)
    best, last_stage, narrow = np.inf, np.inf, DELTA_LAST * _unit(state.problem)
    steps, failed_stages, decrement = 0, 0, np.inf
    for _ in run.sweeps():
        last_decrement, decrement = decrement, smoothed.step()
        steps += 1
        solved = smoothed.is_smooth or smoothed.error <= INNER * smoothed.violation
        reached = smoothed.violation + smoothed.error  # bounds the violation at w = Z' alpha
        # A run may end anywhere, and then this is the model. Without smoothing, w is a better one than Z' alpha.
        if smoothed.is_smooth or reached < (1.0 if solved else WORTH_KEEPING) * best:
            best = reached
            state.variables.alpha[:] = smoothed.alpha
            state.w[:], state.is_primal = state.to_anchor(smoothed.w), smoothed.is_smooth
        run.dual = smoothed.primal - smoothed.gap
        gap = smoothed.gap + 0.5 * smoothed.distance if solved else np.inf  # P(w) - D(alpha)
        if smoothed.may_propose(decrement):
            proposed, proposed_gap = smoothed.proposed_dual()
            if proposed_gap < gap:
                gap, state.variables.alpha[:] = proposed_gap, proposed
        if run.sweep(0, reached, np.nan, gap, criterion=reached, complete=True) is Verdict.SATISFIED:
            break
        if decrement <= SMALL_DECREMENT * smoothed.length and reached <= AT_FLOOR * run.floor():
            raise Ended("rounding")
        most = MOST_IF_SMOOTH if smoothed.is_smooth else MOST_STEPS
        exhausted = steps >= most or decrement <= SMALLEST_DECREMENT * smoothed.length
        if smoothed.is_smooth:
            stalled = FALLING * last_decrement <= decrement <= NO_DECREASE * smoothed.primal
            if exhausted or stalled:
                raise Ended("rounding")
            continue
        # A narrower stage is worth more than the last digits of this one, unless it is to be the last.
        passing = decrement <= LOOSE * smoothed.gap and not smoothed.is_within(run.stop)
        if solved or passing or exhausted:
            failed = not (solved or passing)
            failed_stages += failed
            if failed_stages >= FAILED_STAGES:
                raise Ended("rounding")
            fast = smoothed.violation < FAST * last_stage and smoothed.delta < narrow
            stays = fast or smoothed.is_within(run.stop, CLOSE)
            last_stage, steps = smoothed.violation, 0
            smoothed.next_stage(WIDER if failed else 1.0 if stays else NARROWER)
