"""Multinomial logistic regression in decimals, by Newton's method.

Problem    min_W   sum_c sum_j R_j W_jc^2/2 + sum_i C_i log(sum_c exp(f_ic - f_{i y_i})),   f = XW

The intercepts are the last row of W. If they are free, the first class has none: all of them may be moved together.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.types import Indices, Matrix, Vector
from ...solution import Certificate, Solution
from ..multinomial.class_balance import balance_classes
from ..origin import small_copy
from ..stop import Stop
from .decimals import ONE, ZERO, Cholesky, Decimals, decimals, floats
from .interior import Point
from .last_resort import Model, finished
from .smooth import FAR, MOST_STEPS, SOLVED, stepped

TINY = Decimal("1e-30")  # x for which log(1 + x) is x


def finished_softmax(
    problem: Problem,
    classes: Indices,
    solution: Solution,
    stop: Stop,
    *,
    free: bool,
    never: float,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Return a better solution if the problem is small and this one has stalled.

    ``problem`` numbers the ``classes`` that have weight; the others get intercepts that are less by ``never``.
    """
    data, n_classes = problem.data, len(solution.w)

    def keep(model: Model) -> dict[str, Any]:
        W = model.w.reshape(-1, classes.size).T
        w, intercept = np.zeros((n_classes, data.n_features)), np.full(n_classes, W[:, -1].min() - never)
        alpha = np.zeros((data.n_rows, n_classes))
        w[classes], intercept[classes], alpha[:, classes] = W[:, :-1], W[:, -1], model.alpha
        return {"w": w, "intercept": intercept, "alpha": alpha}

    make = lambda: ExactSoftmax(problem, classes.size, free)  # noqa: E731
    return finished(data, (data.n_features + 1) * classes.size, solution, stop, make, keep, cancelled)


class ExactSoftmax:
    """The rows that count, with a column of ones for the intercepts."""

    def __init__(self, problem: Problem, n_classes: int, is_free: bool) -> None:
        X, bias = small_copy(problem.data), problem.data.rows.bias
        assert X is not None
        C = np.broadcast_to(problem.C_values, problem.data.n_rows)
        self._which, self._n, self._k = np.flatnonzero(C > 0.0), problem.data.n_rows, n_classes
        self._y = problem.y[self._which].astype(np.int64)
        self._C = C[self._which].copy()
        self._X = decimals(np.column_stack([X, np.full(len(X), float(bias != 0.0))])[self._which])
        self._R = np.full(self._X.shape[1], ONE)
        self._is_free = is_free
        if bias:
            self._R[-1] = ZERO if is_free else ONE / Decimal(bias) ** 2

    @property
    def pieces(self) -> ExactSoftmax:
        """The problem itself."""
        return self

    @property
    def largest(self) -> Vector:
        """Empty: no weight is eliminated."""
        return np.empty(0)

    def tightened(self, at: Point) -> None:
        """Return None: there are no margins to keep."""

    def solved(self, check: Callable[[], None]) -> Point | None:
        """Return the solution to about 20 digits; None if there is none."""
        C, rows = decimals(self._C), np.arange(self._y.size)
        W = np.full((self._R.size, self._k), ZERO)
        value = self._objective(W)
        for _ in range(MOST_STEPS):
            check()
            p = self._probabilities(W)
            a = -C[:, None] * p
            a[rows, self._y] -= a.sum(axis=1)
            gradient = (self._R[:, None] * W - self._X.T @ a).ravel()
            step = np.full(gradient.size, ZERO)
            moves = self._moves
            step[moves] = -Cholesky(self._hessian(C, p)[np.ix_(moves, moves)]).solve(gradient[moves])
            decrement = -(gradient @ step)
            if decrement <= SOLVED * value:
                return Point(W.ravel(), a, value)
            ahead = stepped(self._objective, W, step.reshape(W.shape), value, decrement)
            if ahead is None:
                return None
            W, value = ahead
        return None

    @property
    def _moves(self) -> Indices:
        """The weights that are solved for."""
        every = np.arange(self._R.size * self._k)
        return every[every != (self._R.size - 1) * self._k] if self._is_free else every

    def _objective(self, W: Decimals) -> Decimal:
        losses = [C * loss for C, loss in zip(decimals(self._C), self._losses(W), strict=True)]
        return (self._R[:, None] * W * W).sum() / 2 + sum(losses, ZERO)

    def _losses(self, W: Decimals) -> list[Decimal]:
        """Return log(sum_c exp(f_ic - f_{i y_i})) for each row."""
        out = []
        for f, own in zip(self._X @ W, self._y, strict=True):
            others = [value - f[own] for c, value in enumerate(f) if c != own]
            largest = max(others)
            total = sum((_exp(value - max(largest, ZERO)) for value in others), ZERO)
            if largest > 0:
                out.append(largest + (total + _exp(-largest)).ln())
            else:
                out.append(total if total < TINY else (ONE + total).ln())
        return out

    def _probabilities(self, W: Decimals) -> Decimals:
        f = self._X @ W
        e = np.array([[_exp(value - max(row)) for value in row] for row in f])
        return e / e.sum(axis=1)[:, None]

    def _hessian(self, C: Decimals, p: Decimals) -> Decimals:
        d, k = self._R.size, self._k
        H = np.full((d, k, d, k), ZERO)
        for c in range(k):
            for e in range(c, k):
                weights = C * p[:, c] * ((ONE if c == e else ZERO) - p[:, e])
                H[:, c, :, e] = self._X.T @ (weights[:, None] * self._X)
                H[:, e, :, c] = H[:, c, :, e].T
            H[np.arange(d), c, np.arange(d), c] += self._R
        return H.reshape(d * k, d * k)

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Matrix:
        """Return the dual variables, rounded; each row sums to zero."""
        out, rows = np.zeros((self._n, self._k)), np.arange(self._y.size)
        alpha = np.minimum(floats(at.a), 0.0)
        alpha[rows, self._y] = 0.0
        alpha[rows, self._y] = np.minimum(-alpha.sum(axis=1), self._C)
        if self._is_free:
            balance_classes(alpha, self._C, self._y.astype(np.uint32))
        out[self._which] = alpha
        return out

    def model(self, w: Vector, alpha: Matrix) -> Model:
        """Return the model with its certificate."""
        W, a, C = decimals(w).reshape(-1, self._k), decimals(alpha[self._which]), decimals(self._C)
        primal = self._objective(W)
        p = -a / C[:, None]
        p[np.arange(self._y.size), self._y] += ONE
        entropy = sum((C_i * _entropy(p_ic) for C_i, p_i in zip(C, p, strict=True) for p_ic in p_i), ZERO)
        v = self._X.T @ a
        conjugate = sum((v_j @ v_j / R for v_j, R in zip(v, self._R, strict=True) if R), ZERO) / 2
        difference = max(primal + conjugate - entropy, ZERO)
        violation = max(np.abs(p - self._probabilities(W)).ravel())
        return Model(w, alpha, Certificate.of(float(violation), float(primal), float(difference)))


def _exp(value: Decimal) -> Decimal:
    return value.exp() if value > -FAR else ZERO


def _entropy(p: Decimal) -> Decimal:
    return -p * p.ln() if p > 0 else ZERO
