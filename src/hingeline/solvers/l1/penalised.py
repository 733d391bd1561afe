"""A problem with the penalty sum_j l1_j |w_j| + l2_j w_j^2/2 at one w: its expansion there, and its certificate.

The certificate needs a feasible dual point: a_i as the losses' slopes at w call for, the heavier side scaled down where
a free intercept asks for sum_i a_i s_i = 0, then all by t = min(1, min_j l1_j/|v_j|) over the columns with l2_j = 0. So

    P - D = sum_i gap_term(m_i, t a_i) + sum_j [penalty_j(w_j) + penalty*_j(t v_j) - t v_j w_j],   every term >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from ...data.problem import Problem
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from .by_columns import ByColumns, ByRows, Matrix
from .columns import Columns
from .expansion import expand, row_terms


class Penalised:
    """The problem at one w: scores, slopes, curvatures, gradient."""

    def __init__(
        self, problem: Problem, columns: Columns | None, l1: np.ndarray, l2: np.ndarray, between: Callable[[], None]
    ) -> None:
        self.problem, self.columns, self.l1, self.l2 = problem, columns, l1, l2
        self.loss, self.y, n = problem.loss, problem.y, problem.data.n_rows
        self.C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), n).copy()
        self.caution = 0.0
        self.pace = Pace(between)
        self.matrix: Matrix
        if columns is None:
            self.matrix = ByRows(problem.data, Pace(between))
        else:
            self.matrix = ByColumns(columns, Pace(between, first=256), n)
        self.w = np.zeros(l1.size)
        self.f = np.zeros(n)
        self.alpha, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self._values, self._values_there = np.zeros(n), np.empty(n)  # of the losses; where a step may lead
        self.g = np.empty(l1.size)
        self.free = (l1 == 0.0) & (l2 == 0.0)  # the intercept, where it is free and there is one

    def let(self, between: Callable[[], None]) -> None:
        """Have ``between`` called between slices of work from now on."""
        self.pace.between = self.matrix.pace.between = between

    def penalty(self, w: np.ndarray) -> float:
        """Return sum_j l1_j |w_j| + l2_j w_j^2/2."""
        return float(np.sum(self.l1 * np.abs(w)) + 0.5 * np.sum(self.l2 * w * w))

    def expand(self) -> None:
        """Bring slopes, curvatures, gradient and violation up to date with f and w."""
        self.look(self.f, 0.0, self.caution)
        self.move(self.w, self.f, 0.0, self.caution)
        self.slopes()

    def look(self, u: np.ndarray, tau: float, caution: float) -> float:
        """Expand the losses at f + tau u; returns how much their sum changes."""
        change = 0.0
        for begin, end in self.pace.slices(self.f.size):
            there = (self._values_there, self.alpha, self.r, self.h)
            here = (self.y, self.C, self.f, u, tau, caution, self._values)
            change += expand(self.loss, *here, *there, begin, end)
        return change

    def move(self, d: np.ndarray, u: np.ndarray, tau: float, caution: float) -> None:
        """Go to where the last ``look`` was, w + tau d with the scores f + tau u; ``slopes`` come after it."""
        if tau > 0.0:
            self.w += tau * d
            self.f += tau * u
        self.caution = caution
        self._values, self._values_there = self._values_there, self._values
        self.losses = float(self._values.sum())

    def slopes(self) -> None:
        """Bring gradient and violation up to date with the slopes of the losses and w."""
        self.matrix.transposed(self.r, self.g)
        slope = self.g + self.l2 * self.w
        at_zero = np.maximum(np.abs(slope) - self.l1, 0.0)
        self.violations = np.where(self.w == 0.0, at_zero, np.abs(slope + np.sign(self.w) * self.l1))
        self.violation = float(self.violations.max())

    def refresh(self) -> None:
        """Compute the scores afresh, and all that follows from them."""
        self.f[:] = self.matrix.times(self.w)
        self.expand()

    def certify(self, pace: Pace) -> Certificate:
        """Return the certificate of the present expansion: a feasible dual point, and the gap term by term."""
        alpha, g = self.alpha, self.g
        if self.free.any():
            alpha = _balanced(self.alpha, self.r)
            g = np.empty_like(self.g)
            self.matrix.transposed(np.sign(self.r) * np.abs(alpha), g)
            g[self.free] = 0.0
        bounded = (self.l2 == 0.0) & (self.l1 > 0.0)
        steepest = float(np.max(np.abs(g[bounded]) / self.l1[bounded], initial=1.0))
        t = 1.0 / steepest
        parts = sum_parts(
            (0.0, *row_terms(self.loss, self.y, self.C, self.f, alpha, t, begin, end))
            for begin, end in pace.slices(self.f.size)
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


def _balanced(alpha: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return alpha with the heavier side (of r's sign) scaled down so that both weigh the same."""
    positive = r > 0.0
    up, down = float(np.abs(alpha[positive]).sum()), float(np.abs(alpha[~positive]).sum())
    heavier = positive if up > down else ~positive
    scale = min(up, down) / max(up, down) if max(up, down) > 0.0 else 1.0
    return np.where(heavier, scale * alpha, alpha)
