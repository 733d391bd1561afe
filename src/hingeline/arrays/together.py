"""Newton's method on several problems over the same rows, step by step side by side.

Every product with X serves all problems, as a product of matrices; a row of a matrix belongs to a problem. Newton's
directions come from Hessians that are factored together, or, if the loss is smooth and columns are many, from conjugate
gradients that run side by side; if that takes too long and rows are few, from factors of the rows' products. Losses
that are not smooth are smoothed as in solvers/newton/newton.py: each problem has its own width and centres.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..kernels.losses import Loss
from ..kernels.types import Vector
from ..solvers.newton.newton import sample_step
from .gradients import gradients_of
from .many import Lines, ManyVectors, many_passes
from .namespace import solve_positive, to_numpy
from .row_factors import RowFactors, can_factor_rows
from .rows import ArrayRows, chosen_rows

FEW_COLUMNS = 128  # up to which a Hessian per problem is cheap, if the loss is smooth
FORCING = 0.05  # fraction of the residual that conjugate gradients may leave
ENOUGH = 0.5  # times the square root of the requested gap: what they may leave in any case
LINE_ACCURACY, SMOOTH_LINE_ACCURACY = 1e-3, 0.2


class Point(NamedTuple):
    """Where the problems are, an entry for each; on the host.

    Attributes
    ----------
    violation, losses, gap : what the responses leave if w were Z' alpha
    band : sum of the band's entries
    length : squared length of w, without a free intercept
    distance : squared length of the residual w - Z' alpha
    lacking : its last entry
    promised : twice the decrease that the last step promised
    """

    violation: Vector
    losses: Vector
    gap: Vector
    band: Vector
    length: Vector
    distance: Vector
    lacking: Vector
    promised: Vector

    @property
    def primal(self) -> Vector:
        """The objectives."""
        return 0.5 * self.length + self.losses


@dataclass
class Matrices:
    """What problems have: labels, signs and C_i (a row each, or one for all), weights, margins, centres, widths."""

    Y: Any
    S: Any
    C: Any
    W: Any
    M: Any
    abar: Any
    delta: Any

    def taken(self, xp: Any, numbers: Any) -> Matrices:
        """Return the matrices of some problems."""
        n_problems = self.C.shape[0]

        def own(part: Any) -> Any:
            return xp.take(part, numbers, axis=0) if part.shape[0] == n_problems else part

        return Matrices(*(own(part) for part in vars(self).values()))


def uses_factors(rows: ArrayRows, loss: Loss) -> bool:
    """Tell whether directions come from Hessians that are factored."""
    return rows.n_features < FEW_COLUMNS or not loss.is_smooth


class Together:
    """Problems at one point each.

    Attributes
    ----------
    at : Matrices
    alpha : matrix
        The responses there.
    gap_asked : float
        The requested relative gap, or 0: no equation is solved more accurately than it needs.
    """

    def __init__(self, rows: ArrayRows, loss: Loss, at: Matrices, free: bool, gap_asked: float = 0.0) -> None:
        self.rows, self.loss, self.at, self.free, self.gap_asked = rows, loss, at, free, gap_asked
        self._xp, self._passes = rows.place.xp, many_passes(loss, rows.place)
        xp, n = self._xp, rows.n_features + 1
        ones = rows.place.full((n,), 1.0)
        self._regularised = xp.concat([ones[:-1], 0.0 * ones[-1:]]) if free else ones
        self._gradients = None if uses_factors(rows, loss) else gradients_of(rows, self._regularised, free)
        self._factors = RowFactors(rows, free) if self._gradients is not None and can_factor_rows(rows) else None
        self._promised: Any = None
        self._enough: Vector = np.empty(0)  # how long the rest of each of Newton's equations may be

    @property
    def n_problems(self) -> int:
        """How many problems there are."""
        return int(self.at.C.shape[0])

    def begin(self) -> Point:
        """Compute the margins at the weights, and respond."""
        xp, at, verbs = self._xp, self.at, self._passes.verbs
        at.M = verbs.missing(at.Y, self.rows.times_many(at.W)) + xp.zeros_like(at.C)
        if self.loss.is_smooth:
            at.abar = at.M
        self._promised = xp.full_like(at.delta, float("inf"))
        return self._respond(xp.zeros_like(at.delta), at.M)

    def centre(self) -> None:
        """Centre the smoothing in the middle of the box."""
        least, most = self._passes.verbs.bounds(self.at.C)
        self.at.abar = self.at.C if self.loss.is_smooth else 0.5 * (least + most)

    def _respond(self, tau: Any, t: Any) -> Point:
        xp, at = self._xp, self.at
        found = self._passes.respond(ManyVectors(at.C, at.S, at.M, t, at.abar), tau, at.delta)
        at.M, self.alpha, self._band = found.m, found.alpha, found.band
        if self.loss.is_smooth:
            at.abar = at.M
        U = at.W * self._regularised
        self._V = self.rows.transposed_times_many(found.signed)
        self._R = U - self._V
        sums = [xp.sum(part * part, axis=1) for part in (U, self._R)]
        numbers = xp.concat([found.sums, xp.stack([*sums, self._R[:, -1], self._promised], axis=1)], axis=1)
        point = Point(*to_numpy(numbers).T)
        rest = ENOUGH * np.sqrt(self.gap_asked * np.maximum(point.primal, 0.0))
        self._enough = np.maximum(FORCING * np.sqrt(point.distance), rest)
        return point

    def step(self) -> Point:
        """Go to the minimum along Newton's direction, in every problem."""
        xp, at = self._xp, self.at
        P = self._direction()
        slope = xp.sum(self._R * P, axis=1)
        P = xp.where((slope < 0.0)[:, None], P, -self._R)
        slope = xp.sum(self._R * P, axis=1)
        U = P * self._regularised
        T = at.S * self.rows.times_many(P)
        accuracy = SMOOTH_LINE_ACCURACY if self.loss.is_smooth else LINE_ACCURACY
        lines = Lines(slope, xp.sum(at.W * U, axis=1), xp.sum(P * U, axis=1), accuracy)
        tau = self._passes.search(ManyVectors(at.C, at.S, at.M, T, at.abar), lines, at.delta)
        at.W, self._promised = at.W + tau[:, None] * P, -slope
        return self._respond(tau, T)

    def _direction(self) -> Any:
        """Return Newton's direction in every problem."""
        if self._gradients is None:
            return self._by_factors()
        S = self._scale[:, None] * self._band
        if self._gradients.hessians_pay(S):
            return self._by_factors()
        if self._factors is not None and self._factors.pay(S, self._gradients.n_products):
            return self._factors.solve(S, self._R)
        return self._gradients.solve(S, self._R, self._enough)

    def recentre(self, factors: Vector) -> Point:
        """Centre the smoothing of problems with a factor above 0 at their responses, and multiply its width by it."""
        xp, at = self._xp, self.at
        there = self.rows.place.put(factors)
        moves = there > 0.0
        at.abar = xp.where(moves[:, None], self.alpha, at.abar)
        at.delta = xp.where(moves, there * at.delta, at.delta)
        return self._respond(xp.zeros_like(at.delta), at.M)

    def keep(self, which: list[int]) -> None:
        """Go on with some of the problems only."""
        xp = self._xp
        numbers = self.rows.place.put(np.array(which, dtype=np.int64), xp.int64)
        self.at = self.at.taken(xp, numbers)
        parts = (self.alpha, self._band, self._V, self._R, self._promised)
        self.alpha, self._band, self._V, self._R, self._promised = (xp.take(part, numbers, axis=0) for part in parts)
        self._enough = self._enough[which]

    def model(self, k: int, by_alpha: bool) -> Any:
        """Return the weights of problem ``k``: Newton's own, or those of its dual variables (``by_alpha``)."""
        w, v = self.at.W[k, :], self._V[k, :]
        if not by_alpha:
            return w
        return self._xp.concat([v[:-1], w[-1:]]) if self.free else v

    def losses_at_zero(self) -> Vector:
        """Return the sums of the losses at weights of zero."""
        verbs, at = self._passes.verbs, self.at
        m = verbs.missing(at.Y, 0.0 * at.Y) + 0.0 * at.C
        return to_numpy(self._xp.sum(verbs.primal_terms(m, at.C), axis=1))

    def sample(self) -> Together | None:
        """Return the same problems for a sample of the rows, with C scaled up; None if that does not pay."""
        xp, rows, at = self._xp, self.rows, self.at
        step = sample_step(self.loss, rows.n_rows, rows.n_features + 1) if rows.can_sample else 1
        if step == 1:
            return None
        which = chosen_rows(rows.place, rows.n_rows, step)

        def of_sample(part: Any) -> Any:
            return part if part.shape[1] == 1 else xp.take(part, which, axis=1)

        C = of_sample(at.C)
        whole, part = xp.sum(at.C, axis=1), xp.sum(C, axis=1)
        C = C * xp.where(part > 0.0, whole / xp.where(part > 0.0, part, whole), xp.ones_like(part))[:, None]
        matrices = Matrices(of_sample(at.Y), of_sample(at.S), C, at.W, C, C, at.delta)
        return Together(rows.taken(which), self.loss, matrices, self.free)

    @property
    def _scale(self) -> Any:
        """Curvature of a row over its entry in the band, for each problem."""
        return self.loss.curvature_scale / self.at.delta

    def _by_factors(self) -> Any:
        """Return the directions by the Hessians, factored together."""
        xp = self._xp
        G = self._scale[:, None, None] * self.rows.grams(self._band)
        diagonal = self._regularised + 0.0 * self._R
        if self.free:  # some curvature has to be there
            flat = G[:, -1, -1] <= 0.0
            last = xp.where(flat, xp.ones_like(flat, dtype=xp.float64), 0.0 * G[:, -1, -1])
            diagonal = xp.concat([diagonal[:, :-1], last[:, None]], axis=1)
        identity = xp.eye(int(diagonal.shape[1]), dtype=xp.float64, device=self.rows.place.device)
        H = G + diagonal[:, None, :] * identity
        return -solve_positive(xp, H, self._R[:, :, None])[:, :, 0]
