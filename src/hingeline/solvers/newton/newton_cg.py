"""Newton's method with conjugate gradients for smooth losses, matrix-free: any number of features. Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i loss_i(m_i),   m_i = m_i(0) - <z_i, w>,   z_i = s_i x_i   (kernels/losses/verbs.py)
Gradient   w - Z' alpha(w)        Hessian   H = I + Z' S Z,   alpha_i and S_ii slope and curvature of loss_i at m_i

If the intercept is free, w and I are without its entry (regulariser.py).

Conjugate gradients find p with H p = -gradient + r, and a line search on the stored m and Zp finds the step tau. They
are preconditioned by the Cholesky factor of H summed over a sample of rows if there are few features, else by H's
diagonal.

A primal method still needs dual variables, for the certificate. Any a in the box will do: with rho = w - Z' a,

    P - D = |rho|^2/2 + sum_i gap_term(m_i, a_i).

The slopes alpha are one choice; then rho is the gradient. Newton's equation itself usually proposes a better one: it
says w + p = Z'(alpha - S Zp) + r, so a = alpha - S Zp leaves rho = r, as small as conjugate gradients made it, and gap
terms of fourth order in p. The better of the two goes with w.

If there are many rows per weight, the first steps are taken on a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil, inf, isfinite, sqrt

import numpy as np

from ...kernels.types import Vector
from ..clock import NEXT_PHASE, Ended
from ..driver import Run, Verdict, run_apart
from ..shards.interface import Responses, Shards
from ..shards.line import Line
from ..shards.sample import step_between
from ..stall import StallCheck
from ..state import State
from ..stop import Stop
from .conjugate import conjugate_gradients, steps_worth
from .factor import factored
from .regulariser import Regulariser

LARGEST_FACTOR = 500  # weights up to which a dense factor is the preconditioner
SAMPLED = 40  # rows per weight in that factor
LEAST_SAMPLE = 2_000
DAMPING = 1e-14  # fraction of its diagonal that is added to the preconditioner
FORCING = 0.1  # residual of conjugate gradients over the gradient, at most
MOST_PRODUCTS = 250  # of conjugate gradients per Newton step
LINE_ACCURACY = 0.3
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
SMALLEST_DECREMENT = 1e-16  # promised decrease over the objective below which it is lost in rounding
PATIENCE = 30  # iterations without progress after which the next engine takes over
STALLED = 3  # steps in a row that promise nothing
SAMPLE_STEP, LEAST_STEP = 16, 4  # one row in this many is sampled; the least for which a sample pays
SAMPLED_PER_WEIGHT = 32  # least number of sampled rows per weight
SAMPLE_STEPS, SAMPLE_DECREASE = 6, 1e-2  # most Newton steps on a sample; relative promised decrease that ends them


def sampled_rows(n_weights: int) -> int:
    """Return the largest number of rows that the preconditioner's factor is made from."""
    return max(LEAST_SAMPLE, SAMPLED * n_weights)


class _Point:
    """A point of the descent: w, its gradient, and the certificate from the dual variables that go with w.

    The shards hold these dual variables a as their proposal; rho = w - Z' a.
    """

    def __init__(self, shards: Shards, run: Run, w: Vector, seed: int, free: bool) -> None:
        self.shards, self.run, self.w = shards, run, w
        self.scale, self.regulariser = shards.loss.curvature_scale, Regulariser.of(shards, free)
        self._seed = seed
        self.is_expensive = False  # whether the last direction took all the products that the budget allows
        self.rho = self.regulariser.part(w) - shards.weights()
        self._locate(*shards.begin(w, 0.0))

    def _locate(self, responses: Responses, v: Vector) -> None:
        """Store the objective and the gradient at w."""
        u = self.regulariser.part(self.w)
        self.curved, self.curvature = responses.band_size, self.scale * responses.band
        self.gradient = u - v
        self.primal = 0.5 * float(u @ u) + responses.losses

    @property
    def is_finite(self) -> bool:
        """Whether w, the objective and the gap are finite."""
        return isfinite(self.primal) and isfinite(self.gap)

    def choose_dual(self) -> None:
        """Keep the proposed dual variables or take the slopes, whichever gives the smaller gap."""
        violation, gap, excess = self.shards.compare()
        if excess is not None:
            self.rho = self.rho + excess
        by_gap = self.run.stop.gap_asked > 0.0
        self.gap = gap + 0.5 * self.regulariser.squared(self.rho)
        self.reached = violation + self.regulariser.error(self.rho, self.curvature)
        slope_gap = 0.5 * self.regulariser.squared(self.gradient)
        slope_reached = self.regulariser.error(self.gradient, self.curvature)
        if (slope_gap < self.gap) if by_gap else (slope_reached < self.reached):
            self.shards.adopt()
            self.rho, self.gap, self.reached = self.gradient, slope_gap, slope_reached

    @np.errstate(over="ignore", invalid="ignore")  # curvature may almost vanish: such directions are not taken
    def direction(self, enough: float) -> tuple[Vector, Vector]:
        """Return p and r with H p = -gradient + r and |r| at most ``enough``; ends the run if there is no such p."""
        allowed = self.run.account.budget.products
        most = ceil(min(MOST_PRODUCTS, allowed))
        if self.shards.n_weights > LARGEST_FACTOR:
            how = (self._diagonal(), self.scale, self.regulariser.is_free, enough, most)
            p, r, n_products = self.shards.solve_by_products(self.gradient, *how)
        else:
            how_to = (self._times_hessian, self._preconditioner())
            p, r, n_products = conjugate_gradients(*how_to, self.gradient, enough, most)
        self.is_expensive = n_products >= allowed
        self.run.effort += n_products * steps_worth(self.curved, self.shards.n_rows)
        if not -inf < float(self.gradient @ p) < 0.0:
            p = self._by_diagonal()(-self.gradient)
            r = self.gradient + self._times_hessian(p)
            if not float(self.gradient @ p) > -inf:
                raise Ended("rounding")
        return p, r

    def _times_hessian(self, d: Vector) -> Vector:
        """Return H d."""
        return self.regulariser.part(d) + self.scale * self.shards.curvature_times(d)

    def _preconditioner(self) -> Callable[[Vector], Vector]:
        """Return a function that approximates the inverse of H."""
        n = self.shards.n_weights
        G = np.zeros((n, n))
        self._seed += 1  # another sample each time
        self.shards.sampled_gram(G, sampled_rows(n), self._seed)
        G *= self.scale
        self.regulariser.add_curvature(G.reshape(-1)[:: n + 1])
        factor = factored(G.T, DAMPING)
        return self._by_diagonal() if factor is None else factor.solve

    def _by_diagonal(self) -> Callable[[Vector], Vector]:
        diagonal = self._diagonal()
        return lambda r: r / diagonal

    def _diagonal(self) -> Vector:
        """Return the Hessian's diagonal."""
        diagonal = self.scale * self.shards.curvature_diagonal()
        self.regulariser.add_curvature(diagonal)
        return diagonal

    def move(self, p: Vector, r: Vector) -> float:
        """Move w and the dual variables along p to the minimum; returns twice the decrease that p promised."""
        taus = self.shards.first_taus
        values = self.shards.project(p, taus)
        slope = float(self.gradient @ p)
        u = self.regulariser.part(p)
        line = Line(slope, float(self.w @ u), float(u @ u), LINE_ACCURACY)
        tau = self.shards.step_to_minimum(line, taus, values)
        self.shards.propose(tau)
        self.w += tau * p
        self.rho = (1.0 - tau) * self.rho + tau * r
        self._locate(*self.shards.respond(tau, afresh=True))
        return -slope


