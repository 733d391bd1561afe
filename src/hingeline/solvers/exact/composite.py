"""The logistic loss with an L1 or elastic-net penalty, in decimals: one quadratic problem after the other.

Problem    min_w   sum_j (l1_j |w_j| + R_j w_j^2/2) + sum_i C_i log(1 + exp(m_i)),   m = c - Zw

At w the losses are expanded to second order, which leaves squares a_i (m_i - m_i(w)) + s_i (m_i - m_i(w))^2/2: pieces
for the interior-point method, one for each sign.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...kernels.types import Vector
from .decimals import ONE, ZERO, Decimals
from .interior import SOLVED as ACCURATE
from .interior import DenseRows, Pieces, Point
from .smooth import LogisticPieces, sigmoid, stepped

MOST_STEPS = 25
SOLVED = Decimal("1e-16")  # promised decrease, as a fraction of the objective, at which the problem is solved
NEAR, ROUGH = Decimal("1e-4"), Decimal("1e-9")  # decrease from which on digits count; accuracy of a problem before that
STRAIGHT = Decimal("0.02")  # least curvature of a row, as a fraction of its slope: flatter rows give endless steps
NOTHING = Decimal("1e-18")  # fraction of the largest slope that counts as zero


class PenalisedLogistic(NamedTuple):
    """A problem as above."""

    R: Decimals
    l1: Decimals
    Z: Decimals
    c: Decimals
    C: Decimals
    start: Decimals

    @property
    def largest(self) -> Vector:
        """Empty: no weight is eliminated."""
        return np.empty(0)

    def tightened(self, at: Point) -> None:
        """Return None: there are no margins to keep."""

    def solved(self, check: Callable[[], None]) -> Point:
        """Return the solution, or the best point that was found."""
        w = min((np.full(self.R.size, ZERO), self.start), key=self._objective)
        value, a = self._objective(w), self._slopes(w)
        accuracy = ROUGH
        for _ in range(MOST_STEPS):
            found = self._expanded(w).solved(check, accuracy)
            if found is None:
                break
            a = self._proposed(w, found)
            step = found.w - w
            promised = self._penalty(w) - self._penalty(found.w) + self._slopes(w) @ (self.Z @ step)
            ahead = stepped(self._objective, w, step, value, promised) if promised > SOLVED * value else None
            if ahead is not None:
                w, value = ahead
            elif accuracy == ACCURATE:
                break
            accuracy = ROUGH if promised > NEAR * value and ahead is not None else ACCURATE
        return Point(w, a, value)

    def _proposed(self, w: Decimals, found: Point) -> Decimals:
        """Return the dual variables of the expanded losses: unlike the slopes at w, they fit the penalty's exactly."""
        slopes = self._slopes(w)
        a, counts = np.full(slopes.size, ZERO), slopes > NOTHING * max(slopes)
        above, below = found.a[2 * np.count_nonzero(self.l1) :].reshape(2, -1)
        a[counts] = above - below
        return a

    def _slopes(self, w: Decimals) -> Decimals:
        return self.C * np.array([sigmoid(m_i) for m_i in self.c - self.Z @ w])

    def _penalty(self, w: Decimals) -> Decimal:
        return (self.l1 * np.abs(w) + self.R * w * w / 2).sum()

    def _objective(self, w: Decimals) -> Decimal:
        return self._penalty(w) + LogisticPieces(ZERO * self.R, self.Z, self.c, self.C).objective(w)

    def _expanded(self, w: Decimals) -> Pieces:
        """Return the problem with the losses expanded at w."""
        m = self.c - self.Z @ w
        s = np.array([sigmoid(m_i) for m_i in m])
        a = self.C * s
        counts = a > NOTHING * max(a)
        a, s, m, Z = a[counts], s[counts], m[counts], self.Z[counts]
        curvatures = np.maximum(a * (ONE - s), STRAIGHT * a)
        c = self.c[counts] - m + a / curvatures
        penalised = np.flatnonzero(self.l1)
        signs = np.full((penalised.size, self.l1.size), ZERO)
        signs[np.arange(penalised.size), penalised] = ONE
        U = np.tile(self.l1[penalised], 2)
        return Pieces(
            self.R,
            np.full(self.R.size, ZERO),
            DenseRows(np.concatenate([signs, -signs, Z, -Z])),
            np.concatenate([np.full(U.size, ZERO), c, -c]),
            np.arange(U.size),
            U,
            np.tile(ONE / curvatures, 2),
        )
