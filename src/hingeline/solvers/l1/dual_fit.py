"""A better dual point for an L1 penalty over many columns: slopes of the losses, fitted to what is known of X' r.

Coordinate descent makes the objective accurate long before the slopes r_i of the losses: at large C, one column in
thousands exceeds its bound by several per cent, and all variables are scaled by that. Here the slopes move as little
as possible, in the metric 1/h_i of the dual objective, so that g = X' r is right:

    min_e   sum_i e_i^2/h_i + sum_j omega_j (missing_j - <x_j, e>)^2          over the rows that have a slope,

by some steps of conjugate gradients (CGLS). A column with a weight is pulled to its bound, g_j = -sign(w_j) l1_j, if it
is not further inside than |w_j|/sigma; this is a step of the augmented Lagrangian method, whose multipliers are w. One
that is further inside has a weight that is about to vanish. A column that exceeds its bound is pulled back, and more
strongly each time. Nothing here has to agree with w, so that kinks do not matter as they do to steps of w.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.types import Flags, Vector
from .columns import Columns, near_part
from .products import ByColumns, Products

STEPS = 60  # of conjugate gradients, in one round
ROUND = 40  # cost of a round: so many visits of each column with a weight
CLOSE = 0.05  # distance of columns from their bound, as a share of it, at which they take part
FIRST, GROWTH = 0.03, 3.0  # share of sigma in the first round, and its growth
LOOSE = 0.1  # root of omega for a column that is not pulled: it should stay where it is


class Slopes(NamedTuple):
    """Slopes r of the losses, and g = X' r."""

    r: Vector
    g: Vector


class DualFit:
    """Rounds of fitting, from the slopes ``r`` with curvatures h at the weights w.

    ``accuracy`` is the share of their bound by which columns may miss it. ``bounded`` says which columns have a bound,
    ``free`` which have g_j = 0 at the optimum, and |r_i| <= most_i.
    """

    def __init__(
        self,
        columns: Columns,
        products: Products,
        w: Vector,
        l1: Vector,
        bounded: Flags,
        free: Flags,
        most: Vector,
        accuracy: float,
    ) -> None:
        self._columns, self._products = columns, products
        self._w, self._l1, self._bounded, self._free, self._most = w, l1, bounded, free, most
        used = np.abs(w[bounded & (w != 0.0)])
        self._sigma = float(used.mean()) / accuracy if used.size else 0.0
        self._share = FIRST  # of sigma
        self._emphasis = np.ones_like(w)

    def round(self, at: Slopes, h: Vector) -> Slopes:
        """Return slopes that fit better than ``at``."""
        r, g = at
        I = np.flatnonzero((r != 0.0) & (h > 0.0))
        size, sign = np.abs(g), np.where(self._w != 0.0, -np.sign(self._w), np.sign(g))
        A = np.flatnonzero(self._bounded & ((self._w != 0.0) | (size > (1.0 - CLOSE) * self._l1)) | self._free)
        inside = self._l1 - sign * g
        pulled = ((inside * self._share * self._sigma < np.abs(self._w)) & self._bounded) | self._free
        missing = np.where(pulled, np.where(self._free, -g, sign * self._l1 - g), 0.0)
        omega = np.where(pulled, self._emphasis, LOOSE)
        near = near_part(self._columns, A.astype(np.uint64), I, np.ones(r.size, dtype=np.float32), self._products.pace)
        sub = ByColumns(near, self._products.pace, I.size)
        moved = r[I] + least_squares(sub, np.sqrt(h[I]), omega[A], missing[A], STEPS)
        moved = np.sign(r[I]) * np.clip(np.sign(r[I]) * moved, 0.0, self._most[I])
        found = Slopes(r.copy(), np.empty_like(g))
        found.r[I] = moved
        self._products.transposed(found.r, found.g)
        over = np.where(self._bounded, np.maximum(np.abs(found.g) - self._l1, 0.0), 0.0)
        self._share = min(1.0, GROWTH * self._share)
        self._emphasis *= 1.0 + over / max(float(over.max()), np.finfo(np.float64).tiny)
        return found


def least_squares(X: Products, scale: Vector, omega: Vector, b: Vector, steps: int) -> Vector:
    """Return e after ``steps`` of CGLS for  min |omega (b - X' e)|^2, e = scale z,  from z = 0."""
    z, left = np.zeros_like(scale), omega * b
    s = scale * X.times(omega * left)
    p, size = s.copy(), float(s @ s)
    q = np.empty_like(b)
    for _ in range(steps):
        X.transposed(scale * p, q)
        q *= omega
        curvature = float(q @ q)
        if not (size > 0.0 and curvature > 0.0):
            break
        z += (size / curvature) * p
        left -= (size / curvature) * q
        s = scale * X.times(omega * left)
        before, size = size, float(s @ s)
        p = s + (size / before) * p
    return scale * z
