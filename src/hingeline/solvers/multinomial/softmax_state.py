"""The state of multinomial logistic regression: weights, dual variables, and their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from ...data.matrix import Data
from ...data.problem import Problem
from ...kernels.passes import squared_length, weighted_lengths
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from .class_balance import balance_classes
from .softmax_rows import (
    Softmax,
    add_diagonal,
    add_product,
    add_weights,
    along_line,
    certify_rows,
    propose,
    respond,
    score_rows,
)


@dataclass
class SoftmaxState:
    """Weights w (the classes of a feature side by side, the intercept's last) and dual variables alpha.

    ``at`` is where an engine works: scores, and the dual variables that belong to them. ``is_free`` leaves the
    intercepts out of the regulariser.
    """

    data: Data
    C: Vector
    y: Indices
    w: Vector
    alpha: Matrix
    at: Softmax
    is_free: bool

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.alpha.shape[1]

    def regularised(self, w: Vector) -> Vector:
        """Return the part of w that is regularised."""
        if not self.is_free:
            return w
        u = w.copy()
        u[-self.n_classes :] = 0.0
        return u

    def intercepts_of(self, w: Vector) -> Vector:
        """Return the entries of w that are weights of the constant feature."""
        return w[-self.n_classes :]

    def scores_of(self, w: Vector, out: Matrix, pace: Pace) -> None:
        """Set ``out`` to the scores of all rows at the weights w."""
        pace.each(len(out), lambda part, begin, end: score_rows(self.data.rows, w, out, begin, end))

    def respond(self, w: Vector, pace: Pace) -> tuple[float, Vector]:
        """Go to w; returns the sum of the losses there, and v = sum_i alpha_i (x) x_i."""
        v = np.zeros((pace.n_parts, w.size))
        losses = pace.each(len(self.y), lambda part, begin, end: respond(self.at, w, v[part], begin, end))
        return fsum(losses), v.sum(axis=0)

    def weights_of(self, alpha: Matrix, pace: Pace) -> Vector:
        """Return sum_i alpha_i (x) x_i."""
        v = np.zeros((pace.n_parts, self.w.size))
        pace.each(len(alpha), lambda part, begin, end: add_weights(self.data.rows, alpha, v[part], begin, end))
        return v.sum(axis=0)

    def product(self, d: Vector, pace: Pace) -> Vector:
        """Return the losses' Hessian times d."""
        out = np.zeros((pace.n_parts, d.size))
        pace.each(len(self.y), lambda part, begin, end: add_product(self.at, d, out[part], begin, end))
        return out.sum(axis=0)

    def diagonal(self, pace: Pace) -> Vector:
        """Return the diagonal of the losses' Hessian."""
        out = np.zeros((pace.n_parts, self.w.size))
        pace.each(len(self.y), lambda part, begin, end: add_diagonal(self.at, out[part], begin, end))
        return out.sum(axis=0)

    def derivatives(self, t: Matrix, tau: float, pace: Pace) -> tuple[float, float]:
        """Return the first and second derivative of the losses in tau, at the scores + tau t."""
        parts = pace.each(len(t), lambda part, begin, end: along_line(self.at, t, tau, begin, end))
        return fsum(first for first, _ in parts), fsum(second for _, second in parts)

    def propose(self, t: Matrix, tau: float, out: Matrix, pace: Pace) -> float:
        """Set ``out`` to the dual variables after a step of tau t, to first order; negative: it is not feasible."""
        return min(pace.each(len(t), lambda part, begin, end: propose(self.at, t, tau, out, begin, end)))

    def compare(self, alpha: Matrix, pace: Pace) -> tuple[float, float]:
        """Return the violation and the gap terms of dual variables at the scores of ``at``."""
        parts = sum_parts(pace.each(len(alpha), lambda part, begin, end: certify_rows(self.at, alpha, begin, end)))
        return parts.violation, parts.gap

    def refresh(self, pace: Pace) -> Certificate:
        """Make the dual variables feasible, and return the exact certificate of the weights with them.

        If they certify nothing, they are set to zero, which is feasible and has a dual value of zero.
        """
        u, at = self.regularised(self.w), self.at
        self.scores_of(self.w, at.scores, pace)
        if self.is_free:
            balance_classes(self.alpha, self.C, self.y)
        certificate = self._certificate(u, u - self.weights_of(self.alpha, pace), pace)
        if not certificate.gap <= 1.0:
            self.alpha[:] = 0.0
            certificate = self._certificate(u, u, pace)
        return certificate

    def _certificate(self, u: Vector, apart: Vector, pace: Pace) -> Certificate:
        at, n = self.at, len(self.y)
        if self.is_free:
            apart[-self.n_classes :] = 0.0
        parts = sum_parts(pace.each(n, lambda part, begin, end: certify_rows(at, self.alpha, begin, end)))
        return parts.certificate(0.5 * squared_length(u), 0.5 * squared_length(apart))

    def take(self, alpha: Matrix, w: Vector) -> None:
        """Keep these weights and dual variables: what is returned if the run ends now."""
        self.alpha[:], self.w[:] = alpha, w

    def snapshot(self) -> Snapshot:
        """Return the model so far: weights of shape (n_classes, n_features), intercepts of shape (n_classes,)."""
        W = self.w.reshape(-1, self.n_classes).T
        return Snapshot(np.ascontiguousarray(W[:, :-1]), self.data.rows.bias * W[:, -1], self.alpha.copy())

    def floor(self) -> float:
        """Estimate the violation that rounding leaves at the optimum."""
        lengths = 2.0 * weighted_lengths(np.abs(self.alpha).max(axis=1), self.data.q)
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * lengths)


def softmax_state(problem: Problem, k: int, is_free: bool) -> SoftmaxState:
    """Return the state at weights of zero; free intercepts start from the class frequencies."""
    data, y = problem.data, problem.y
    C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), data.n_rows).copy()
    w = np.zeros((data.n_features + 1) * k)
    if is_free:
        share = np.log(np.bincount(y, C, minlength=k) / C.sum())
        w[-k:] = (share - share.mean()) / data.rows.bias
    at = Softmax(data.rows, C, y, np.zeros((data.n_rows, k)), np.zeros((data.n_rows, k)))
    return SoftmaxState(data, C, y, w, np.zeros((data.n_rows, k)), at, is_free)
