"""A problem with the penalty sum_j l1_j |w_j| + l2_j w_j^2/2 at one w: its expansion there, and its certificate.

The certificate needs a feasible dual point a (dual_point.py), with v = sum_i a_i s_i x_i. Its gap is

    P - D = sum_i gap_term(m_i, a_i) + sum_j [penalty_j(w_j) + penalty*_j(v_j) - v_j w_j],   every term >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

import numpy as np

from ...data.problem import Problem
from ...kernels.types import Flags, Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from .columns import Columns
from .dual_fit import ROUND, DualFit, Slopes
from .dual_point import DualPoints, Point
from .expansion import Expansion, RowLosses, expand, row_terms
from .products import ByColumns, ByRows, Products

DRIFT, NO_NOISE = 8.0, 1e-7  # roundings in a score that add up; share of the gap asked for that does not matter
FINE_GAP = 1e-4  # gap up to which no dual point is corrected
NEAR_END = 10.0  # gain that the model of a step promises, in gaps asked for, from which its dual variables count
FINE_SHARE, LIGHT = 0.1, 0.02  # of the gap asked for, what an inexact model may add; penalty that does not count
LEAST_ROUNDS, MOST_ROUNDS, FINER = 6, 12, 0.01  # of fitting a dual point; share of the gap that is worth aiming at


class Penalised:
    """The problem at one w: scores, slopes, curvatures, gradient."""

    def __init__(
        self, problem: Problem, columns: Columns | None, l1: Vector, l2: Vector, between: Callable[[], None]
    ) -> None:
        self.problem, self.columns, self.l1, self.l2 = problem, columns, l1, l2
        n = problem.data.n_rows
        C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), n).copy()
        self._row_losses = RowLosses(problem.loss, problem.y, C)
        self._softened = RowLosses(problem.loss, problem.y, C.copy())  # those that are expanded
        self.softness, self.largest_C = 1.0, float(C.max())
        self.caution = 0.0
        self.proposes = problem.loss.newton_overshoots  # kinks: rows that change sides make proposals infeasible
        self.pace = Pace(between)
        self.products: Products
        if columns is None:
            self.products = ByRows(problem.data, Pace(between))
        else:
            self.products = ByColumns(columns, Pace(between, first=256), n)
        self.w = np.zeros(l1.size)
        self.f = np.zeros(n)
        self.alpha, self.r, self.h = np.zeros(n), np.zeros(n), np.zeros(n)
        self._values, self._values_there = np.zeros(n), np.empty(n)  # of the losses, here and at the end of a step
        self.g = np.zeros(l1.size)
        most = C if problem.loss.is_bounded else np.full(n, np.inf)
        self._most = most
        self._dual_points = DualPoints(problem.data, most, l1, l2, self.products, self.pace)
        self._best_point: Point | None = None
        self._best_dual = -inf  # its value, which does not depend on w
        self._proposed: Slopes | None = None  # of the dual variables that the model of the last step proposes
        self.asked = 0.0  # relative gap at which the run may end
        self._drift = 0.0  # rounding of scores by the steps so far: a bound of its typical size
        self._longest = sqrt(float(problem.data.q.max(initial=0.0)))
        self._last: Certificate | None = None  # that of the present w

    def call_between_slices(self, between: Callable[[], None]) -> None:
        """Have ``between`` called between slices of work from now on."""
        self.pace.between = self.products.pace.between = between

    def soften(self, softness: float) -> None:
        """Multiply C by ``softness`` for steps; certificates always use the original problem."""
        self.softness = softness
        self._last = None
        np.multiply(self._row_losses.C, softness, out=self._softened.C)
        self.refresh()

    @property
    def losses_by_row(self) -> RowLosses:
        """The losses, with C softened."""
        return self._softened

    def near(self, margin: float) -> Flags:
        """Return which rows have curvature, or are no further than ``margin`` from where they would."""
        self.look(self.f, 0.0, margin)
        return self.h > 0.0

    def penalty(self, w: Vector) -> float:
        """Return sum_j l1_j |w_j| + l2_j w_j^2/2."""
        return float(np.sum(self.l1 * np.abs(w)) + 0.5 * np.sum(self.l2 * w * w))

    @property
    def objective(self) -> float:
        """The objective, with C softened."""
        return self.penalty(self.w) + self.losses

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
            change += expand(self._softened, self.f, u, tau, caution, self._values, there, begin, end)
        return change

    def move(self, d: Vector, u: Vector, tau: float, caution: float) -> None:
        """Go to the point of the last ``look``, w + tau d with the scores f + tau u; call ``slopes`` afterwards."""
        if tau > 0.0:
            self.w += tau * d
            self.f += tau * u
            self._last = None
            self._drift += DRIFT * UNIT_ROUNDOFF * self._longest * (tau * _length(d) + _length(self.w))
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

    def place(self, w: Vector) -> None:
        """Go to w; call ``expand`` afterwards."""
        self._drift, self._proposed = 0.0, None
        self.w[:] = w
        self.f[:] = self.products.times(self.w)

    def refresh(self) -> None:
        """Compute the scores afresh, and all that follows from them."""
        self.place(self.w)
        self.expand()

    def propose(self, u: Vector | None) -> None:
        """Keep the dual variables that the model of a step proposes, which adds u to the scores; before the step.

        With the exact minimum of the model they are feasible, unless a variable leaves its box on the way. None: none.
        """
        self._proposed = None
        if u is None:
            return
        side = np.sign(self.r)
        r = side * np.clip(side * (self.r + self.h * u), 0.0, self._most)
        self._proposed = Slopes(r, np.empty_like(self.g))
        self.products.transposed(*self._proposed)

    def is_near(self, gain: float) -> bool:
        """Tell whether a step of this ``gain`` may be the last: whether its model's dual variables may certify."""
        return self.proposes and gain <= NEAR_END * self.asked * self.objective

    def finest_excess(self, gain: float) -> float:
        """Return by how much a column of the model may exceed its bound at most, after a step of this ``gain``.

        Each per cent by which the dual variables that the model proposes have to be scaled costs a per cent of the
        penalty. Where that is light (at large C), rows that leave their box exceed the bounds by far more anyway.
        """
        penalty, objective = self.penalty(self.w), self.objective
        if penalty < LIGHT * objective or not self.is_near(gain):
            return inf
        return FINE_SHARE * self.asked * objective / penalty

    def gap_exceeds(self, asked: float) -> bool:
        """Tell whether a relative gap of ``asked`` is out of reach, from the scale of the dual variables alone.

        With t alpha instead of alpha, the losses' share of the gap is (1 - t)^2 of a squared loss, and half of that or
        more of a logistic one.
        """
        g = self._slopes_that_fit().g
        t = 1.0 / self._excess(g)
        terms = penalty_terms(self.w, -t * g, self.l1, self.l2).sum() + 0.5 * (1.0 - t) ** 2 * self.losses
        return bool(terms > asked * self.objective)

    def _excess(self, g: Vector) -> float:
        """Return the largest multiple of its bound that a column has; 1 if no bound is exceeded."""
        bounded = self._dual_points.bounded
        return float(np.max(np.abs(g[bounded]) / self.l1[bounded], initial=1.0))

    def _slopes_that_fit(self) -> Slopes:
        """Return those of the present slopes and the proposed ones that have to be scaled less."""
        here = Slopes(self.r, self.g)
        if self._proposed is None:
            return here
        return min(here, self._proposed, key=lambda slopes: self._excess(slopes.g))

    def certify_afresh(self, pace: Pace) -> Certificate:
        """Return the certificate of w with recomputed scores: that of the model, if nothing moves any more.

        At large C the slopes at these scores are mostly rounding. The slopes at the scores that steps have updated,
        whose errors add up differently, may be a better dual point; so may a corrected one.
        """
        if self._last is not None:
            return self._last
        alpha, r = self.alpha.copy(), self.r.copy()
        self.refresh()
        certificate = self.certify(pace)
        if certificate.gap > max(FINE_GAP, self.asked):
            g = np.empty_like(self.g)  # a run that was ended in the midst of a step has that of other slopes
            self.products.transposed(r, g)
            points = [self._dual_points.feasible(alpha, r, g)]
            if self.columns is None:
                points += self._dual_points.corrected(self.alpha, self.r, self.w)
            certificate = self._best_certificate(points, pace)
        self._last = certificate
        return certificate

    def certify(self, pace: Pace) -> Certificate:
        """Return the certificate of the current expansion.

        If that is good enough, and rounding of the scores by so few steps cannot matter, it is that of the model.
        """
        r, g = self._slopes_that_fit()
        alpha = self.alpha if r is self.r else -self.problem.signs * r
        certificate = self._best_certificate([self._dual_points.feasible(alpha, r, g)], pace)
        noise = self._drift * float(np.abs(r).sum())
        if certificate.gap <= self.asked and noise <= NO_NOISE * self.asked * self.objective and self.softness == 1.0:
            self._last = certificate
        return certificate

    def certify_fitted(self, pace: Pace, asked: float, most_visits: float) -> Certificate | None:
        """Return a certificate of a relative gap of ``asked`` or what comes near it; None if there is nothing to fit.

        The dual point is fitted in as many rounds as cost no more than ``most_visits`` visits of columns.
        """
        rounds = int(min(most_visits / (ROUND * (1.0 + float(np.count_nonzero(self.w)))), MOST_ROUNDS))
        bounded, free = self._dual_points.bounded, self._dual_points.free
        if self.columns is None or rounds < LEAST_ROUNDS or not (bounded | free).all():
            return None
        certificate = self.certify(pace)
        accuracy = max(asked, FINER * certificate.gap)
        fit = DualFit(self.columns, self.products, self.w, self.l1, bounded, free, self._most, accuracy)
        at = Slopes(self.r, self.g)
        signs = np.where(self.r * self.alpha < 0.0, 1.0, -1.0)
        for round_ in range(rounds):
            at = fit.round(at, self.h)
            if round_ + 1 >= LEAST_ROUNDS:
                certificate = self._best_certificate([self._dual_points.feasible(-signs * at.r, *at)], pace)
                if certificate.gap <= asked:
                    break
        return certificate

    def _best_certificate(self, points: list[Point], pace: Pace) -> Certificate:
        """Return the certificate of w with the best of these dual points and all before them."""
        found = [(self._certificate(point, pace), point) for point in points]
        if self._best_point is not None and self._best_dual > max(certificate.dual for certificate, _ in found):
            found.append((self._certificate(self._best_point, pace), self._best_point))
        certificate, self._best_point = min(found, key=lambda each: each[0].gap)
        if certificate.gap > 1.0:  # zeros certify a smaller gap
            self._best_point = np.zeros_like(self.alpha), np.zeros_like(self.w)
            certificate = self._certificate(self._best_point, pace)
        self._best_dual = certificate.dual
        return certificate

    @property
    def dual_variables(self) -> Vector:
        """The dual variables of the last certificate."""
        assert self._best_point is not None
        return self._best_point[0]

    def _certificate(self, point: Point, pace: Pace) -> Certificate:
        """Return the certificate of w with these dual variables: the gap term by term."""
        alpha, v = point
        parts = sum_parts(
            (0.0, *row_terms(self._row_losses, self.f, alpha, begin, end)) for begin, end in pace.slices(self.f.size)
        )
        parts = parts._replace(violation=self.violation)
        return parts.certificate(self.penalty(self.w), float(penalty_terms(self.w, v, self.l1, self.l2).sum()))

    def snapshot(self) -> Snapshot:
        """Return the model so far."""
        return Snapshot(self.w[:-1].copy(), self.problem.data.rows.bias * float(self.w[-1]))

    def floor(self) -> float:
        """Estimate the rounding error of a violation: u times the size of the sums in the gradient."""
        norm = sqrt(float(self.r @ self.r)) * sqrt(float(np.sum(self.problem.data.q)))
        return UNIT_ROUNDOFF * (1.0 + norm)


def _length(x: Vector) -> float:
    return sqrt(float(x @ x))


def penalty_terms(w: Vector, v: Vector, l1: Vector, l2: Vector) -> Vector:
    """Return penalty_j(w_j) + penalty*_j(v_j) - v_j w_j for each j, in a form in which nothing cancels."""
    size, along = np.abs(w), np.where(w == 0.0, np.abs(v), np.sign(w) * v)
    over, against = along - l1, np.maximum(-along - l1, 0.0)
    curved = l2 > 0.0
    twice = np.where(curved, 2.0 * l2, 1.0)
    straight = np.maximum(-over, 0.0) * size + 0.5 * l2 * size * size + np.where(curved, against * against / twice, 0.0)
    apart = l2 * size - over
    return np.where(curved & (over > 0.0), apart * apart / twice, straight)
