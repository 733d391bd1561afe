"""Newton's method in decimals for the logistic loss.

Problem    min_w   sum_j R_j w_j^2/2 + sum_i C_i log(1 + exp(m_i)),   m = c - Zw
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...kernels.types import Vector
from .decimals import ONE, ZERO, Cholesky, Decimals, floats
from .interior import Point

MOST_STEPS, MOST_HALVINGS = 150, 60
SOLVED = Decimal("1e-24")  # promised decrease, as a fraction of the objective, at which the problem is solved
FAR = 5000  # margin beyond which the loss is linear to all 80 digits
ENOUGH = Decimal("0.1")  # fraction of the promised decrease that a step must bring


def stepped(
    objective: Callable[[Decimals], Decimal], w: Decimals, step: Decimals, value: Decimal, promised: Decimal
) -> tuple[Decimals, Decimal] | None:
    """Go along ``step``, halved until the objective falls by ENOUGH of what was promised; None if it never does."""
    tau = ONE
    for _ in range(MOST_HALVINGS):
        ahead = objective(w + tau * step)
        if ahead <= value - ENOUGH * tau * promised:
            return w + tau * step, ahead
        tau /= 2
    return None


class LogisticPieces(NamedTuple):
    """A problem as above."""

    R: Decimals
    Z: Decimals
    c: Decimals
    C: Decimals

    @property
    def largest(self) -> Vector:
        """The largest value of each column."""
        return np.asarray(np.abs(floats(self.Z)).max(axis=0))

    def without(self, j: int, value: Decimal) -> LogisticPieces:
        """Return the problem of the other weights if weight ``j`` has this value."""
        kept = np.arange(self.R.size) != j
        return self._replace(R=self.R[kept], Z=self.Z[:, kept], c=self.c - self.Z[:, j] * value)

    def tightened(self, at: Point) -> None:
        """Return None: there are no margins to keep."""

    def objective(self, w: Decimals) -> Decimal:
        """Return the value at w."""
        losses = [C * softplus(m) for C, m in zip(self.C, self.c - self.Z @ w, strict=True)]
        return (self.R * w * w).sum() / 2 + sum(losses, ZERO)

    def solved(self, check: Callable[[], None]) -> Point | None:
        """Return the solution to about 20 digits; None if there is none."""
        w = np.full(self.R.size, ZERO)
        value = self.objective(w)
        for _ in range(MOST_STEPS):
            check()
            s = np.array([sigmoid(m) for m in self.c - self.Z @ w])
            a = self.C * s
            gradient = self.R * w - self.Z.T @ a
            H = self.Z.T @ ((a * (ONE - s))[:, None] * self.Z)
            H[np.diag_indices(len(H))] += self.R
            p = -Cholesky(H).solve(gradient)
            decrement = -(gradient @ p)
            if decrement <= SOLVED * value:
                return Point(w, a, value)
            ahead = stepped(self.objective, w, p, value, decrement)
            if ahead is None:
                return None
            w, value = ahead
        return None


def softplus(m: Decimal) -> Decimal:
    """Return log(1 + exp(m))."""
    if abs(m) > FAR:
        return max(m, ZERO)
    return max(m, ZERO) + (ONE + (-abs(m)).exp()).ln()


def sigmoid(m: Decimal) -> Decimal:
    """Return 1/(1 + exp(-m))."""
    e = (-abs(m)).exp()
    return ONE / (ONE + e) if m >= 0 else e / (ONE + e)
