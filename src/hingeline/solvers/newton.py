"""Proximal Newton with a dense Cholesky factorisation, for few features (or few rows). Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i psi_i(1 - <z_i, w>)            (kernels/smooth.py; z_i = y_i x_i)
Gradient   w - Z' alpha(w)        Hessian   I + sum over the band of s_i z_i z_i'

For the squared hinge psi_i is the loss itself. For the hinge it is the loss smoothed around abar (at first C/2: the
Huberised hinge) at width delta; when w is optimal for it, a free variable's violation is sigma_i |alpha_i - abar_i|
<= delta. Then abar <- alpha, a smaller delta, and again: the method of multipliers for the dual, whose fixed point
is the exact optimum. Each sub-problem takes a few Newton steps with an exact line search on the stored Zw, Zp.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg import lapack

from ..kernels.losses import SquaredHinge
from ..kernels.smooth import along_line, respond, sum_terms
from .driver import Ended, Run, Verdict
from .operators import RowOperator
from .state import State

DELTA_FIRST, DELTA_LAST = 1.0, 1e-2  # widths: at first, and narrow enough where stages gain FAST
NARROWER, WIDER, FAST = 0.2, 25.0, 0.1
INNER = 0.1  # residual, as a share of the violation, at which a sub-problem counts as solved
LARGEST_FACTOR = 4_000  # rows of a dense Cholesky factor
LARGEST_BLOCK = 20_000_000  # entries of a dense block of rows
LINE_STEPS = 12
AT_FLOOR = 4.0  # times the rounding floor: nothing left to gain
STALLED = 8  # iterations after which a residual that does not halve is left alone
FAILED_STAGES = 3  # sub-problems that rounding leaves unsolved before training ends


def check_size(n_rows: int, n_features: int) -> None:
    """Raise where a dense factorisation is out of reach."""
    if n_features >= LARGEST_FACTOR and (n_rows > LARGEST_FACTOR or n_rows * n_features > LARGEST_BLOCK):
        raise ValueError(
            f'solver="newton" factorises a dense matrix and is meant for few features: X has {n_rows} rows and '
            f'{n_features} columns, at most {LARGEST_FACTOR} columns are supported. Use solver="avsf" or "auto".'
        )


class _Smoothed:
    """The smoothed problem at one point: margins, responses, residual."""

    def __init__(self, state: State, run: Run) -> None:
        problem = state.problem
        check_size(problem.data.n_rows, problem.data.n_features)
        self.loss, self.variables, self.run = problem.loss, state.variables, run
        self.Z = RowOperator(problem, np.ascontiguousarray(state.variables.y, dtype=np.float64), run.passes)
        self.is_smooth = isinstance(problem.loss, SquaredHinge)
        self.delta = 0.0 if self.is_smooth else DELTA_FIRST
        self.alpha = np.ascontiguousarray(state.variables.alpha)
        self.abar = self.alpha.copy()
        if not self.is_smooth and not self.alpha.any():
            self.abar[:] = 0.5 * state.variables.C
        self.s = np.empty_like(self.alpha)
        self.w = state.w.copy()
        self.m = 1.0 - self.Z.times(self.w)
        self.max_z = sqrt(problem.data.largest_q)

    def respond(self) -> None:
        """Compute alpha, the band and the residual w - Z' alpha at the present w."""
        self.violation = 0.0
        self.band_size = 0
        for begin, end in self.run.shuffles.slices(self.m.size):
            violation, band = respond(
                self.loss, self.variables, self.m, self.abar, self.delta, self.alpha, self.s, begin, end
            )
            self.violation = max(self.violation, violation)
            self.band_size += band
        self.residual = self.w - self.Z.transposed(self.alpha)
        self.error = self.max_z * float(np.linalg.norm(self.residual))

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the present alpha and change its width."""
        self.abar[:] = self.alpha
        self.delta *= factor
        self.respond()

    def objective(self) -> tuple[float, float]:
        """Primal objective at w, and the gap as far as w = Z' alpha holds."""
        losses, gap = 0.0, 0.0
        for begin, end in self.run.shuffles.slices(self.m.size):
            loss_part, gap_part = sum_terms(self.loss, self.variables, self.m, self.alpha, begin, end)
            losses, gap = losses + loss_part, gap + gap_part
        return 0.5 * float(self.w @ self.w) + losses, gap

    def direction(self) -> np.ndarray:
        """Solve (I + Z_B' S Z_B) p = -residual, in the smaller of the two dimensions."""
        if self.Z.n_weights <= max(self.band_size, 64):
            _, p, _ = lapack.dposv(self.Z.gram(self.s), -self.residual, lower=True, overwrite_a=True)
            return np.asarray(p)
        if self.band_size == 0:
            return -self.residual
        band = np.flatnonzero(self.s)
        Z = self.Z.block(band)
        K = Z @ Z.T
        K[np.diag_indices_from(K)] += 1.0 / self.s[band]
        _, u, _ = lapack.dposv(K, Z @ self.residual, lower=True, overwrite_a=True)
        return np.asarray(Z.T @ u - self.residual)

    def move(self, p: np.ndarray) -> None:
        """Go to the minimum along p."""
        t = self.Z.times(p)
        tau = self._line_search(t, float(self.w @ p), float(p @ p))
        self.w += tau * p
        self.m -= tau * t

    def _line_search(self, t: np.ndarray, wp: float, pp: float) -> float:
        """Zero of the derivative along the line, piecewise linear and increasing: Newton within a bracket."""
        low, high, tau = 0.0, np.inf, 1.0
        for _ in range(LINE_STEPS):
            first, second = wp + tau * pp, pp
            for begin, end in self.run.shuffles.slices(t.size):
                f, s = along_line(self.loss, self.variables, self.m, t, self.abar, self.delta, tau, begin, end)
                first, second = first + f, second + s
            low, high = (tau, high) if first < 0.0 else (low, tau)
            step = first / second
            if abs(step) <= 1e-3 * tau:
                break
            guess = tau - step
            tau = guess if low < guess < high else (0.5 * (low + high) if high < np.inf else 2.0 * tau)
        return tau


