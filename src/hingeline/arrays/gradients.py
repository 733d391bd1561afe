"""Conjugate gradients for Newton's equations of several problems over the same rows, side by side on the device.

They are preconditioned by the Hessians' diagonals. (Eigenvectors of X'X, for all problems at once, were worse: rows
without curvature count in X'X.) The host asks the device for its progress only after every few products.

``Gradients`` is written in the array API, for any namespace. fused_gradients.py has kernels that do the same, for CUDA.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.types import Vector
from ..solvers.newton.directions import LARGEST_FACTOR
from .namespace import is_fused
from .rows import ArrayRows

MOST_PRODUCTS = 500
ASKED_EVERY = 4  # products
PER_PROBLEM = 1.0  # what preparing a Hessian costs, in products over dense rows
PER_CURVED_COLUMN = 0.0075  # what summing up all rows in one costs, likewise, per column
PER_FACTOR = 0.17 / 800**3  # what factoring one costs, likewise, per cubed number of columns


class State(NamedTuple):
    """Where conjugate gradients are, a row per problem: (I + X' S X) P + R0 = R, the direction d, and <R, Z>.

    ``D`` are the diagonals of the Hessians, ``enough`` the squared length that R may have.
    """

    P: Any
    R: Any
    d: Any
    rz: Any
    S: Any
    D: Any
    enough: Any


class Gradients:
    """Solves Newton's equations for ``rows``; ``regularised`` is 1, and 0 for a free intercept.

    Attributes
    ----------
    n_products, n_last : int
        Products with the Hessians so far, and in the last call; one for all problems counts once.
    """

    def __init__(self, rows: ArrayRows, regularised: Any) -> None:
        self._rows, self._xp, self._regularised = rows, rows.place.xp, regularised
        self.n_products = self.n_last = 0

    def solve(self, S: Any, R: Any, enough: Vector) -> Any:
        """Return P with (I + X' S_k X) P_k = -R_k, up to a residual of length at most ``enough`` in each problem."""
        xp, place = self._xp, self._rows.place
        D = self._diagonals(S)
        Z = R / D
        at = State(xp.zeros_like(R), R, -Z, xp.sum(R * Z, axis=1), S, D, place.put(enough * enough))
        self.n_last = 0
        for _ in range(MOST_PRODUCTS // ASKED_EVERY):
            at = self._advanced(at)
            self.n_last += ASKED_EVERY
            if not bool(xp.any(self._are_moving(at))):
                break
        self.n_products += self.n_last
        return at.P

    def hessians_pay(self, S: Any) -> bool:
        """Tell whether Hessians, summed up over the rows with curvature and factored, cost no more than the last call.

        Their directions are also better.
        """
        rows, xp, n_problems = self._rows, self._xp, int(S.shape[0])
        columns = rows.n_features
        if not rows.can_sample or columns >= LARGEST_FACTOR or n_problems * PER_PROBLEM > self.n_last:
            return False
        curved = float(xp.sum(xp.astype(S != 0.0, xp.float64))) / rows.n_rows
        cost = n_problems * (PER_PROBLEM + PER_FACTOR * columns**3) + PER_CURVED_COLUMN * columns * curved
        return cost <= self.n_last

    def _diagonals(self, S: Any) -> Any:
        """Return the diagonals of the Hessians, with 1 instead of 0."""
        D = self._regularised + self._rows.diagonals(S)
        return self._xp.where(D > 0.0, D, 1.0 + 0.0 * D)

    def _are_moving(self, at: State) -> Any:
        return (self._xp.sum(at.R * at.R, axis=1) > at.enough) & (at.rz > 0.0)

    def _advanced(self, at: State) -> State:
        """Return the state after some more products; problems that are done stay where they are."""
        xp, rows, S = self._xp, self._rows, at.S
        P, R, d, rz = at[:4]
        one, zero = xp.ones_like(rz), xp.zeros_like(rz)
        for _ in range(ASKED_EVERY):
            Hd = self._regularised * d + rows.transposed_times_many(S * rows.times_many(d))
            curvature = xp.sum(d * Hd, axis=1)
            moving = (xp.sum(R * R, axis=1) > at.enough) & (curvature > 0.0) & (rz > 0.0)
            step = xp.where(moving, rz / xp.where(moving, curvature, one), zero)[:, None]
            P, R = P + step * d, R + step * Hd
            Z = R / at.D
            before, rz = rz, xp.where(moving, xp.sum(R * Z, axis=1), rz)
            d = xp.where(moving[:, None], (rz / xp.where(moving, before, one))[:, None] * d - Z, d)
        return at._replace(P=P, R=R, d=d, rz=rz)


def gradients_of(rows: ArrayRows, regularised: Any, free: bool) -> Gradients:
    """Return conjugate gradients for ``rows``, wherever they are; ``free`` leaves the intercept out of |w|^2."""
    if not is_fused(rows.place):
        return Gradients(rows, regularised)
    from .fused_gradients import FusedGradients

    return FusedGradients(rows, regularised, free)