def _solution_of_sample(state: State, run: Run) -> Vector | None:
    """Return weights near the solution of a sample of the rows; None if a sample does not pay or did not help."""
    shards = state.shards
    step = step_between(LEAST_STEP, SAMPLE_STEP, shards.n_rows, shards.n_weights, SAMPLED_PER_WEIGHT)
    no_start = not state.w.any() and not state.begins_near(run.n_iter)
    if step == 1 or not no_start:
        return None
    return shards.solve_sample(step, partial(solution_of_sample, int(state.rng[0]), state.is_free, run.stop))


def solution_of_sample(seed: int, free: bool, stop: Stop, part: Shards) -> Vector | None:
    """Return weights near the solution of the sample ``part``; None if they are not usable."""
    sample = _Point(part, run_apart(stop), np.zeros(part.n_weights), seed, free)
    for _ in range(SAMPLE_STEPS):
        decrement = sample.move(*sample.direction(FORCING * sqrt(float(sample.gradient @ sample.gradient))))
        if decrement <= SAMPLE_DECREASE * sample.primal:
            break
    return sample.w if np.isfinite(sample.w).all() else None


def _beginning(state: State, run: Run) -> _Point:
    """Return the point where the descent begins: a sample's solution, if that is better, else the start."""
    shards, seed = state.shards, int(state.rng[0])
    sampled = _solution_of_sample(state, run)
    if sampled is not None:
        point = _Point(shards, run, sampled, seed, state.is_free)
        if point.primal < shards.losses_at_zero():
            return point
    start = state.near.w if state.near is not None and state.begins_near(run.n_iter) else state.w
    return _Point(shards, run, start.copy(), seed, state.is_free)


def newton_cg(state: State, run: Run) -> None:
    """Run Newton's method on ``state`` until it has converged or ``run`` ends it."""
    point = _beginning(state, run)
    stalled, stall = 0, StallCheck(PATIENCE)
    for sweep in run.sweeps():
        length = sqrt(float(point.gradient @ point.gradient))
        enough = min(FORCING, length / (1.0 + length)) * length
        if run.stop.gap_asked > 0.0:  # r must add only a small part of the allowed gap
            enough = min(FORCING * length, max(enough, sqrt(0.2 * run.stop.gap_asked * point.primal)))
        decrement = point.move(*point.direction(enough))
        point.choose_dual()
        if not point.is_finite:  # the state is still that of the step before
            raise Ended("rounding")
        state.shards.keep(proposed=True)
        state.move_to(point.w, is_primal=True)
        run.dual = point.primal - point.gap
        reached = point.reached
        if run.sweep(0, reached, np.nan, point.gap, reached, True, point.primal) is Verdict.SATISFIED:
            break
        stalled = stalled + 1 if decrement <= SMALLEST_DECREMENT * point.primal else 0
        if point.reached <= AT_FLOOR * run.floor() or stalled == STALLED:
            raise Ended("rounding")
        if stall.is_stalled(sweep, -point.primal, point.reached):
            raise Ended("stalled")
        if point.is_expensive:
            raise Ended(NEXT_PHASE)
