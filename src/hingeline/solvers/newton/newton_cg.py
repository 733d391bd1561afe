"""Newton's method with conjugate gradients for smooth losses, matrix-free: any number of features. Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i loss_i(m_i),   m_i = m_i(0) - <z_i, w>,   z_i = s_i x_i   (kernels/losses/verbs.py)
Gradient   w - Z' alpha(w)        Hessian   H = I + Z' S Z,   alpha_i and S_ii slope and curvature of loss_i at m_i

Conjugate gradients find p with H p = -gradient + r, and a line search on the stored m and Zp finds the step tau. They
are preconditioned by the Cholesky factor of H summed over a sample of rows where there are few features, else by H's
diagonal.

A primal method still needs dual variables, for the certificate. Any a in the box will do: with rho = w - Z' a,

    P - D = |rho|^2/2 + sum_i gap_term(m_i, a_i).

The slopes alpha are one choice, and rho is the gradient. Better, mostly, is what Newton's equation itself proposes: it
says w + p = Z'(alpha - S Zp) + r, so a = alpha - S Zp leaves rho = r, as small as conjugate gradients made it, and gap
terms of fourth order in p. The better of the two goes with w.

Where rows are many for each weight, the first steps are those of a sample of the rows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg import lapack

from ...kernels.losses import missing
from ..clock import Ended
from ..driver import Run, Verdict
from ..state import State, new_variables_of
from .conjugate import conjugate_gradients, steps_worth
from .line import line_pace, step_along
from .operators import RowOperator
from .responses import compare_duals, respond_smoothly, sum_terms
from .sample import objective_at_zero, sample_of, step_between

LARGEST_FACTOR = 500  # weights up to which a dense factor is the preconditioner
SAMPLED = 40  # rows for each weight in that factor
LEAST_SAMPLE = 2_000
FORCING = 0.1  # residual of conjugate gradients over the gradient, at most
MOST_PRODUCTS = 250  # of conjugate gradients a Newton step
LINE_ACCURACY = 0.3
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
SMALLEST_DECREMENT = 1e-16  # promised decrease over the objective: beyond, rounding has it
STALLED = 3  # steps in a row that promise nothing
SAMPLE_STEP, LEAST_STEP = 16, 4  # one row in so many is sampled; less is not worth it
SAMPLED_PER_WEIGHT = 32  # rows of a sample, at the least
SAMPLE_STEPS, SAMPLE_DECREASE = 6, 1e-2  # of Newton's method there; promised decrease that ends them, as a share


def sampled_rows(n_weights: int) -> int:
    """Return how many rows the preconditioner's factor is made of, at the most."""
    return max(LEAST_SAMPLE, SAMPLED * n_weights)


