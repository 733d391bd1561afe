"""A problem with the penalty sum_j l1_j |w_j| + l2_j w_j^2/2 at one w: its expansion there, and its certificate.

The certificate needs a feasible dual point: a_i as the losses' slopes at w call for, the heavier side scaled down if
a free intercept asks for sum_i a_i s_i = 0, then all by t = min(1, min_j l1_j/|v_j|) over the columns with l2_j = 0. So

    P - D = sum_i gap_term(m_i, t a_i) + sum_j [penalty_j(w_j) + penalty*_j(t v_j) - t v_j w_j],   every term >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from ...data.problem import Problem
from ...kernels.types import Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from .columns import Columns
from .expansion import Expansion, RowLosses, expand, row_terms
from .products import ByColumns, ByRows, Products


class Penalised:
    """The problem at one w: scores, slopes, curvatures, gradient."""

    def __init__(
        self, problem: Problem, columns: Columns | None, l1: Vector, l2: Vector, between: Callable[[], None]
    ) -> None:
        self.problem, self.columns, self.l1, self.l2 = problem, columns, l1, l2
        n = problem.data.n_rows
        C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), n).copy()
        self._row_losses = RowLosses(problem.loss, problem.y, C)
        self.caution = 0.0
        self.pace = Pace(between)
        self.products: Products
        if columns is None:
            self.products = ByRows(problem.data, Pace(between))
        else:
            self.products = ByColumns(columns, Pace(between, first=256), n)
        self.w = np.zeros(l1.size)
        self.f = np.zeros(n)
        self.alpha, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.feasible = self.alpha  # dual variables that the last certificate is about
        self._values, self._values_there = np.zeros(n), np.empty(n)  # of the losses, here and at the end of a step
        self.g = np.empty(l1.size)
        self.free = (l1 == 0.0) & (l2 == 0.0)  # the intercept, if there is one and it is free

    def call_between_slices(self, between: Callable[[], None]) -> None:
        """Have ``between`` called between slices of work from now on."""
        self.pace.between = self.products.pace.between = between

    def penalty(self, w: Vector) -> float:
        """Return sum_j l1_j |w_j| + l2_j w_j^2/2."""
        return float(np.sum(self.l1 * np.abs(w)) + 0.5 * np.sum(self.l2 * w * w))

    def expand(self) -> None:
        """Bring slopes, curvatures, gradient and violation up to date with f and w."""
        self.look(self.f, 0.0, self.caution)
        self.move(self.w, self.f, 0.0, self.caution)
        self.slopes()

    def look(self, u: Vector, tau: float, caution: float) -> float:
        """Expand the losses at f + tau u; returns how much their sum changes."""
        change = 0.0
        there = Expansion(self._values_there, self.alpha, self.r, self.h)
        for begin, end in self.pace.slices(self.f.size):
            change += expand(self._row_losses, self.f, u, tau, caution, self._values, there, begin, end)
        return change

    def move(self, d: Vector, u: Vector, tau: float, caution: float) -> None:
        """Go to where the last ``look`` was, w + tau d with the scores f + tau u; ``slopes`` come after it."""
        if tau > 0.0:
            self.w += tau * d
            self.f += tau * u
        self.caution = caution
        self._values, self._values_there = self._values_there, self._values
        self.losses = float(self._values.sum())

    def slopes(self) -> None:
        """Bring gradient and violation up to date with the slopes of the losses and w."""
        self.products.transposed(self.r, self.g)
        slope = self.g + self.l2 * self.w
        at_zero = np.maximum(np.abs(slope) - self.l1, 0.0)
        self.violations = np.where(self.w == 0.0, at_zero, np.abs(slope + np.sign(self.w) * self.l1))
        self.violation = float(self.violations.max())

    def refresh(self) -> None:
        """Compute the scores afresh, and all that follows from them."""
        self.f[:] = self.products.times(self.w)
        self.expand()

    def certify(self, pace: Pace) -> Certificate:
        """Return the certificate of the present expansion: a ``feasible`` dual point, and the gap term by term."""
        alpha, g = self.alpha, self.g
        if self.free.any():
            alpha = _balanced(self.alpha, self.r)
            g = np.empty_like(self.g)
            self.products.transposed(np.sign(self.r) * np.abs(alpha), g)
            g[self.free] = 0.0
        bounded = (self.l2 == 0.0) & (self.l1 > 0.0)
        steepest = float(np.max(np.abs(g[bounded]) / self.l1[bounded], initial=1.0))
        t = 1.0 / steepest
        self.feasible = t * alpha
        parts = sum_parts(
            (0.0, *row_terms(self._row_losses, self.f, alpha, t, begin, end)) for begin, end in pace.slices(self.f.size)
        )
        v = -t * g
        conjugate = np.zeros_like(v)
        curved = self.l2 > 0.0
        conjugate[curved] = np.maximum(np.abs(v[curved]) - self.l1[curved], 0.0) ** 2 / (2.0 * self.l2[curved])
        size = np.abs(self.w)
        terms = self.l1 * size + 0.5 * self.l2 * size * size + conjugate - v * self.w
        parts = parts._replace(violation=self.violation)
        return parts.certificate(self.penalty(self.w), float(np.sum(np.maximum(terms, 0.0))))

    def snapshot(self) -> Snapshot:
        """Return the model so far."""
        return Snapshot(self.w[:-1].copy(), self.problem.data.rows.bias * float(self.w[-1]))

    def floor(self) -> float:
        """Return about what rounding makes of a violation: u times the size of the sums that make the gradient."""
        norm = sqrt(float(self.r @ self.r)) * sqrt(float(np.sum(self.problem.data.q)))
        return UNIT_ROUNDOFF * (1.0 + norm)


def _balanced(alpha: Vector, r: Vector) -> Vector:
    """Return alpha with the heavier side (of r's sign) scaled down so that both weigh the same."""
    positive = r > 0.0
    up, down = float(np.abs(alpha[positive]).sum()), float(np.abs(alpha[~positive]).sum())
    heavier = positive if up > down else ~positive
    scale = min(up, down) / max(up, down) if max(up, down) > 0.0 else 1.0
    return np.where(heavier, scale * alpha, alpha)
