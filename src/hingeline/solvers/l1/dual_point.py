"""Feasible dual variables of a problem with an L1 or elastic-net penalty, from the slopes of its losses.

The dual requires |v_j| <= l1_j if l2_j = 0, with v = sum_i alpha_i s_i x_i, and v_j = 0 if column j is the free
intercept's. Variables that nearly satisfy this are scaled: the heavier side down so that both weigh the same, then all
by one factor.

At large C they satisfy it only roughly, since rounding in a score is multiplied by C. Then they are corrected first:
v_j is known at the optimum if w_j is not zero, and the smallest relative change of the variables that leads there is
alpha_i <- alpha_i (1 + s_i <x_i, lambda>)  with  sum_i |alpha_i| x_i x_i' lambda = what is missing in v.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...data.matrix import Data
from ...kernels.passes import add_diagonal, squared_length
from ...kernels.types import Vector
from ...runtime.pace import Pace
from ..certificate import UNIT_ROUNDOFF
from ..newton_equation import solve_scaled
from ..weighted_gram import WeightedGram
from .products import Products, add_exactly

VISIBLE = 1e-9  # fraction of l1: rounding in X' r that is worth a product in twice the precision
VISIBLE_IF_CURVED = 1e-6  # the same if there are no bounds: the gap changes by half the square of that
SPARE = 1e-12  # fraction of l1 that is left free, so that one such product is usually enough
MOST_SHRINKS = 20  # of dual variables that rounding keeps on making infeasible

Point = tuple[Vector, Vector]  # alpha and v


class DualPoints:
    """Makes dual variables feasible: |alpha_i| <= most_i. Slopes are r_i = -s_i alpha_i, and g = X' r."""

    def __init__(self, data: Data, most: Vector, l1: Vector, l2: Vector, products: Products, pace: Pace) -> None:
        self._data, self._most, self._l1 = data, most, l1
        self._products, self._pace = products, pace
        self.bounded = (l2 == 0.0) & (l1 > 0.0)
        self.free = (l1 == 0.0) & (l2 == 0.0)
        self._lengths: Vector | None = None

    def feasible(self, alpha: Vector, r: Vector, g: Vector) -> Point:
        """Return the variables scaled as little as it takes."""
        if self.free.any():
            alpha = _balanced(alpha, r)
            r, g = np.sign(r) * np.abs(alpha), np.empty_like(g)
            self._products.transposed(r, g)
        rounding, l1 = self._rounding(alpha), self._l1[self.bounded]
        if (rounding[self.bounded] > VISIBLE * l1).any():
            # Products of twice the precision tell how far the bounds are exceeded, by rounding of t alpha too.
            t, margin = 1.0 / float(np.max(np.abs(g)[self.bounded] / l1, initial=1.0 - SPARE) + SPARE), 1.0
            for _ in range(MOST_SHRINKS):
                exact = self._transposed_exactly(t * r)
                over = float(np.max(np.abs(exact)[self.bounded] / l1))
                if over <= 1.0 - 2.0 * UNIT_ROUNDOFF:
                    return t * alpha, np.where(self.free, 0.0, -exact)
                t, margin = t / (1.0 + margin * max(over - 1.0, 0.0) + 8.0 * UNIT_ROUNDOFF), 2.0 * margin
        if l1.size == 0 and rounding.max() > VISIBLE_IF_CURVED:
            return alpha.copy(), np.where(self.free, 0.0, -self._transposed_exactly(r))
        t = 1.0 / float(np.max((np.abs(g) + rounding)[self.bounded] / l1, initial=1.0))
        return t * alpha, np.where(self.free, 0.0, -t * g)

    def corrected(self, alpha: Vector, r: Vector, w: Vector) -> list[Point]:
        """Return the variables corrected by what is known at weights like w, then scaled; empty if nothing is known."""
        known = np.flatnonzero((self.bounded & (w != 0.0)) | self.free)
        if known.size == 0:
            return []
        missing = (self._l1 * np.sign(w) + self._transposed_exactly(r))[known]
        K = np.zeros((w.size, w.size))
        WeightedGram(self._data.rows, self._data.distinct, self._pace.between).add(np.abs(r), K)
        multipliers = np.zeros_like(w)
        upper = K[np.ix_(known, known)]
        if not (upper.diagonal() > 0.0).all():
            return []
        multipliers[known] = solve_scaled(np.ascontiguousarray(upper.T), missing)
        signs = np.where(r * alpha < 0.0, 1.0, -1.0)  # s_i, as far as it matters
        change = np.clip(np.sign(alpha) * signs * self._products.times(multipliers), -1.0, 1.0)
        corrected = np.clip(alpha * (1.0 + change), -self._most, self._most)
        return [self.feasible(corrected, -signs * corrected, -self._transposed_exactly(signs * corrected))]

    def _transposed_exactly(self, r: Vector) -> Vector:
        """Return X' r, rounded once."""
        high, low = np.zeros_like(self._l1), np.zeros_like(self._l1)
        for begin, end in self._pace.slices(r.size):
            add_exactly(self._data.rows, r, high, low, begin, end)
        return high + low

    def _rounding(self, alpha: Vector) -> Vector:
        """Return what rounding may have made of each sum_i alpha_i x_ij."""
        n = alpha.size
        if self._lengths is None:
            squares, ones = np.zeros_like(self._l1), np.ones(n)
            for begin, end in self._pace.slices(n):
                add_diagonal(self._data.rows, ones, squares, begin, end)
            self._lengths = np.sqrt(squares)
        roundings = min(n + 2.0, 4.0 * sqrt(n + 2.0))  # the worst case; four times the typical size
        largest = float(np.abs(alpha).max(initial=0.0)) or 1.0  # squares of variables of any size must not overflow
        length = largest * sqrt(squared_length(alpha / largest))
        return roundings * UNIT_ROUNDOFF * length * self._lengths


def _balanced(alpha: Vector, r: Vector) -> Vector:
    """Return alpha with the heavier side (of r's sign) scaled down so that both weigh the same."""
    positive = r > 0.0
    up, down = float(np.abs(alpha[positive]).sum()), float(np.abs(alpha[~positive]).sum())
    heavier = positive if up > down else ~positive
    scale = min(up, down) / max(up, down) if max(up, down) > 0.0 else 1.0
    return np.where(heavier, scale * alpha, alpha)
