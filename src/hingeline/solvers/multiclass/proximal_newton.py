"""Proximal Newton for Crammer and Singer's classifier: few unknowns, any C and scale.

Problem    min_w   sum_c |w_c|^2/2 + sum_i psi_i(w)                       (smoothed_examples.py)
Gradient   w - sum_i alpha_i (x) x_i        Hessian   I + sum_i J_i (x) x_i x_i'

psi_i is the loss of example i, smoothed around abar_i with sigma_i = q_i/kappa. At the minimum of the sum, abar <-
alpha, and a new stage begins with a larger kappa (stages.py).

Weights are the method's own, and not summed up from alpha: at large C that sum would be rounding. The gap includes
their distance.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ...kernels.types import Matrix, Vector
from ...runtime.blas import blas
from ...runtime.pace import Pace
from ..clock import Ended
from ..driver import Run
from ..newton_equation import solve_scaled
from ..shards.line import MOST_EVALUATIONS, beginning, narrowed, step_found
from ..stages import run_stages
from .dual_state import DualState
from .example_passes import add_class_weights
from .newton_system import hessian
from .smoothed_examples import Responses, along_line, respond, score_examples

LARGEST_SYSTEM = 2_000  # unknowns; a factorisation takes about 0.1 s, which Ctrl-C has to wait for
NARROWEST = 1e-4  # sigma_i is at least this over C_i: a variable may go from one bound to the other
LINE_ACCURACY = 1e-3  # share of the slope that is as good as zero
NO_RISE = 1e-8  # of an objective, relative: too much to be rounding
SHARES = (1.0, 0.1, 0.01)  # of a step, to be tried if rounding misled the line search


def proximal_newton(state: DualState, run: Run) -> None:
    """Run the method on ``state`` until it is done (or ``run`` ends it)."""
    with blas().limit(limits=1, user_api="blas"):
        try:
            _newton(state, run)
        except Ended as end:
            if end.reason == "rounding":
                state.stretch(Pace(run.clock.check_cancelled))
            raise
    state.stretch(Pace(run.clock.check_cancelled))


class SmoothedProblem:
    """The smoothed problem at one point w: scores, responses, residual."""

    def __init__(self, state: DualState, run: Run) -> None:
        data, examples = state.data, state.examples
        n, self.k = examples.alpha.shape
        self._rows, self._q, self.kappa = data.rows, data.q, 1.0
        self._passes, self._searches = Pace(run.clock.check), Pace(run.clock.check)
        self._blocks = Pace(run.clock.check, first=64)
        self.w = examples.w.copy()
        C = np.where(data.q > 0.0, examples.C, 0.0)  # rows of zeros are solved already
        scores, abar, alpha = np.zeros((n, self.k)), examples.alpha.copy(), examples.alpha.copy()
        self.responses = Responses(C, np.zeros(n), examples.y, scores, abar, alpha)
        self._responding = examples._replace(alpha=alpha, w=np.zeros_like(self.w))
        self._longest = sqrt(2.0 * data.largest_q)
        self.next_stage(1.0)

    @property
    def alpha(self) -> Matrix:
        """The responses."""
        return self.responses.alpha

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the present responses, with ``factor`` times kappa."""
        self.kappa *= factor
        C, _, _, scores, abar, alpha = self.responses
        abar[:] = alpha
        in_use = C > 0.0
        with np.errstate(over="ignore"):  # rows of next to zero length
            self.responses.stiffness[in_use] = np.minimum(self.kappa / self._q[in_use], C[in_use] / NARROWEST)
        scores[:] = self._scores_of(self.w)
        self._respond(0.0, scores)

    def _respond(self, tau: float, t: Matrix) -> None:
        """Go on by tau t in the scores; respond there, and compute the residual w - v, v = sum_i alpha_i (x) x_i."""
        n = len(self.alpha)
        parts = [respond(self.responses, t, tau, begin, end) for begin, end in self._passes.slices(n)]
        violations, losses, gaps, smooth, moved = zip(*parts, strict=True)
        v = self._responding.w
        v[:] = 0.0
        for begin, end in self._passes.slices(n):
            add_class_weights(self._responding, begin, end)
        self._residual = self.w - v
        length, distance = float(self.w @ self.w), float(self._residual @ self._residual)
        self.violation, self.moved = max(violations), sum(moved)
        self.size, self._objective = 0.5 * length + sum(losses), 0.5 * length + sum(smooth)
        self.gap_at_v = sum(gaps)  # as far as w = v holds
        self.gap = self.gap_at_v + 0.5 * distance
        self.error = self._longest * sqrt(distance)  # of a violation at w, if w = v is wanted

    def _scores_of(self, w: Vector) -> Matrix:
        scores = np.empty_like(self.alpha)
        for begin, end in self._passes.slices(len(scores)):
            score_examples(self._rows, w, scores, begin, end)
        return scores

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns the decrease that it promised (twice).

        Infinity if the objective rises whatever share of the step is taken: rounding makes nonsense of it.
        """
        H = hessian(self._rows, self.responses, self.w.size // self.k, self._blocks)
        by_class = np.ascontiguousarray(self._residual.reshape(-1, self.k).T).ravel()
        p = np.ascontiguousarray(solve_scaled(H, -by_class).reshape(self.k, -1).T).ravel()
        t, decrement = self._scores_of(p), -float(self._residual @ p)
        tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        before, w, scores = self._objective, self.w.copy(), self.responses.scores.copy()
        for share in SHARES:
            self.w[:], self.responses.scores[:] = w + share * tau * p, scores
            self._respond(share * tau, t)
            if self._objective <= before + NO_RISE * abs(before):
                return decrement
        self.w[:], self.responses.scores[:] = w, scores
        self._respond(0.0, scores)
        return inf

    def _line_search(self, t: Matrix, wp: float, pp: float, slope: float) -> float:
        at = beginning(slope)
        for _ in range(MOST_EVALUATIONS):
            tau = at[-2]
            slices = self._searches.slices(len(t))
            parts = [along_line(self.responses, t, tau, begin, end) for begin, end in slices]
            first, second = (sum(part) for part in zip(*parts, strict=True))
            at = narrowed(at, first + wp + tau * pp, second + pp, slope, LINE_ACCURACY)
            if at[-1]:
                break
        return float(step_found(at))


def _newton(state: DualState, run: Run) -> None:
    start = state.refresh(Pace(run.clock.check))
    smoothed = SmoothedProblem(state, run)
    run_stages(smoothed, run, start, lambda: state.take(smoothed.alpha, smoothed.w))
