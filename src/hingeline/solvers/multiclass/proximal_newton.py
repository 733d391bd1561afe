"""Proximal Newton for Crammer and Singer's classifier: any C and scale.

Problem    min_w   sum_c |w_c|^2/2 + sum_i psi_i(w)                       (smoothed_examples.py)
Gradient   w - sum_i alpha_i (x) x_i        Hessian   I + sum_i J_i (x) x_i x_i'

psi_i is the loss of example i, smoothed around abar_i with sigma_i = q_i/kappa. At the minimum of the sum, abar <-
alpha, and a new stage begins with a larger kappa (stages.py).

Weights are the method's own, and not summed up from alpha: at large C that sum would be mostly rounding. The gap
includes their distance. Up to ``LARGEST_SYSTEM`` unknowns the Hessian is factorised; beyond, conjugate gradients use
its products.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ...kernels.double_double import move, product_of
from ...kernels.passes import add_diagonal
from ...kernels.types import Matrix, Vector
from ...runtime.blas import one_blas_thread
from ...runtime.pace import Pace
from ..clock import Ended
from ..driver import Run
from ..exact.last_resort import is_small_enough
from ..newton.conjugate import conjugate_gradients
from ..newton.triangular import solved_by_rows
from ..newton_equation import solve_scaled
from ..shards.line import MOST_EVALUATIONS, beginning, narrowed, step_found
from ..stages import INNER, SOON, run_stages
from ..stop import GOOD_GAP
from .dual_state import DualState
from .example_passes import add_class_weights
from .newton_system import hessian, inside_bounds
from .precise import PreciseExamples
from .smoothed_examples import Responses, along_line, respond, score_examples

LARGEST_SYSTEM = 2_000  # unknowns; a factorisation takes about 0.1 s, during which Ctrl-C waits
MOST_PRODUCTS, CG_ACCURACY = 200, 0.05  # conjugate gradients: most products per step; fraction of the residual left
NARROWEST = 1e-4  # sigma_i is at least this over C_i: a variable may go from one bound to the other
LINE_ACCURACY = 1e-3  # fraction of the slope that counts as zero
NO_RISE = 1e-8  # relative rise of the objective that is too large to be rounding
UNSEEN = 1e-14  # decrease, relative to the terms it is summed from, that rounding hides from a line search
LARGEST_PRECISE = 100_000  # examples times weights of a problem that is worth twice the precision
SOON_PRECISE = 200  # steps in twice the precision after which a problem that decimals can solve is left to them
SMALL_GAP = 1e-6  # relative
SHARES = (1.0, 0.1, 0.01)  # fractions of a step to try if rounding misled the line search


def proximal_newton(state: DualState, run: Run) -> None:
    """Run the method on ``state`` until it has converged or ``run`` ends it."""
    with one_blas_thread():
        try:
            _newton(state, run)
        except Ended as end:
            if end.reason in ("rounding", "stalled"):
                state.stretch(Pace(run.clock.check_cancelled))
            raise
    state.stretch(Pace(run.clock.check_cancelled))


class SmoothedProblem:
    """The smoothed problem at one point w: scores, responses, residual."""

    def __init__(self, state: DualState, run: Run, kappa: float = 1.0, precise: bool = False) -> None:
        data, examples = state.data, state.examples
        n, self.k = examples.alpha.shape
        self._rows, self._q, self.kappa = data.rows, data.q, kappa
        self._passes, self._searches = Pace(run.clock.check), Pace(run.clock.check)
        self._blocks = Pace(run.clock.check, first=64)
        self.w = examples.w.copy()
        C = np.where(data.q > 0.0, examples.C, 0.0)  # rows of zeros are solved already
        G, abar, alpha = np.zeros((n, self.k)), examples.alpha.copy(), examples.alpha.copy()
        self.responses = Responses(C, np.zeros(n), examples.y, G, abar, alpha)
        self._precise: PreciseExamples | None = None
        if precise:
            self._precise = PreciseExamples(data.rows, self.responses, data.n_features + 1)
        self._low = np.zeros_like(self.w)  # the low-order part of w, if scores are precise
        self._examples = examples
        self._longest = sqrt(2.0 * data.largest_q)
        self.next_stage(1.0)

    @property
    def alpha(self) -> Matrix:
        """The responses."""
        return self.responses.alpha

    @property
    def is_precise(self) -> bool:
        """Whether scores are computed in twice the precision."""
        return self._precise is not None

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the current responses, with ``factor`` times kappa."""
        self.kappa *= factor
        C, _, _, _, abar, alpha = self.responses
        abar[:] = alpha
        in_use = C > 0.0
        with np.errstate(over="ignore"):  # rows of next to zero length
            self.responses.stiffness[in_use] = np.minimum(self.kappa / self._q[in_use], C[in_use] / NARROWEST)
        self._place()
        self._respond(0.0, self.responses.G)

    def _place(self) -> None:
        """Recompute G at w."""
        C, _, y, G, _, _ = self.responses
        if self._precise is not None:
            G[:] = self._precise.differences(self.w, self._low, 1.0)
            return
        G[:] = self._scores_of(self.w) + 1.0
        G[np.arange(C.size), y] -= 1.0

    def _respond(self, tau: float, t: Matrix) -> None:
        """Go on by tau t in G; respond there, and compute the residual w - v, v = sum_i alpha_i (x) x_i."""
        n = len(self.alpha)
        parts = [respond(self.responses, t, tau, begin, end) for begin, end in self._passes.slices(n)]
        violations, losses, gaps, smooth, moved = zip(*parts, strict=True)
        if self._precise is None:
            self._residual = self.w - self._weights_of(self.alpha)
        else:
            self._residual = self._precise.residual(self.w, self._low)
        length, distance = float(self.w @ self.w), float(self._residual @ self._residual)
        self.violation, self.moved = max(violations), sum(moved)
        self.primal = self.size = 0.5 * length + sum(losses)
        self._objective = 0.5 * length + sum(smooth)
        self.gap_at_v = sum(gaps)  # the gap if w were v
        self.gap = self.gap_at_v + 0.5 * distance
        self.error = self._longest * sqrt(distance)  # of a violation at w, if w = v is wanted
        if self._precise is not None:  # w is the model, and its distance matters for the gap alone
            is_near = 0.5 * distance <= INNER**2 * max(self.gap_at_v, SMALL_GAP * self.size)
            self.error = 0.0 if is_near else max(self.error, self.violation)

    def _weights_of(self, alpha: Matrix) -> Vector:
        """Return sum_i alpha_i (x) x_i."""
        examples = self._examples._replace(alpha=alpha, w=np.zeros_like(self.w))
        for begin, end in self._passes.slices(len(alpha)):
            add_class_weights(examples, begin, end)
        return examples.w

    def _squares_of(self, k: Matrix) -> Vector:
        """Return sum_i k_ic x_ij^2 for each class c of each column j."""
        squares = np.zeros((self.w.size // self.k, self.k))
        for c in range(self.k):
            of_class, own = np.zeros(len(squares)), np.ascontiguousarray(k[:, c])
            for begin, end in self._passes.slices(len(k)):
                add_diagonal(self._rows, own, of_class, begin, end)
            squares[:, c] = of_class
        return squares.ravel()

    def _scores_of(self, w: Vector) -> Matrix:
        scores = np.empty_like(self.alpha)
        for begin, end in self._passes.slices(len(scores)):
            score_examples(self._rows, w, scores, begin, end)
        return scores

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns twice the decrease that it promised.

        Returns infinity if the objective rises for any fraction of the step: then rounding has spoiled the direction.
        """
        if self._precise is not None:
            return self._step_precisely(self._precise)
        p = self._direction() if self.w.size <= LARGEST_SYSTEM else self._direction_by_products()
        t, decrement = self._scores_of(p), -float(self._residual @ p)
        tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        before, w, G = self._objective, self.w.copy(), self.responses.G.copy()
        for share in SHARES:
            self.w[:], self.responses.G[:] = w + share * tau * p, G
            self._respond(share * tau, t)
            if self._objective <= before + NO_RISE * abs(before):
                return decrement
        self.w[:], self.responses.G[:] = w, G
        self._respond(0.0, G)
        return inf

    def _step_precisely(self, examples: PreciseExamples) -> float:
        """Do what ``step`` does, with scores and weights in twice the precision."""
        solved = solved_by_rows(examples, -self._residual, is_free=False)
        if solved is None:
            return inf
        p, low = solved
        t = examples.differences(p, low, 0.0)
        decrement = -product_of(self._residual, p, low)
        if not 0.0 < decrement < inf:
            return 0.0 if decrement == 0.0 else inf
        tau = 1.0
        if decrement > UNSEEN * float(np.abs(self.alpha * t).sum()):
            tau = self._line_search(t, float(self.w @ p), float(p @ p), -decrement)
        before, w, w_low = self._objective, self.w.copy(), self._low.copy()
        for share in (*SHARES, 0.0):
            self.w[:], self._low[:] = w, w_low
            move(self.w, self._low, share * tau, p, low)
            self._place()
            self._respond(0.0, t)
            if self._objective <= before + NO_RISE * abs(before):
                return decrement if share > 0.0 else inf
        return inf

    def _direction(self) -> Vector:
        """Return Newton's direction: the solution of H p = -(w - v)."""
        H = hessian(self._rows, self.responses, self.w.size // self.k, self._blocks)
        by_class = np.ascontiguousarray(self._residual.reshape(-1, self.k).T).ravel()
        return np.ascontiguousarray(solve_scaled(H, -by_class).reshape(self.k, -1).T).ravel()

    def _direction_by_products(self) -> Vector:
        """Return approximately Newton's direction, by conjugate gradients."""
        inside, stiffness = inside_bounds(self.responses), self.responses.stiffness[:, None]
        inside[inside.sum(axis=1) < 2] = False
        sizes = np.maximum(inside.sum(axis=1, keepdims=True), 1)

        def product(p: Vector) -> Vector:
            t = np.where(inside, self._scores_of(p), 0.0)
            t -= np.where(inside, t.sum(axis=1, keepdims=True) / sizes, 0.0)
            return p + self._weights_of(stiffness * t)

        diagonal = 1.0 + self._squares_of(stiffness * inside * (1.0 - 1.0 / sizes))
        enough = CG_ACCURACY * sqrt(float(self._residual @ self._residual))
        return conjugate_gradients(product, lambda r: r / diagonal, self._residual, enough, MOST_PRODUCTS)[0]

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
    """Run the stages; if they leave a large gap on a small problem, go on in twice the precision."""
    start = state.refresh(Pace(run.clock.check))
    smoothed = SmoothedProblem(state, run)
    is_small = is_small_enough(state.data, smoothed.w.size)
    try:
        most_steps = SOON if is_small else inf
        run_stages(smoothed, run, start, lambda: state.take(smoothed.alpha, smoothed.w), most_steps)
    except Ended as end:
        if end.reason not in ("rounding", "stalled") or smoothed.w.size * len(smoothed.alpha) > LARGEST_PRECISE:
            raise
        state.stretch(Pace(run.clock.check_cancelled))
        left = state.refresh(Pace(run.clock.check))
        if left.gap <= GOOD_GAP:
            raise
        precise = SmoothedProblem(state, run, smoothed.kappa, precise=True)
        most_steps = SOON_PRECISE if is_small else inf
        run_stages(precise, run, left, lambda: state.take(precise.alpha, precise.w), most_steps)
