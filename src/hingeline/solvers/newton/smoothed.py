"""The smoothed problem of Newton's method at one point: margins, responses, residual, and the step to the next point.

Written against the operator interface of operators.py, in which the matrix Z appears as products and Gram matrix alone.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...kernels.losses import lower, missing, upper
from ...runtime.threads import Team
from ..driver import Run
from ..state import State
from ..stop import Stop
from .conjugate import conjugate_gradients, steps_worth
from .line import LINE_STEPS, beginning, line_pace, step_along
from .operators import RowOperator
from .responses import along_line, compare_duals, narrowed, respond, step_found
from .step_at_once import newton_step, respond_at_once

LARGEST_FACTOR = 2_000  # rows of a dense Cholesky factor: about 0.1 s, which Ctrl-C has to wait for
LARGEST_BLOCK = 20_000_000  # entries of a dense block of rows
FORCING = 0.1  # what conjugate gradients may leave of the residual
MOST_PRODUCTS = 250  # of conjugate gradients a step
LINE_ACCURACY = 1e-3
SMOOTH_LINE_ACCURACY = 0.1  # where the loss has no kinks, a whole step is good enough in the end
ROUGH_LINE_ACCURACY = 0.3  # squared losses: exact searches may end at one kink after the other, so these are not
ROUGH_SEARCHES = range(4, 12)
TINY = 10_000  # rows times columns; not worth any bookkeeping
FEW_WEIGHTS, AT_ONCE = 64, 300_000  # so few weights, and rows times weights: a step is one call of some milliseconds
WORTH_A_LOOK = 10.0  # times the gap that is asked for: a step that promised no more may have a good certificate


class Smoothed:
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
        self.is_smooth = problem.loss.is_smooth
        self.delta = 0.0 if self.is_smooth else delta
        self._searched = 0
        responding = (state.variables.q > 0.0) & (state.variables.C > 0.0)  # the others are solved already
        self.C = np.where(responding, state.variables.C, 0.0)
        self.alpha = np.ascontiguousarray(state.variables.alpha)
        self.abar = self.alpha if self.is_smooth else self.alpha.copy()  # smooth losses are not smoothed around it
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

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would do (or ``times`` as much were asked for), if only w = Z' alpha held."""
        if stop.gap_tol is None:
            return self.violation < times * stop.tol
        return self.gap <= times * stop.gap_tol * self.primal

    @property
    def scale(self) -> float:
        """Curvature of a row in the band over its entry there."""
        return self.loss.curvature_scale / (1.0 if self.is_smooth else self.delta)

    def _accuracy(self) -> float:
        """Return what the next line search may leave of the slope."""
        searched, self._searched = self._searched, self._searched + 1
        if not self.loss.slope_has_kinks:
            return SMOOTH_LINE_ACCURACY
        return ROUGH_LINE_ACCURACY if self.is_smooth and searched in ROUGH_SEARCHES else LINE_ACCURACY

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
        self._proposal = None
        if self.is_smooth and self._is_worth_a_look(decrement):
            self._proposal = self.alpha - self.scale * self.band * t, self.w + p if self._is_exact else None
        tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        self.w += tau * p
        self.respond(tau, t)
        return decrement

    def _is_worth_a_look(self, decrement: float) -> bool:
        """Tell whether w may be good enough for the gap that is asked for, by what a step promises."""
        gap_tol = self.run.stop.gap_tol
        return gap_tol is not None and decrement <= WORTH_A_LOOK * gap_tol * self.primal

    def may_propose(self, decrement: float) -> bool:
        """Tell whether w is good enough, by what its last step promised, and the slopes alone are not."""
        if self._proposal is None or self.run.stop.gap_tol is None or not self._is_worth_a_look(decrement):
            return False
        return self.gap + 0.5 * self.distance > self.run.stop.gap_tol * self.primal

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
