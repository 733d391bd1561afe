"""The smoothed problem of Newton's method at one point: residual, direction, and the step to the next point.

The coordinator's side: it holds w and what has the size of w, and asks the shards for everything else.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import inf, isfinite, sqrt

import numpy as np
from scipy.linalg import lapack

from ...kernels.types import Matrix, Vector
from ...runtime.blas import blas_threads
from ..driver import Run
from ..shards.interface import Responses, Shards
from ..shards.line import Line
from ..stop import Stop
from .conjugate import conjugate_gradients, steps_worth
from .factor import factored
from .regulariser import Regulariser
from .triangular import solved_by_rows

LARGEST_FACTOR = 2_000  # rows of a dense Cholesky factor: about 0.1 s, which Ctrl-C has to wait for
LARGEST_BLOCK = 20_000_000  # entries of a dense block of rows
WORTH_BLAS_THREADS = 500  # rows of a Cholesky factor
FORCING = 0.1  # what conjugate gradients may leave of the residual
MOST_PRODUCTS = 250  # of conjugate gradients per step
LINE_ACCURACY = 1e-3
SMOOTH_LINE_ACCURACY = 0.1  # if the loss has no kinks, a whole step is good enough in the end
ROUGH_LINE_ACCURACY = 0.3  # squared losses: exact searches may end at one kink after the other, so these are not
ROUGH_SEARCHES = range(4, 12)
DAMPING = (1e-14, 1e-2)  # share of its diagonal that is added to the Hessian: what rounding is worth; at the most
HEALTHY = 1e11  # condition number up to which a factor needs neither scaling nor refinement
SHORT_STEP, LONG_STEP = 1e-4, 0.5  # steps along the direction that ask for more damping, and for less
FAR_HIGHER = 1e6  # times the objective
DEPENDENT = 1e12  # condition number from which columns depend on each other as far as a Hessian can tell
DEPENDENT_GAP = 1e-9  # relative gap that dual variables other than the slopes are looked for, for such columns
LARGEST_QR = 1_000_000  # values of the rows that are made triangular instead
TINY = 10_000  # rows times columns; not worth any bookkeeping
WORTH_A_LOOK = 10.0  # times the gap that is asked for: a step that promised no more may have a good certificate


class Smoothed:
    """The smoothed problem of ``shards`` at w: responses, residual w - Z' alpha, objective.

    If the intercept is ``free``, w is without its weight there (regulariser.py).
    """

    def __init__(self, shards: Shards, run: Run, w: Vector, delta: float, free: bool = False) -> None:
        self.shards, self.run = shards, run
        self.regulariser = Regulariser.of(shards, free)
        self.is_smooth = shards.loss.is_smooth
        self.delta = 0.0 if self.is_smooth else delta
        self.is_tiny = shards.n_rows * (shards.n_weights - 1) < TINY
        self._searched = 0
        self._damping = DAMPING[0]
        self._condition = 1.0  # of the last Hessian, scaled: the largest ratio of a diagonal entry to its pivot
        self._G: Matrix = np.zeros((0, 0))
        self._proposed_weights: Vector | None = None  # Z' a of the dual variables that the last step proposed
        self.w, self._highest = w, 0.0
        self._locate(*shards.begin(w, self.delta))

    def _locate(self, responses: Responses, v: Vector) -> None:
        """Take down what the responses are like, and what follows from w and v = Z' alpha."""
        self.v = v
        self.violation, self.band_size, self.moved, losses, self.gap, band = responses  # the gap as far as w = v holds
        u = self.regulariser.part(self.w)
        self.length = float(u @ u)
        self.primal = 0.5 * self.length + losses
        self._highest = max(self._highest, self.primal)
        self.residual = u - v
        self.distance = self.regulariser.squared(self.residual)
        self.error = self.regulariser.error(self.residual, self.scale * band)

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the present alpha and change its width.

        Margins are moved step by step. A free intercept may go far on its way, and leave its rounding in them.
        """
        self.delta *= factor
        if self.regulariser.is_free and self._highest > FAR_HIGHER * self.primal:
            self.shards.place(self.w)
            self._highest = self.primal
        self._locate(*self.shards.recentre(self.delta))

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would do (or ``times`` as much were asked for), if only w = Z' alpha held."""
        if stop.gap_tol is None:
            return self.violation < times * stop.tol
        return self.gap <= times * stop.gap_tol * self.primal

    @property
    def is_finite(self) -> bool:
        """Whether w, the objective and the gap are numbers that a model can have."""
        return isfinite(self.primal) and isfinite(self.gap) and isfinite(self.distance)

    @property
    def scale(self) -> float:
        """Curvature of a row over its entry in the band."""
        return self.shards.loss.curvature_scale / (self.delta or 1.0)

    def _accuracy(self) -> float:
        """Return what the next line search may leave of the slope."""
        searched, self._searched = self._searched, self._searched + 1
        if self.is_smooth and not self.shards.loss.slope_has_kinks:
            return SMOOTH_LINE_ACCURACY
        return ROUGH_LINE_ACCURACY if self.is_smooth and searched in ROUGH_SEARCHES else LINE_ACCURACY

    def _direction(self) -> tuple[Vector, Vector | None]:
        """Solve (I + Z_B' S Z_B) p = -residual; returns p, and what is left of the equation if it is not exact.

        By a Cholesky factor in the smaller of the two dimensions, or by conjugate gradients. If rounding leaves nothing
        that leads downwards, p is the gradient's direction, each entry over its curvature.
        """
        if self.is_flat:
            return self._direction_if_flat(), np.full_like(self.w, inf)
        p, left = self._direction_by_factor(), None
        if p is None or not self._is_descent(p):
            p, left = self._direction_by_products()
        if not self._is_descent(p):
            p = -self.residual / self._diagonal()
            left = np.full_like(p, inf)  # the equation is not solved at all
        return p, left

    @property
    def is_flat(self) -> bool:
        """Whether nothing curves the objective along a free intercept: no row is in the band."""
        return self.regulariser.is_free and self.band_size == 0

    def _direction_if_flat(self) -> Vector:
        """Return the direction of the intercept alone or of all other weights, whichever promises more."""
        p, lacking = -self.residual, float(self.residual[-1])
        p[-1] = 0.0
        alone = np.zeros_like(p)
        alone[-1] = -np.sign(lacking) * (self.delta or 1.0) / self.shards.bias
        return alone if lacking * alone[-1] < float(self.residual @ p) else p

    def _is_descent(self, p: Vector) -> bool:
        """Tell whether p is finite and leads downwards."""
        return -inf < float(self.residual @ p) < 0.0

    def _direction_by_factor(self) -> Vector | None:
        """Return the direction by a Cholesky factor; None if that is too large, or if there is none."""
        n_weights, scale = self.shards.n_weights, self.scale
        smaller = min(n_weights, self.band_size)
        if smaller > LARGEST_FACTOR or (smaller < n_weights and smaller * n_weights > LARGEST_BLOCK):
            return None
        if n_weights <= max(self.band_size, 64):
            H = scale * self._gram()
            self.regulariser.add_curvature(H.reshape(-1)[:: n_weights + 1])
            return self._from_hessian(H)
        if self.band_size == 0:
            return -self.residual
        block = self.shards.band_block()
        return None if block is None else self._from_block(*block)

    def _from_hessian(self, H: Matrix) -> Vector | None:
        """Return the direction by H, of which the upper triangle is read.

        A free intercept is eliminated last: without it, no eigenvalue is below 1.
        """
        if not self.regulariser.is_free:
            p = self._solved(H.T, -self.residual[:, None], least=1.0)
            return None if p is None else p[:, 0]
        h, curvature = H[:-1, -1], float(H[-1, -1])
        solved = self._solved(H.T[:-1, :-1], np.column_stack([-self.residual[:-1], h]), least=1.0)
        if solved is None:
            return None
        p, per_unit = solved.T
        left = max(0.0, curvature - float(h @ per_unit)) + self._damping * curvature
        self._condition = max(self._condition, curvature / left)
        intercept = (-float(self.residual[-1]) - float(h @ p)) / left
        return np.append(p - intercept * per_unit, intercept)

    def _from_block(self, Z: Matrix, band: Vector) -> Vector | None:
        """Return the direction by the rows of the band, Z, and their entries in it."""
        curvatures = self.scale * band
        least = 1.0 / float(curvatures.max())
        if not self.regulariser.is_free:
            K = Z @ Z.T
            K.flat[:: len(K) + 1] += 1.0 / curvatures
            q = self._solved(K, (Z @ self.residual)[:, None], least)
            return None if q is None else np.asarray(Z.T @ q[:, 0] - self.residual)
        X, constant, residual = Z[:, :-1], Z[:, -1], self.residual[:-1]
        K = X @ X.T
        K.flat[:: len(K) + 1] += 1.0 / curvatures
        solved = self._solved(K, np.column_stack([X @ residual, constant]), least)
        if solved is None:
            return None
        q, per_unit = solved.T  # alpha changes by -q + (the intercept's weight) per_unit
        intercept = (float(constant @ q) - float(self.residual[-1])) / float(constant @ per_unit)
        return np.append(X.T @ (q - intercept * per_unit) - residual, intercept)

    def _solved(self, H: Matrix, B: Matrix, least: float) -> Matrix | None:
        """Return H^-1 B by a Cholesky factor of the lower triangle of H; None if there is none.

        No eigenvalue of H is below ``least``, and none is above its trace: mostly that is enough to trust the factor.
        """
        n_threads = self.run.team.n_threads if len(H) >= WORTH_BLAS_THREADS else 1
        with blas_threads(n_threads) if n_threads > 1 else nullcontext():
            diagonal = H.diagonal().copy()
            if self._damping == DAMPING[0] and float(diagonal.sum()) <= HEALTHY * least:
                factor, x, info = lapack.dposv(H, B, lower=True, overwrite_a=True)
                self._condition = float((diagonal / factor.diagonal() ** 2).max()) if info == 0 else inf
                return np.asarray(x) if info == 0 else None
            factor = factored(H, self._damping)
            if factor is None:
                return None
            self._condition = factor.condition
            solve = factor.solve_refined if self._damping == DAMPING[0] else factor.solve
            return np.column_stack([solve(b) for b in B.T])

    def _direction_by_rows(self) -> Vector | None:
        """Return the direction by the rows of the band, made triangular; None if they are many, or of no use.

        A Hessian squares its rows: of columns that differ by a millionth it knows nothing. The rows still do.
        """
        block = self.shards.band_block() if self.band_size * self.shards.n_weights <= LARGEST_QR else None
        if block is None or self.band_size == 0:
            return None
        self._G = np.zeros((0, 0))  # it is not kept up to date
        p = solved_by_rows(block[0], self.scale * block[1], -self.residual, self.regulariser.is_free)
        return p if p is not None and self._is_descent(p) else None

    def _direction_by_products(self) -> tuple[Vector, Vector]:
        """Solve by conjugate gradients, preconditioned by the diagonal, roughly."""
        scale, diagonal = self.scale, self._diagonal()
        p, left, n_products = conjugate_gradients(
            lambda d: self.regulariser.part(d) + scale * self.shards.curvature_times(d),
            lambda r: r / diagonal,
            self.residual,
            FORCING * sqrt(float(self.residual @ self.residual)),
            MOST_PRODUCTS,
        )
        self.run.effort += n_products * steps_worth(self.band_size, self.shards.n_rows)
        return p, left

    def _diagonal(self) -> Vector:
        """Return the Hessian's diagonal."""
        diagonal = self.scale * self.shards.curvature_diagonal()
        self.regulariser.add_curvature(diagonal)
        return diagonal

    def _gram(self) -> Matrix:
        """Return sum over the band of C_i z_i z_i', by what entered and left it since, or afresh if that is less."""
        n = self.shards.n_weights
        afresh = self.is_tiny or len(self._G) != n or self.moved >= self.band_size
        if afresh:
            self._G = np.zeros((n, n))
        self.shards.add_gram(self._G, afresh)
        return self._G

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns the decrease that it promised (twice).

        That is 0, and nothing moves, if no direction leads downwards as far as rounding can tell.
        """
        accuracy = self._accuracy()
        at_once = (self.w, self.v, accuracy, self._damping, self.regulariser.is_free)
        by_rows = self._direction_by_rows() if self._condition > DEPENDENT else None
        done = None if self.is_flat or by_rows is not None else self.shards.whole_step(*at_once)
        if done is not None:
            decrement, tau, self._condition, responses = done
            self._damp(tau)
            self._locate(responses, self.v)
            return decrement
        p, left = self._direction() if by_rows is None else (by_rows, None)
        self._proposed_weights = None
        if not self._is_descent(p):
            return 0.0
        taus = self.shards.first_taus
        values = self.shards.project(p, taus)
        decrement = -float(self.residual @ p)
        if self.is_smooth and self._is_worth_a_look(decrement):
            self.shards.propose(1.0)
            proposed = self.regulariser.part(self.w + p)
            self._proposed_weights = proposed if left is None else proposed - left
        u = self.regulariser.part(p)
        tau = self.shards.step_to_minimum(Line(-decrement, float(self.w @ u), float(u @ u), accuracy), taus, values)
        self._damp(tau)
        self.w += tau * p
        responses, change = self.shards.respond(tau)
        self._locate(responses, self.v + change)
        return decrement

    def _damp(self, tau: float) -> None:
        """Choose the damping of the next direction: more after a short step that rounding may have caused."""
        if tau < SHORT_STEP and self._condition > HEALTHY:
            self._damping = min(DAMPING[1], 100.0 * self._damping)
        elif tau > LONG_STEP:
            self._damping = max(DAMPING[0], 0.1 * self._damping)

    def _is_worth_a_look(self, decrement: float) -> bool:
        """Tell whether w may be good enough for the gap that is asked for, by what a step promises."""
        return decrement <= WORTH_A_LOOK * self._gap_asked * self.primal

    @property
    def _gap_asked(self) -> float:
        """The relative gap that is asked for; 0 if slopes are as good as any dual variables.

        Of columns that depend on each other, slopes are not: rounding in the scores makes them miss w by far.
        """
        asked = self.run.stop.gap_tol or 0.0
        return max(asked, DEPENDENT_GAP) if self._condition > DEPENDENT else asked

    @property
    def is_certified_by_proposals(self) -> bool:
        """Whether columns depend on each other so much that no slopes would certify what the last step proposed."""
        return self._condition > DEPENDENT and self._proposed_weights is not None

    def may_propose(self, decrement: float) -> bool:
        """Tell whether w is good enough, by what its last step promised, and the slopes alone are not."""
        if self._proposed_weights is None or not self._is_worth_a_look(decrement):
            return False
        return self.gap + 0.5 * self.distance > self._gap_asked * self.primal

    def gap_of_proposal(self) -> float:
        """Return the gap at w that is left by the dual variables which Newton's equation proposed.

        It says w + p = Z'(alpha - S Zp), if p is exact: if the step was cut short, or few rows have changed sides,
        these certify much more than the slopes at the new w do.
        """
        assert self._proposed_weights is not None
        _, gap, excess = self.shards.compare()
        apart = self.regulariser.part(self.w) - self._proposed_weights
        if excess is not None:
            apart += excess
        return gap + 0.5 * self.regulariser.squared(apart)
