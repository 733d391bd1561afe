"""Newton's method for multinomial logistic regression.

Problem    min_w   sum_c |w_c|^2/2 + sum_i C_i (logsumexp_c <x_i, w_c> - <x_i, w_{y_i}>)
Gradient   w - sum_i alpha_i (x) x_i        Hessian   H = I + sum_i C_i (diag(p_i) - p_i p_i') (x) x_i x_i'

Free intercepts are without their entries in w and I. The step p, with H p = -gradient + r, comes from a Cholesky factor
of H if there are few unknowns, else from conjugate gradients with H's diagonal as preconditioner; a line search on the
stored scores finds its length tau.

Any dual variables a in the simplices certify w: with rho = w - sum_i a_i (x) x_i,

    P - D = |rho|^2/2 + sum_i C_i KL(a_i, softmax(f_i)).

The variables of w itself are one choice; then rho is the gradient. Near the end, what Newton's equation proposes is
better: the variables changed to first order leave rho = (1 - tau) gradient + tau r, and gap terms of fourth order in p.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import inf, isfinite, nan, sqrt

import numpy as np

from ...kernels.types import Matrix, Vector
from ...runtime.blas import one_blas_thread
from ...runtime.pace import Pace
from ..clock import Ended
from ..driver import Run, Verdict
from ..newton.conjugate import conjugate_gradients
from ..newton_equation import solve_scaled
from ..shards.line import MOST_EVALUATIONS, beginning, narrowed, step_found
from ..stall import StallCheck
from ..stop import GOOD_GAP
from .hessian import losses_hessian
from .softmax_state import SoftmaxState

LARGEST_SYSTEM = 2_000  # unknowns; a factorisation takes about 0.1 s, during which Ctrl-C waits
WORTH_A_FACTOR = 150.0  # values of a row, times classes, up to which a Hessian costs less than products
SMALL_SYSTEM = 300  # unknowns that are factorised whatever that costs
ONE_THREAD_ANYWAY = 32  # unknowns; BLAS starts no threads for matrices as small as this
MOST_PRODUCTS = 250  # of conjugate gradients per step
FORCING = 0.1  # fraction of the gradient that they may leave
LINE_ACCURACY = 0.1
FEASIBLE = 0.1  # fraction of a probability that a proposal has to leave
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
SMALLEST_DECREMENT = 1e-16  # promised decrease over the objective below which it is lost in rounding
NO_DECREASE = 1e-13  # relative decrease of the objective that is too small to show
STALLED, HOPELESS = 3, 20  # steps in a row that promise nothing: if the gap is clear, and in any case
CLEAR_GAP = 1e-6  # relative; above it training goes on even if rounding seems to have ended it
PATIENCE = 30  # steps without progress
MOST_STEPS = 1000  # however small the progress: rounding may make it last for ever


def newton_softmax(state: SoftmaxState, run: Run, *, by_products: bool = False) -> None:
    """Run Newton's method on ``state`` until it converges or ``run`` ends it; without a factor if ``by_products``."""
    with nullcontext() if state.w.size <= ONE_THREAD_ANYWAY else one_blas_thread():
        _descend(_Point(state, run, by_products), state, run)


def _descend(point: _Point, state: SoftmaxState, run: Run) -> None:
    lowest, best, stalled, stall = inf, inf, 0, StallCheck(PATIENCE)
    for steps, sweep in enumerate(run.sweeps(), 1):
        decrement = point.step()
        if not point.is_finite:  # the state is still that of the step before
            raise Ended("rounding")
        if point.primal < (1.0 - NO_DECREASE) * lowest or point.gap < best:
            lowest, best = min(point.primal, lowest), point.gap
            state.take(point.alpha, point.w)
        run.dual = point.primal - point.gap
        criterion = point.reached if point.gap <= GOOD_GAP * point.primal else inf
        if run.sweep(0, point.reached, nan, point.gap, criterion, True, point.primal) is Verdict.SATISFIED:
            break
        stalled = stalled + 1 if decrement <= SMALLEST_DECREMENT * point.primal else 0
        at_end = stalled >= STALLED or point.reached <= AT_FLOOR * run.floor()
        if point.gap == 0.0 or (at_end and point.is_clear) or stalled >= HOPELESS:
            raise Ended("rounding")
        if steps >= MOST_STEPS or stall.is_stalled(sweep, -point.primal, point.reached):
            raise Ended("stalled")


