"""The state of the one-class model: dual variables with their sum, weights, rho, certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from ...data.matrix import Data
from ...kernels.compile import exact_kernel
from ...kernels.passes import add_diagonal, add_weights, scores, scores_at, squared_length, weighted_lengths
from ...kernels.types import Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from .pair_steps import one_class_terms

# The gap is relative to at least these fractions of (sum_i alpha_i |x_i|)^2 and of its largest possible value: the
# optimum may be 0, and so may be the rows that make it.
LEAST_SIZE, NO_SIZE = 1e-12, 1e-28
SLACK = 1e-12  # fraction of the sum of all C_i that counts as zero
MOST_MOVES = 1000  # of single variables, to correct their sum
SAMPLE = 2000  # rows that show roughly where rho lies


@dataclass
class OneClass:
    """The dual variables, rho, and weights: summed up from the variables, or an engine's own, close to that sum."""

    data: Data
    C: Vector
    total: float
    alpha: Vector
    w: Vector
    rho: float = 0.0
    has_own_weights: bool = False

    def weights_of(self, alpha: Vector, pace: Pace) -> Vector:
        """Return sum_i alpha_i x_i."""
        w = np.zeros(self.data.n_features + 1)
        ones = np.ones(self.data.n_rows, dtype=np.float32)
        for begin, end in pace.slices(self.data.n_rows):
            add_weights(self.data.rows, alpha, ones, w, begin, end)
        return w

    def scores_of(self, w: Vector, pace: Pace) -> Vector:
        """Return <x_i, w> for each row."""
        s = np.empty(self.data.n_rows)
        for begin, end in pace.slices(self.data.n_rows):
            scores(self.data.rows, w, s, begin, end)
        return s

    def squares_of(self, k: Vector, pace: Pace) -> Vector:
        """Return sum_i k_i x_ij^2 for each column j."""
        squares = np.zeros(self.data.n_features + 1)
        for begin, end in pace.slices(self.data.n_rows):
            add_diagonal(self.data.rows, k, squares, begin, end)
        return squares

    def start(self, pace: Pace) -> None:
        """Set alpha_i = C_i for the rows with the least scores along the mean, up to the required sum."""
        s = self.scores_of(self.weights_of(self.C, pace), pace)
        least, _ = around_total(s, self.C, self.total)
        self.alpha[:] = np.where(s < least, self.C, 0.0)
        tied = np.flatnonzero(s == least)
        before = np.cumsum(self.C[tied]) - self.C[tied]
        self.alpha[tied] = np.clip(self.total - self.alpha.sum() - before, 0.0, self.C[tied])
        self.w[:] = self.weights_of(self.alpha, pace)

    def start_from(self, alpha0: Vector, pace: Pace) -> None:
        """Start from ``alpha0``, moved into the box and then along a line to the required sum."""
        alpha = np.clip(alpha0, 0.0, self.C)
        reached, most = float(alpha.sum()), float(self.C.sum())
        if reached > self.total:
            alpha *= self.total / reached
        elif most > reached:
            alpha += (self.total - reached) / (most - reached) * (self.C - alpha)
        self.alpha[:] = np.minimum(alpha, self.C)
        self.w[:] = self.weights_of(self.alpha, pace)

    def take(self, alpha: Vector, w: Vector) -> None:
        """Continue from these variables, and from weights that are not summed up from them."""
        self.alpha[:], self.w[:] = alpha, w
        self.has_own_weights = True

    def rho_of_a_sample(self) -> float:
        """Return approximately the best rho at the current w: good enough to estimate a gap."""
        some = np.arange(0, self.data.n_rows, max(1, self.data.n_rows // SAMPLE), dtype=np.uint32)
        C, s = self.C[some], np.empty(some.size)
        scores_at(self.data.rows, some, self.w, s, 0, some.size)
        return quantile(s, C, self.total / self.C.sum() * C.sum()) if C.any() else 0.0

    def refresh(self, pace: Pace) -> Certificate:
        """Make the variables feasible, compute their weights and rho, and return the exact certificate.

        An engine's own weights are kept, and their distance from the weights of the variables is part of the gap.
        """
        make_feasible(
            self.alpha, self.C, self.total, self.data.q, lambda: np.abs(self.rho - self.scores_of(self.w, pace))
        )
        v = self.weights_of(self.alpha, pace)
        if not self.has_own_weights:
            self.w[:] = v
        s = self.scores_of(self.w, pace)
        self.rho = quantile(s, self.C, self.total)
        parts = [one_class_terms(self.alpha, self.C, s, self.rho, *ends) for ends in pace.slices(s.size)]
        gaps, least, largest = zip(*parts, strict=True)
        dual = -0.5 * squared_length(v)
        gap = fsum(gaps) + 0.5 * squared_length(self.w - v)
        violation = max(0.0, max(largest) - min(least))
        primal = dual + gap
        if abs(primal) < 0.5 * abs(dual):  # little of the sum is left, or nothing but its rounding
            primal = fsum(
                [0.5 * squared_length(self.w), -self.total * self.rho, *(self.C * np.maximum(self.rho - s, 0.0))]
            )
        return Certificate.of(violation, primal, gap, self.size_of(primal, dual, self.alpha))

    def size_of(self, primal: float, dual: float, alpha: Vector) -> float:
        """Return what a gap is relative to: |P| or |D|, and at least what rounding may make of them."""
        least = LEAST_SIZE * weighted_lengths(alpha, self.data.q) ** 2
        return max(abs(primal), abs(dual), least, NO_SIZE * self.data.largest_q * self.total**2)

    def snapshot(self) -> Snapshot:
        """Return the model so far."""
        return Snapshot(self.w[:-1].copy(), -self.rho, self.alpha.copy(), np.zeros_like(self.C), self.C.copy())

    def floor(self) -> float:
        """Estimate the violation that rounding leaves at the optimum."""
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * weighted_lengths(self.alpha, self.data.q))


@exact_kernel
def excess(alpha: Vector, total: float) -> float:
    """Return sum_i alpha_i - total, summed in twice the precision."""
    s, low = -total, 0.0
    for i in range(alpha.size):
        t = s + alpha[i]
        added = t - s
        low += (s - (t - added)) + (alpha[i] - added)
        s = t
    return s + low


def make_feasible(alpha: Vector, C: Vector, total: float, q: Vector, misfits: Callable[[], Vector]) -> None:
    """Move alpha into 0 <= alpha_i <= C_i with the sum ``total``; it changes by no more than an engine's rounding.

    A variable between its bounds takes the difference: that of the shortest row, so that the weights change least, or,
    if none has enough room, the one with the most room. A variable at its bound would violate its condition by
    ``misfits``, |rho - s_i|, so it is the last resort.
    """
    np.clip(alpha, 0.0, C, out=alpha)
    for _ in range(MOST_MOVES):
        over = excess(alpha, total)
        if over == 0.0:
            return
        room = alpha if over > 0.0 else C - alpha
        inside = (alpha > 0.0) & (alpha < C)
        enough = inside & (room > abs(over))
        if enough.any():
            i = int(np.argmin(np.where(enough, q, np.inf)))
        elif inside.any():
            i = int(np.argmax(np.where(inside, room, 0.0)))
        else:
            i = int(np.argmin(np.where(room > 0.0, misfits(), np.inf)))
        moved = min(max(alpha[i] - over, 0.0), C[i])
        if moved == alpha[i]:  # less than half a unit in the last place
            return
        alpha[i] = moved


def around_total(s: Vector, C: Vector, total: float) -> tuple[float, float]:
    """Return the least score up to which rows weigh ``total``; and, if they weigh no more than that, the next score."""
    counted = C > 0.0
    if not counted.all():
        s, C = s[counted], C[counted]
    last = s.size - 1
    if (C == C[0]).all():  # selection is ten times as fast as sorting
        place = total / C[0] - SLACK * C.size
        at = min(max(int(np.ceil(place)) - 1, 0), last)
        exact = abs((at + 1) * C[0] - total) <= SLACK * C.size * C[0] and at < last
        at_least = np.partition(s, [at, min(at + 1, last)])
        return float(at_least[at]), float(at_least[at + 1 if exact else at])
    order = np.argsort(s, kind="stable")
    below = np.cumsum(C[order])
    slack = SLACK * below[-1]
    at = min(int(np.searchsorted(below, total - slack)), last)
    exact = abs(below[at] - total) <= slack and at < last
    return float(s[order[at]]), float(s[order[at + 1 if exact else at]])


def quantile(s: Vector, C: Vector, total: float) -> float:
    """Return the rho that minimises -total rho + sum_i C_i max(0, rho - s_i): the middle if it is an interval."""
    return 0.5 * sum(around_total(s, C, total))
