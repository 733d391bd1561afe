"""Proximal Newton for Crammer and Singer's classifier: few unknowns, any C and scale.

Problem    min_w   sum_c |w_c|^2/2 + sum_i psi_i(w)                       (smoothed_examples.py)
Gradient   w - sum_i alpha_i (x) x_i        Hessian   I + sum_i J_i (x) x_i x_i'

psi_i is the loss of example i, smoothed around abar_i with sigma_i = q_i/kappa. At the minimum of the sum, abar <-
alpha, and a new stage begins with a larger kappa: the method of multipliers for the dual, whose fixed point is the
exact optimum for any kappa (as in solvers/newton, for the hinge). kappa begins at one, where a stage is next to
nothing, and grows the faster the fewer steps a stage takes; it stays as it is while stages gain fast. Each stage takes
a few Newton steps with a line search.

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
from ..driver import Run, Verdict
from ..shards.line import MOST_EVALUATIONS, beginning, narrowed, step_found
from ..stop import Stop
from .dual_state import DualState
from .example_passes import add_class_weights
from .newton_system import hessian, solve_scaled
from .smoothed_examples import Responses, along_line, respond, score_examples

LARGEST_SYSTEM = 2_000  # unknowns; a factorisation takes about 0.1 s, which Ctrl-C has to wait for
NARROWEST = 1e-4  # sigma_i is at least this over C_i: a variable may go from one bound to the other
EASY, MODERATE, HARD = (2, 30.0), (6, 8.0), (60, 2.5)  # steps of a stage, and what kappa grows by after it
SOFTER, RECOVERY = 0.04, 3.0  # after a stage that failed: kappa falls by this, and its limit rises by that per stage
FAST = 0.1  # share of the last stage's violation
CLOSE = 4.0  # times what is asked for: from here on a new centre is enough
INNER = 0.1  # residual, as a share of the violation, at which a stage counts as solved
LOOSE = 3e-2  # promised decrease, as a share of what the stage has moved, at which one that is not the last ends
LINE_ACCURACY = 1e-3  # share of the slope that is as good as zero
NO_DECREASE, NO_RISE = 1e-14, 1e-8  # of an objective, relative: hidden by rounding; too much to be rounding
SHARES = (1.0, 0.1, 0.01)  # of a step, to be tried if rounding misled the line search
BETTER, WORTH_A_STAGE = 0.5, 1e-2  # times the best violation or gap; dual gain, as a share of the gap
FEW_STAGES, MANY_STAGES = 4, 30  # without progress, before training ends: with a good gap, and without one
MOST_STAGES = 500  # in any case
NO_GAP, GOOD_GAP, GAP_PER_TOL = 1e-14, 1e-4, 100.0  # relative gaps: zero; one that tol may end with, also times tol


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
        self.primal, self._objective = 0.5 * length + sum(losses), 0.5 * length + sum(smooth)
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

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would do (or ``times`` as much were asked for), if only w = v held."""
        if stop.gap_tol is None:
            return self.violation < times * stop.tol
        return self.gap_at_v <= times * stop.gap_tol * self.primal


class Stages:
    """When a stage ends, how stiff the next one is, and when no further one is worth it."""

    def __init__(self, smoothed: SmoothedProblem) -> None:
        self._smoothed = smoothed
        self._best_violation, self._last_violation, self._gap = inf, inf, inf
        self._steps, self._stages, self._stalled, self._largest_kappa = 0, 0, 0, inf

    def after_step(self, decrement: float, best_gap: float, good_gap: float, stop: Stop) -> None:
        """Begin the next stage if this one is done; raises ``Ended`` if the stages have come to an end."""
        smoothed, primal = self._smoothed, self._smoothed.primal
        if best_gap <= NO_GAP * primal:
            raise Ended("rounding")
        self._steps += 1
        solved = smoothed.error <= INNER * smoothed.violation or decrement <= NO_DECREASE * primal
        # A stiffer stage is worth more than the last digits of this one, unless it is to be the last.
        passing = decrement <= LOOSE * smoothed.moved and not smoothed.is_within(stop)
        failed = not (solved or passing)
        if failed and decrement < inf and self._steps < HARD[0]:
            return
        if self._is_stalled(best_gap, FEW_STAGES if best_gap <= good_gap * primal else MANY_STAGES):
            raise Ended("rounding")
        is_rounding = smoothed.gap_at_v <= good_gap * primal < smoothed.gap
        factor = SOFTER if is_rounding else self._factor(failed, stop)
        self._last_violation, self._steps = smoothed.violation, 0
        smoothed.next_stage(factor)

    def _is_stalled(self, gap: float, most: int) -> bool:
        """Count a stage; tells whether so many have brought nothing."""
        violation = self._smoothed.violation
        improved = violation < BETTER * self._best_violation or gap < BETTER * self._gap
        self._best_violation, self._gap = min(self._best_violation, violation), gap
        self._stalled = 0 if improved or self._smoothed.moved > WORTH_A_STAGE * gap else self._stalled + 1
        self._stages += 1
        return self._stalled >= most or self._stages >= MOST_STAGES

    def _factor(self, failed: bool, stop: Stop) -> float:
        """Return what kappa is to be multiplied by."""
        smoothed = self._smoothed
        if failed:
            self._largest_kappa = 0.2 * smoothed.kappa
            return SOFTER
        self._largest_kappa *= RECOVERY
        if smoothed.violation < FAST * self._last_violation or smoothed.is_within(stop, CLOSE):
            return 1.0
        growth = next(growth for most, growth in (EASY, MODERATE, HARD) if self._steps <= most)
        return max(1.0, min(growth, self._largest_kappa / smoothed.kappa))


def _newton(state: DualState, run: Run) -> None:
    start = state.refresh(Pace(run.clock.check))
    best_gap = start.primal - start.dual
    smoothed = SmoothedProblem(state, run)
    stages = Stages(smoothed)
    good_gap = min(GOOD_GAP, GAP_PER_TOL * run.stop.tol)
    for _ in run.sweeps():
        decrement = smoothed.step()
        reached = smoothed.violation + smoothed.error
        # At large C a small violation may still be a large gap, and then the rule is not met yet.
        meets_tol = reached < run.stop.tol and smoothed.gap <= good_gap * smoothed.primal
        if smoothed.gap < best_gap or meets_tol:  # a run may end anywhere, and then this is the model
            best_gap = min(smoothed.gap, best_gap)
            state.take(smoothed.alpha, smoothed.w)
        run.dual = smoothed.primal - smoothed.gap
        criterion = reached if meets_tol else inf
        if run.sweep(0, reached, np.nan, smoothed.gap, criterion, complete=True) is Verdict.SATISFIED:
            break
        stages.after_step(decrement, best_gap, good_gap, run.stop)