class _Point:
    """A point of the descent: w, its gradient, and the dual variables ``alpha`` that give the smallest gap."""

    def __init__(self, state: SoftmaxState, run: Run, by_products: bool) -> None:
        self._state, self._run = state, run
        self._k, self._blocks = state.n_classes, Pace(run.clock.check, first=64)
        self._searches = run.team.pace(run.clock.check)
        self._longest = sqrt(2.0 * state.data.largest_q)
        self.w, self._t = state.w.copy(), np.empty_like(state.alpha)
        self._proposed = np.zeros_like(state.alpha)
        self._may_factor = not by_products and self.w.size <= LARGEST_SYSTEM
        self._by_factor = self._may_factor and self._factor_is_worth_it()
        self._locate()
        self._take_slopes()
        state.take(self.alpha, self.w)

    def _factor_is_worth_it(self) -> bool:
        per_row = self._state.data.n_stored / max(1, self._state.data.n_rows) + 1.0
        return self.w.size <= SMALL_SYSTEM or per_row * self._k <= WORTH_A_FACTOR or len(self._t) <= self.w.size

    def _locate(self) -> None:
        """Store objective and gradient at w."""
        losses, v = self._state.respond(self.w, self._run.passes)
        u = self._state.regularised(self.w)
        self.primal = 0.5 * float(u @ u) + losses
        self.gradient = u - v

    def _take_slopes(self) -> None:
        """Certify by the dual variables of w itself."""
        self.alpha: Matrix = self._state.at.alpha
        self.gap, self.reached = 0.5 * self._squared(self.gradient), self._longest * sqrt(self._squared(self.gradient))

    def _squared(self, rho: Vector) -> float:
        """Return a bound on |rho|^2 after the constraints of free intercepts are satisfied.

        To satisfy them, some rows' variables change by the violation, which moves the weights by at most the violation
        times the length of the longest row.
        """
        squared = float(rho @ rho)
        if self._state.is_free:
            lacking = self._state.intercepts_of(rho)
            length = float(lacking @ lacking)
            squared += ((self._longest / self._state.data.rows.bias) ** 2 - 1.0) * length
        return squared

    @property
    def is_finite(self) -> bool:
        """Whether objective and gap are finite."""
        return isfinite(self.primal) and isfinite(self.gap)

    @property
    def is_clear(self) -> bool:
        """Whether the gap is small."""
        return self.gap <= CLEAR_GAP * self.primal

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is seen in ``is_finite``
    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns twice the decrease that it promised."""
        state, run = self._state, self._run
        p, r = self._direction()
        decrement = -float(self.gradient @ p)
        state.scores_of(p, self._t, run.passes)
        tau = self._line_search(p, -decrement)
        feasible = state.propose(self._t, tau, self._proposed, run.passes) >= FEASIBLE
        rho = (1.0 - tau) * self.gradient + tau * r
        self.w += tau * p
        of_feature = self.w.reshape(-1, self._k)  # a constant for all classes changes no loss
        of_feature -= of_feature.mean(axis=1, keepdims=True)
        self._locate()
        self._take_slopes()
        if feasible and isfinite(self.primal):
            violation, gap = state.compare(self._proposed, run.passes)
            gap += 0.5 * self._squared(rho)
            reached = violation + self._longest * sqrt(self._squared(rho))
            by_gap = run.stop.gap_tol is not None or not self.is_clear
            if gap < self.gap if by_gap else reached < self.reached:
                self.alpha, self.gap, self.reached = self._proposed, gap, reached
        return decrement

    def _line_search(self, p: Vector, slope: float) -> float:
        u = self._state.regularised(p)
        wp, pp, at = float(self.w @ u), float(u @ u), beginning(slope)
        for _ in range(MOST_EVALUATIONS):
            tau = at[-2]
            first, second = self._state.derivatives(self._t, tau, self._searches)
            at = narrowed(at, first + wp + tau * pp, second + pp, slope, LINE_ACCURACY)
            if at[-1]:
                break
        return float(step_found(at))

    def _direction(self) -> tuple[Vector, Vector]:
        """Return p, and r = H p + gradient."""
        if self._by_factor:
            p = self._solved()
            return p, self.gradient + self._times_hessian(p)
        diagonal = self._state.diagonal(self._run.passes)
        diagonal += self._state.regularised(np.ones_like(self.w))
        diagonal[diagonal <= 0.0] = 1.0
        length = sqrt(float(self.gradient @ self.gradient))
        enough = min(FORCING, length / (1.0 + length)) * length
        if self._run.stop.gap_tol is not None:  # r must add only a small part of the allowed gap
            enough = min(FORCING * length, max(enough, sqrt(0.2 * self._run.stop.gap_tol * self.primal)))
        p, r, n_products = conjugate_gradients(
            self._times_hessian, lambda r: r / diagonal, self.gradient, enough, MOST_PRODUCTS
        )
        self._run.effort += n_products * len(self._t)
        self._by_factor = self._may_factor and n_products >= MOST_PRODUCTS  # the diagonal tells too little of H
        if not -inf < float(self.gradient @ p) < 0.0:
            p = -self.gradient / diagonal
            r = self.gradient + self._times_hessian(p)
        return p, r

    def _times_hessian(self, d: Vector) -> Vector:
        return self._state.regularised(d) + self._state.product(d, self._run.passes)

    def _solved(self) -> Vector:
        """Return Newton's direction, by a factor of the Hessian, in which the unknowns lie class by class."""
        state, k, n_weights = self._state, self._k, self.w.size // self._k
        H = losses_hessian(state.at, n_weights, self._blocks)
        H.flat[:: len(H) + 1] += np.tile(state.regularised(np.ones_like(self.w)).reshape(-1, k)[:, 0], k)
        if state.is_free:  # moving all intercepts by the same amount changes nothing
            intercepts = slice(n_weights - 1, None, n_weights)
            H[intercepts, intercepts] += max(float(H.diagonal()[intercepts].mean()), 1e-300) / k
        by_class = np.ascontiguousarray(self.gradient.reshape(-1, k).T).ravel()
        p = solve_scaled(H, -by_class)
        return np.ascontiguousarray(p.reshape(k, -1).T).ravel()
