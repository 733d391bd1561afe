"""Proximal Newton for the one-class model: any scale of rows and columns.

Problem    min_w   |w|^2/2 + psi(w)            psi: the smoothed losses at their best rho (smoothed_rows.py)
Gradient   w - sum_i alpha_i x_i
Hessian    I + sum_B k_i (x_i - xbar)(x_i - xbar)'

rho is a free variable that is eliminated: alpha keeps its sum at any time, and columns are centred by their mean over
the band B, so an offset costs no digits. The stages are those of stages.py, with k_i = kappa/q_i. Weights are the
method's own, and not summed up from alpha, since that sum may be mostly rounding. The gap includes their distance.

Up to ``LARGEST_SYSTEM`` features the Hessian is factorised; beyond, conjugate gradients use its products.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ...kernels.passes import squared_length
from ...kernels.rows import DenseRows
from ...kernels.types import Flags, Matrix, Vector
from ...runtime.blas import one_blas_thread
from ...runtime.pace import Pace
from ..driver import Run
from ..exact.last_resort import is_small_enough
from ..newton.conjugate import conjugate_gradients
from ..newton_equation import solve_scaled
from ..shards.line import MOST_EVALUATIONS, beginning, narrowed, step_found
from ..stages import SOON, run_stages
from ..weighted_gram import WeightedGram
from .dual_variables import OneClass
from .pair_steps import one_class_terms
from .smoothed_rows import Search, Smoothing, along_line, bracket, find_rho, respond

LARGEST_SYSTEM = 2_000  # unknowns; a factorisation takes about 0.1 s, during which Ctrl-C waits
NARROWEST = (
    1e-9  # share of |w| |x_i|, the largest possible score, within which a variable may go from one bound to the other
)
NO_ROW = 1e-30  # share of the largest squared norm of a row below which a row is as good as zero
LINE_ACCURACY = 1e-3  # fraction of the slope that counts as zero
NO_RISE = 1e-8  # relative rise of the objective that is too large to be rounding
SHARES = (1.0, 0.1, 0.01)  # fractions of a step to try if rounding misled the line search
EVALUATED_ROWS = 1_000_000  # of a search for rho, between two looks at the clock
MOST_RHO_EVALUATIONS = 200
MOST_PRODUCTS, CG_ACCURACY = 200, 0.05  # conjugate gradients: most products per step; fraction of the residual left
BLOCK = 4096  # dense rows that are copied at a time


def proximal_newton(model: OneClass, run: Run) -> None:
    """Run the method on ``model`` until it has converged or ``run`` ends it."""
    with one_blas_thread():
        start = model.refresh(Pace(run.clock.check))
        smoothed = SmoothedProblem(model, run)
        most_steps = SOON if is_small_enough(model.data, model.data.n_features + 1) else inf
        run_stages(smoothed, run, start, lambda: model.take(smoothed.alpha, smoothed.w), most_steps)


class SmoothedProblem:
    """The smoothed problem at one point w: scores, responses, residual."""

    is_precise = False

    def __init__(self, model: OneClass, run: Run) -> None:
        data = model.data
        self._model, self._passes, self._check = model, Pace(run.clock.check), run.clock.check
        self._gram = WeightedGram(data.rows, data.distinct, run.clock.check)
        self.kappa, self.rho = 1.0, model.rho
        self.w, self.alpha = model.w.copy(), model.alpha.copy()
        n = data.n_rows
        self._smoothing = Smoothing(model.C, np.zeros(n), np.zeros(n), np.zeros(n))
        self._q = np.maximum(data.q, NO_ROW * data.largest_q)
        self._q[self._q == 0.0] = 1.0  # there are rows of zeros alone
        self._longest = 2.0 * sqrt(data.largest_q)
        self.next_stage(1.0)

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the current responses, with ``factor`` times kappa."""
        self.kappa *= factor
        C, stiffness, s, abar = self._smoothing
        abar[:] = self.alpha
        narrowest = NARROWEST * np.sqrt(self._q * max(squared_length(self.w), np.finfo(float).tiny))
        np.minimum(self.kappa / self._q, C / narrowest, out=stiffness)
        s[:] = self._model.scores_of(self.w, self._passes)
        self._respond()

    def _respond(self) -> None:
        """Respond at the current scores, and compute the residual w - v, v = sum_i alpha_i x_i."""
        model, s = self._model, self._smoothing.s
        self.rho = self._rho(s, 0.0)
        linear, sizes, self.moved = respond(self._smoothing, self.rho, self.alpha)
        v = model.weights_of(self.alpha, self._passes)
        self._residual = self.w - v
        length, distance = squared_length(self.w), squared_length(self._residual)
        parts = [one_class_terms(self.alpha, model.C, s, self.rho, *ends) for ends in self._passes.slices(s.size)]
        gaps, least, largest = zip(*parts, strict=True)
        self.violation = max(0.0, max(largest) - min(least))
        self.gap_at_v = sum(gaps)  # as far as w = v holds
        self.gap = self.gap_at_v + 0.5 * distance
        dual = -0.5 * squared_length(v)
        self.primal = dual + self.gap
        self.size = model.size_of(dual + self.gap_at_v, dual, self.alpha)
        self._objective, self._noise = 0.5 * length - linear - 0.5 * self.moved, NO_RISE * (0.5 * length + sizes)
        self.error = self._longest * sqrt(distance)  # of a violation at w, if w = v is wanted

    def _rho(self, t: Vector, tau: float) -> float:
        """Return the best rho at the scores s + tau t."""
        low, high = bracket(self._smoothing, t, tau)
        guess = self.rho if low < self.rho < high else 0.5 * (low + high)
        at: Search = (low, high, guess, False)
        each = max(1, EVALUATED_ROWS // t.size)
        for _ in range(0, MOST_RHO_EVALUATIONS, each):
            at = find_rho(self._smoothing, t, tau, self._model.total, min(each, MOST_RHO_EVALUATIONS), at)
            if at[-1]:
                break
            self._check()
        return at[2]

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns twice the decrease that it promised.

        Returns infinity if the objective rises for any fraction of the step: then rounding has spoiled the direction.
        """
        p = self._direction()
        t, decrement = self._model.scores_of(p, self._passes), -float(self._residual @ p)
        tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        before, w, scores = self._objective, self.w.copy(), self._smoothing.s.copy()
        for share in SHARES:
            self.w[:], self._smoothing.s[:] = w + share * tau * p, scores + share * tau * t
            self._respond()
            if self._objective <= before + self._noise:
                return decrement
        self.w[:], self._smoothing.s[:] = w, scores
        self._respond()
        return inf

    def _line_search(self, t: Vector, wp: float, pp: float, slope: float) -> float:
        at = beginning(slope)
        for _ in range(MOST_EVALUATIONS):
            tau = at[-2]
            first, second = along_line(self._smoothing, t, tau, self._rho(t, tau))
            at = narrowed(at, first + wp + tau * pp, second + pp, slope, LINE_ACCURACY)
            self._check()
            if at[-1]:
                break
        return float(step_found(at))

    def _direction(self) -> Vector:
        """Return Newton's direction: the solution of H p = -(w - v)."""
        C, stiffness, _, _ = self._smoothing
        band = (self.alpha > 0.0) & (self.alpha < C)
        k = np.where(band, stiffness, 0.0)
        if self.w.size - 1 > LARGEST_SYSTEM:
            return self._direction_by_products(k)
        H = self._hessian(k, band)
        p = np.zeros_like(self.w)
        p[:-1] = solve_scaled(H, -self._residual[:-1])
        return p

    def _hessian(self, k: Vector, band: Flags) -> Matrix:
        """Return I + sum_i k_i (x_i - xbar)(x_i - xbar)', the lower triangle at least."""
        d, weight = self.w.size - 1, float(k.sum())
        H = np.zeros((d + 1, d + 1))
        mean = self._model.weights_of(k, self._passes) / (weight if weight > 0.0 else 1.0)
        rows = self._model.data.rows
        if isinstance(rows, DenseRows):
            chosen = np.flatnonzero(band)
            for begin in range(0, chosen.size, BLOCK):
                part = chosen[begin : begin + BLOCK]
                block = (rows.X[part] - mean[:-1]) * np.sqrt(k[part])[:, None]
                H[:-1, :-1] += block.T @ block
                self._check()
        else:
            self._gram.add(k, H)
            H -= weight * np.outer(mean, mean)
        H = np.ascontiguousarray(H[:-1, :-1].T)
        H.flat[:: d + 1] += 1.0
        return H

    def _direction_by_products(self, k: Vector) -> Vector:
        """Return approximately Newton's direction, by conjugate gradients."""
        model, weight = self._model, float(k.sum())

        def product(p: Vector) -> Vector:
            t = model.scores_of(p, self._passes)
            t -= float(k @ t) / weight if weight > 0.0 else 0.0
            return p + model.weights_of(k * t, self._passes)

        diagonal = 1.0 + model.squares_of(k, self._passes)
        length = sqrt(squared_length(self._residual))
        return conjugate_gradients(
            product, lambda r: r / diagonal, self._residual, CG_ACCURACY * length, MOST_PRODUCTS
        )[0]
