"""A problem with the penalty sum_j l1_j |w_j| + l2_j w_j^2/2 at one w: its expansion there, and its certificate.

The certificate needs a feasible dual point: a_i as the losses' slopes at w call for, the heavier side scaled down where
a free intercept asks for sum_i a_i s_i = 0, then all by t = min(1, min_j l1_j/|v_j|) over the columns with l2_j = 0. So

    P - D = sum_i gap_term(m_i, t a_i) + sum_j [penalty_j(w_j) + penalty*_j(t v_j) - t v_j w_j],   every term >= 0.
"""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np

from ..kernels.columns import Columns, add_columns, column_dots
from ..kernels.expansion import expand, row_terms
from ..pace import Pace
from ..problem import Problem
from ..solution import Certificate, Snapshot
from .certificate import UNIT_ROUNDOFF


class Penalised:
    """The problem at one w: scores, slopes, curvatures, gradient."""

    def __init__(self, problem: Problem, columns: Columns, l1: np.ndarray, l2: np.ndarray, run_pace: Pace) -> None:
        self.problem, self.columns, self.l1, self.l2 = problem, columns, l1, l2
        self.loss, self.y, n = problem.loss, problem.y, problem.data.n_rows
        self.C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), n).copy()
        self.caution = 0.0
        self.pace, self.column_pace = run_pace, Pace(run_pace.between, first=256)
        self.w = np.zeros(l1.size)
        self.f = np.zeros(n)
        self.alpha, self.r, self.root = np.empty(n), np.empty(n), np.empty(n)
        self.g = np.empty(l1.size)
        self.free = (l1 == 0.0) & (l2 == 0.0) & (np.diff(columns.indptr.astype(np.int64)) > 0)

    def penalty(self, w: np.ndarray) -> float:
        """Return sum_j l1_j |w_j| + l2_j w_j^2/2."""
        return float(np.sum(self.l1 * np.abs(w)) + 0.5 * np.sum(self.l2 * w * w))

    def times(self, d: np.ndarray, pace: Pace) -> np.ndarray:
        """Return X d."""
        u = np.zeros(self.f.size)
        for begin, end in pace.slices(d.size):
            add_columns(self.columns, d, u, begin, end)
        return u

    def transposed(self, r: np.ndarray, out: np.ndarray, pace: Pace) -> None:
        """out = X' r."""
        for begin, end in pace.slices(out.size):
            column_dots(self.columns, r, out, begin, end)

    def expand(self) -> None:
        """Bring slopes, curvatures, gradient and violation up to date with f and w."""
        losses = 0.0
        for begin, end in self.pace.slices(self.f.size):
            arrays = (self.y, self.C, self.f, self.alpha, self.r, self.root, self.caution)
            losses += expand(self.loss, *arrays, begin, end)
        self.transposed(self.r, self.g, self.column_pace)
        self.losses = losses
        slope = self.g + self.l2 * self.w
        at_zero = np.maximum(np.abs(slope) - self.l1, 0.0)
        self.violations = np.where(self.w == 0.0, at_zero, np.abs(slope + np.sign(self.w) * self.l1))
        self.violation = float(self.violations.max())

    def refresh(self) -> None:
        """Compute the scores afresh, and all that follows from them."""
        self.f[:] = self.times(self.w, self.column_pace)
        self.expand()

    def certify(self, pace: Pace) -> Certificate:
        """Return the certificate of the present expansion: a feasible dual point, and the gap term by term."""
        alpha, g = self.alpha, self.g
        if self.free.any():
            alpha = _balanced(self.alpha, self.r)
            g = np.empty_like(self.g)
            self.transposed(np.sign(self.r) * np.abs(alpha), g, Pace(pace.between, first=256))
            g[self.free] = 0.0
        bounded = (self.l2 == 0.0) & (self.l1 > 0.0)
        steepest = float(np.max(np.abs(g[bounded]) / self.l1[bounded], initial=1.0))
        t = 1.0 / steepest
        parts = [
            row_terms(self.loss, self.y, self.C, self.f, alpha, t, begin, end)
            for begin, end in pace.slices(self.f.size)
        ]
        losses, gaps = zip(*parts, strict=True)
        v = -t * g
        conjugate = np.zeros_like(v)
        curved = self.l2 > 0.0
        conjugate[curved] = np.maximum(np.abs(v[curved]) - self.l1[curved], 0.0) ** 2 / (2.0 * self.l2[curved])
        size = np.abs(self.w)
        terms = self.l1 * size + 0.5 * self.l2 * size * size + conjugate - v * self.w
        primal = self.penalty(self.w) + fsum(losses)
        gap = fsum(gaps) + float(np.sum(np.maximum(terms, 0.0)))
        return Certificate(self.violation, primal, primal - gap, 0.0 if primal == 0.0 else gap / primal)

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