class _Point:
    """A point of the descent: w, its margins, slopes and curvatures, and dual variables a that go with w."""

    def __init__(self, state: State, run: Run) -> None:
        problem = state.problem
        self.loss, self.run = problem.loss, run
        self.scale = problem.loss.curvature_scale
        self.Z = RowOperator(problem, problem.signs.astype(np.float64), run.passes)
        self.rng = np.random.default_rng(state.rng[:1])
        self._searches = line_pace(run.clock.check, problem.data.n_rows)
        responding = (state.variables.q > 0.0) & (state.variables.C > 0.0)  # the others are solved already
        self.C = np.where(responding, state.variables.C, 0.0)
        self.settled = np.where(responding, 0.0, state.variables.alpha)
        self.max_z = sqrt(problem.data.largest_q)
        begin = state.near.w if state.near is not None and run.n_iter == 0 else state.w
        self.w = state.from_anchor(begin)
        self.m = missing(self.loss, problem.y, 0.0).astype(np.float64)
        self.alpha, self.s, self.excess = (np.empty_like(self.m) for _ in range(3))
        self.a = np.ascontiguousarray(state.variables.alpha) * responding
        self.rho = self.w.copy()
        if begin.any():
            self.m -= self.Z.times(begin)
        if self.a.any():
            self.rho -= self.Z.transposed(self.a)
        self.settled_losses = sum_terms(
            self.loss, state.variables.C - self.C, self.m, self.settled, 0, problem.data.n_rows
        )[0]
        self.respond()

    def respond(self) -> None:
        """Compute slopes, curvatures, objective and gradient at w."""
        losses = self.settled_losses
        for begin, end in self.run.shuffles.slices(self.m.size):
            losses += respond_smoothly(self.loss, self.C, self.scale, self.m, self.alpha, self.s, begin, end)
        self.gradient = self.w - self.Z.transposed(self.alpha)
        self.primal = 0.5 * float(self.w @ self.w) + losses

    def choose_dual(self) -> None:
        """Keep the proposed dual variables with w, or take the slopes, whichever certifies more."""
        violation, gap, clipped = 0.0, 0.0, False
        for begin, end in self.run.shuffles.slices(self.m.size):
            part = compare_duals(self.loss, self.C, self.m, self.a, self.excess, begin, end)
            violation, gap, clipped = max(violation, part[0]), gap + part[1], clipped or part[2]
        if clipped:
            self.rho = self.rho + self.Z.transposed(self.excess)
        by_gap = self.run.stop.gap_tol is not None
        self.gap = gap + 0.5 * float(self.rho @ self.rho)
        self.reached = violation + self.max_z * sqrt(float(self.rho @ self.rho))
        slope_gap = 0.5 * float(self.gradient @ self.gradient)
        slope_reached = self.max_z * sqrt(2.0 * slope_gap)
        if (slope_gap < self.gap) if by_gap else (slope_reached < self.reached):
            self.a[:], self.rho, self.gap, self.reached = self.alpha, self.gradient, slope_gap, slope_reached

    def direction(self, enough: float) -> tuple[np.ndarray, np.ndarray]:
        """Return p and r with H p = -gradient + r, |r| at most ``enough``."""
        precondition = self._preconditioner()
        p, r, n_products = conjugate_gradients(
            lambda d: d + self.Z.curvature_times(self.s, d), precondition, self.gradient, enough, MOST_PRODUCTS
        )
        self.run.effort += n_products * steps_worth(self.s)
        return p, r

    def _preconditioner(self):  # type: ignore[no-untyped-def]
        """Return a function near to the inverse of H."""
        n = self.Z.n_weights
        if n > LARGEST_FACTOR:
            diagonal = 1.0 + self.Z.curvature_diagonal(self.s)
            return lambda r: r / diagonal
        curved = np.flatnonzero(self.s)
        size = min(curved.size, sampled_rows(n))
        s = self.s
        if size < curved.size:
            sample = self.rng.choice(curved, size, replace=False)
            s = np.zeros_like(s)
            s[sample] = self.s[sample] * (curved.size / size)
        G = np.zeros((n, n))
        self.Z.update_gram(s, np.zeros_like(s), G)
        G.flat[:: n + 1] += 1.0
        factor, _ = lapack.dpotrf(G.T, lower=True, overwrite_a=True)
        return lambda r: lapack.dpotrs(factor, r, lower=True)[0]

    def move(self, p: np.ndarray, r: np.ndarray) -> float:
        """Go along p to the minimum, the dual variables too; returns the decrease that p promised (twice)."""
        t = self.Z.times(p)
        slope = float(self.gradient @ p)
        tau = self._line_search(t, float(self.w @ p), float(p @ p), slope)
        self.w += tau * p
        self.m -= tau * t
        self.a += tau * (self.alpha - self.s * t - self.a)
        self.rho = (1.0 - tau) * self.rho + tau * r
        return -slope

    def _line_search(self, t: np.ndarray, wp: float, pp: float, slope: float) -> float:
        """Return the step along the line."""
        line = (self.loss, self.C, self.m, t, self.a, 0.0, self.scale, wp, pp)
        return step_along(self._searches, slope, LINE_ACCURACY, *line)


def _begin_at_sample(state: State, run: Run) -> bool:
    """Set w near to the solution of a sample of the rows, where there is no start and it is worth it; tell whether."""
    problem = state.problem
    step = step_between(LEAST_STEP, SAMPLE_STEP, problem, SAMPLED_PER_WEIGHT)
    part = sample_of(problem, step) if step > 1 and not state.w.any() else None
    if part is None:
        return False
    sample = _Point(State(part, new_variables_of(part, None), np.zeros_like(state.w), state.rng), run)
    for _ in range(SAMPLE_STEPS):
        decrement = sample.move(*sample.direction(FORCING * sqrt(float(sample.gradient @ sample.gradient))))
        sample.respond()
        if decrement <= SAMPLE_DECREASE * sample.primal:
            break
    if not np.isfinite(sample.w).all():
        return False
    state.w[:], state.is_primal = sample.w, True
    return True


def newton_cg(state: State, run: Run) -> None:
    """Run Newton's method on ``state`` until it is done (or ``run`` ends it)."""
    sampled = _begin_at_sample(state, run)
    point = _Point(state, run)
    if sampled and not point.primal < objective_at_zero(state.problem):
        state.w[:] = 0.0
        point = _Point(state, run)
    stalled = 0
    for _ in run.sweeps():
        length = sqrt(float(point.gradient @ point.gradient))
        enough = min(FORCING, length / (1.0 + length)) * length
        if run.stop.gap_tol is not None:  # what r adds to the gap is to be a small part of what is allowed
            enough = min(FORCING * length, max(enough, sqrt(0.2 * run.stop.gap_tol * point.primal)))
        decrement = point.move(*point.direction(enough))
        point.respond()
        point.choose_dual()
        state.variables.alpha[:] = point.a + point.settled
        state.w[:], state.is_primal = state.to_anchor(point.w), True
        run.dual = point.primal - point.gap
        if run.sweep(0, point.reached, np.nan, point.gap, criterion=point.reached, complete=True) is Verdict.SATISFIED:
            break
        stalled = stalled + 1 if decrement <= SMALLEST_DECREMENT * point.primal else 0
        if point.reached <= AT_FLOOR * run.floor() or stalled == STALLED:
            raise Ended("rounding")