def newton(state: State, run: Run) -> None:
    """Run Newton's method on ``state`` until it is done (or ``run`` ends it)."""
    smoothed = _Smoothed(state, run)
    best, best_stage = np.inf, np.inf
    stage_error, stalled, failed_stages = np.inf, 0, 0
    smoothed.respond()
    for _ in run.sweeps():
        smoothed.move(smoothed.direction())
        smoothed.respond()
        reached = smoothed.violation + smoothed.error  # bounds the violation at w = Z' alpha
        if reached < best:
            best = reached
            state.variables.alpha[:] = smoothed.alpha
            state.w[:] = smoothed.w
        primal, gap = smoothed.objective()
        run.dual = primal - gap
        verdict = run.sweep(0, reached, np.nan, gap, criterion=reached, complete=True)
        if verdict is Verdict.SATISFIED:
            break
        if reached <= AT_FLOOR * run.floor():
            raise Ended("rounding")
        stalled = 0 if smoothed.error < 0.5 * stage_error else stalled + 1
        stage_error = min(stage_error, smoothed.error)
        solved = smoothed.error <= INNER * smoothed.violation
        if not solved and stalled < STALLED:
            continue
        if not solved:  # rounding has the better of this sub-problem: a wider one is better conditioned
            failed_stages += 1
        if failed_stages >= FAILED_STAGES or (smoothed.is_smooth and not solved):
            raise Ended("rounding")
        if not smoothed.is_smooth:
            fast = reached < FAST * best_stage
            best_stage = min(best_stage, reached)
            smoothed.next_stage(WIDER if not solved else 1.0 if fast and smoothed.delta < DELTA_LAST else NARROWER)
            stage_error, stalled = np.inf, 0
