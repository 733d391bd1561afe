"""Crammer and Singer's problem in decimals: a piece for each class but an example's own, a group for each example."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.types import Indices, Matrix, Vector
from ...solution import Certificate, Solution
from ..multiclass.example_passes import make_feasible
from ..origin import small_copy
from ..stop import Stop
from .decimals import ONE, ZERO, Decimals, decimals, floats
from .interior import DenseRows, Pieces, Point, Rows
from .last_resort import Model, finished

NOTHING = 1e-20  # share of the largest dual variable that is none


def finished_classes(problem: Problem, n_classes: int, solution: Solution, stop: Stop) -> Solution:
    """Return a better solution if the problem is small and this one has stalled."""
    data = problem.data

    def keep(model: Model) -> dict[str, Any]:
        W = model.w.reshape(-1, n_classes).T
        return {"w": np.ascontiguousarray(W[:, :-1]), "intercept": W[:, -1].copy(), "alpha": model.alpha}

    make = lambda: ExactClasses(problem, n_classes)  # noqa: E731
    return finished(data, (data.n_features + 1) * n_classes, solution, stop, make, keep)


class ClassRows:
    """The rows x_i (x) (e_y - e_c) for all classes c but y, which need not be written down."""

    def __init__(self, X: Decimals, y: Indices, k: int) -> None:
        self._X, self._k = X, k
        self._own = np.repeat(y, k - 1)
        self._example = np.repeat(np.arange(y.size), k - 1)
        self._other = np.array([c for own in y for c in range(k) if c != own])

    @cached_property
    def _products(self) -> Decimals:
        """The products of all pairs of columns."""
        i, j = np.triu_indices(self._X.shape[1])
        return self._X[:, i] * self._X[:, j]

    def times(self, w: Decimals) -> Decimals:  # noqa: D102
        f = self._X @ w.reshape(-1, self._k)
        return f[self._example, self._own] - f[self._example, self._other]

    def transposed(self, a: Decimals) -> Decimals:  # noqa: D102
        by_class = np.full((len(self._X), self._k), ZERO)
        np.add.at(by_class, (self._example, self._own), a)
        np.subtract.at(by_class, (self._example, self._other), a)
        return (self._X.T @ by_class).ravel()

    def sizes(self, w: Decimals) -> Decimals:  # noqa: D102
        f = np.abs(self._X) @ np.abs(w.reshape(-1, self._k))
        return f[self._example, self._own] + f[self._example, self._other]

    def gram(self, D: Decimals, share: Decimals, group: Indices) -> Decimals:  # noqa: D102
        n, d, k = len(self._X), self._X.shape[1], self._k
        B, g = np.full((n, k, k), ZERO), np.full((n, k), ZERO)
        for classes, sign in ((self._own, 1), (self._other, -1)):
            np.add.at(g, (self._example, classes), sign * D)
            np.add.at(B, (self._example, classes, classes), D)
        np.subtract.at(B, (self._example, self._own, self._other), D)
        np.subtract.at(B, (self._example, self._other, self._own), D)
        B -= share[:, None, None] * g[:, :, None] * g[:, None, :]
        H = np.full((d, k, d, k), ZERO)
        (i, j), (c, e) = np.triu_indices(d), np.triu_indices(k)
        blocks = self._products.T @ B[:, c, e]  # both sides are symmetric: a quarter of all entries
        for first, second in ((i, j), (j, i)):
            for row, column in ((c, e), (e, c)):
                H[first[:, None], row, second[:, None], column] = blocks
        return H.reshape(d * k, d * k)

    def largest(self) -> Vector:  # noqa: D102
        return np.repeat(np.abs(floats(self._X)).max(axis=0), self._k)

    def without(self, j: int) -> tuple[Rows, Decimals]:  # noqa: D102
        every = np.full((self._own.size, self._X.shape[1], self._k), ZERO)
        pieces = np.arange(self._own.size)
        every[pieces, :, self._own] = self._X[self._example]
        every[pieces, :, self._other] = -self._X[self._example]
        return DenseRows(every.reshape(pieces.size, -1)).without(j)


class ExactClasses:
    """The examples that count, with a column of ones for the intercepts."""

    def __init__(self, problem: Problem, n_classes: int) -> None:
        X, bias = small_copy(problem.data), problem.data.rows.bias
        assert X is not None
        C = np.broadcast_to(problem.C_values, problem.data.n_rows)
        self._which, self._n, self._k = np.flatnonzero(C > 0.0), problem.data.n_rows, n_classes
        self._y, self._C = problem.y[self._which].astype(np.int64), C[self._which].copy()
        self._X = decimals(np.column_stack([X, np.full(len(X), float(bias != 0.0))])[self._which])
        R = np.full(self._X.shape[1], ONE)
        if bias:
            R[-1] /= Decimal(bias) ** 2
        self._R = np.repeat(R, n_classes)

    @cached_property
    def pieces(self) -> Pieces:
        """The margins of all classes."""
        n, others = self._y.size, self._k - 1
        return Pieces(
            self._R,
            np.full(self._R.size, ZERO),
            ClassRows(self._X, self._y, self._k),
            np.full(n * others, ONE),
            np.repeat(np.arange(n), others),
            decimals(self._C),
            np.full(0, ZERO),
        )

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Matrix:
        """Return the dual variables, rounded and feasible."""
        out, rows = np.zeros((self._n, self._k)), np.arange(self._y.size)
        a = floats(at.a)
        a[a <= NOTHING * a.max()] = 0.0
        alpha = np.zeros((self._y.size, self._k))
        alpha[np.arange(self._k) != self._y[:, None]] = -a
        alpha[rows, self._y] = -alpha.sum(axis=1)
        make_feasible(alpha, self._C, self._y.astype(np.uint32), 0, self._y.size)
        out[self._which] = alpha
        return out

    def model(self, w: Vector, alpha: Matrix) -> Model:
        """Return the model with its certificate."""
        exact, a, C, rows = decimals(w), decimals(alpha[self._which]), decimals(self._C), np.arange(self._y.size)
        G = self._X @ exact.reshape(-1, self._k)
        G = G - G[rows, self._y][:, None] + ONE
        G[rows, self._y] = ZERO
        largest = G.max(axis=1)
        primal = (self._R * exact * exact).sum() / 2 + C @ largest
        v = (self._X.T @ a).ravel()
        difference = primal + (v * v / self._R).sum() / 2 - a[rows, self._y].sum()
        bounds = np.full(a.shape, ZERO)
        bounds[rows, self._y] = C
        violation = max((largest[:, None] - G)[a < bounds], default=ZERO)
        return Model(w, alpha, Certificate.of(float(violation), float(primal), float(max(difference, ZERO))))
