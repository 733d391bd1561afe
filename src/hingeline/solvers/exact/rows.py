"""The problem of every loss with one dual variable per row, in decimals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from math import fsum, isinf, sqrt
from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.losses import diagonal, lower, missing, precise_terms, pull, sign, upper
from ...kernels.types import Vector
from ...solution import Certificate, Solution
from ..balance import SidesInMemory, balance, settle
from ..origin import small_copy
from ..stop import Stop
from .decimals import ONE, ZERO, Cholesky, Decimals, decimals, floats
from .interior import DenseRows, Pieces, Point
from .last_resort import Model, finished
from .lattice import nearer
from .smooth import LogisticPieces

FEW, MOST_PASSES = 4, 4  # rows, per column, that take up the rounding in Z'alpha; attempts to stay in bounds
LEAST = 1e-6  # fraction of the largest dual variable that others may change by
UNBALANCED = 1e-14  # violation of a free intercept's constraint, as a fraction of all dual variables, that is allowed
SPENT, ENOUGH = 1e-5, 10.0  # fraction of the objective that a component of Z'alpha may cost; times that, all together
ROOMS = 2.0**24, 2.0**12, 4.0  # units in the last place by which variables leave their limits; the first that helps
AT_LIMIT = 1.0 - 1e-15  # fraction of a limit that counts as the limit, rounded
NOTHING = 1e-20  # fraction of the largest dual variable that counts as zero


def finished_rows(problem: Problem, solution: Solution, stop: Stop, *, free: bool, cancelled: Any = None) -> Solution:
    """Return a better solution of ``problem`` if it is small and this one has stalled."""
    data = problem.data
    make = lambda: ExactRows(problem, free)  # noqa: E731
    return finished(data, data.n_features + 1, solution, stop, make, weights_and_variables, cancelled)


def weights_and_variables(model: Model) -> dict[str, Any]:
    """Return the attributes that a solution takes from a model."""
    return {"w": model.w[:-1], "intercept": float(model.w[-1]), "alpha": model.alpha}


class ExactRows:
    """The rows of a problem that count; the last column is that of the intercept, all ones."""

    def __init__(self, problem: Problem, is_free: bool) -> None:
        self._problem, self._is_free = problem, is_free
        X, bias = small_copy(problem.data), problem.data.rows.bias
        assert X is not None
        C = np.broadcast_to(problem.C_values, problem.data.n_rows)
        self._which = np.flatnonzero(C > 0.0)
        self._C, y = C[self._which].tolist(), problem.y[self._which].tolist()
        s = np.array([float(sign(problem.loss, target)) for target in y])
        columns = np.column_stack([X, np.full(len(X), float(bias != 0.0))])
        self._Z = decimals(s[:, None] * columns[self._which])
        self._c = decimals([float(missing(problem.loss, target, 0.0)) for target in y])
        self._R = np.full(columns.shape[1], ONE)
        if bias:
            self._R[-1] = ZERO if is_free else ONE / Decimal(bias) ** 2

    @cached_property
    def pieces(self) -> Any:
        """The losses as sums of pieces: one for each sign that a dual variable may have."""
        loss = self._problem.loss
        if not loss.slope_has_kinks:
            return LogisticPieces(self._R, self._Z, self._c, decimals(self._C))
        epsilon = Decimal(getattr(loss, "epsilon", 0.0))
        bounds = {1: [upper(loss, C) for C in self._C], -1: [-lower(loss, C) for C in self._C]}
        self._sides = [side for side in (1, -1) if bounds[side][0] > 0.0]
        U = [bound for side in self._sides for bound in bounds[side]]
        is_bounded = not isinf(U[0])
        delta = [diagonal(loss, C) for C in self._C] * len(self._sides)
        return Pieces(
            self._R,
            np.full(self._R.size, ZERO),
            DenseRows(np.concatenate([side * self._Z for side in self._sides])),
            np.concatenate([side * self._c - epsilon for side in self._sides]),
            np.arange(len(U) * is_bounded),
            decimals(U if is_bounded else []),
            decimals([] if is_bounded else delta),
        )

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Vector:
        """Return the dual variables, rounded, those next to zero at zero."""
        problem, out = self._problem, np.zeros(self._problem.data.n_rows)
        loss, alpha = problem.loss, at.a
        if loss.slope_has_kinks:
            of_sides = at.a.reshape(len(self._sides), -1)
            alpha = sum(side * of_side for side, of_side in zip(self._sides, of_sides, strict=True))
        rounded = floats(alpha)
        if loss.reaches_bounds:
            rounded[np.abs(rounded) <= NOTHING * np.abs(rounded).max()] = 0.0
        limits = [(lower(loss, C), upper(loss, C)) for C in self._C]
        rounded = np.array([_within(a, low, high) for a, (low, high) in zip(rounded, limits, strict=True)])
        found = settled(rounded, alpha, self._Z, limits, np.abs(floats(self._c - self._Z @ at.w)))
        out[self._which] = self._on_lattice(found, alpha, limits, at, check)
        total = float(abs(self._Z[:, -1] @ decimals(out[self._which])))
        if self._is_free and total > UNBALANCED * np.abs(out).sum():
            balance(SidesInMemory(problem, out))
        if self._is_free:
            settle(problem, out)
        return out

    def _on_lattice(
        self, a: Vector, alpha: Decimals, limits: list[tuple[float, float]], at: Point, check: Callable[[], None]
    ) -> Vector:
        """Return dual variables whose Z'a is close enough to the optimal one, if that of ``a`` is not.

        Leaving its limit costs a row its margin.
        """
        value, target = float(at.value), self._Z.T @ alpha
        accuracy = self._accuracy(a, value)
        if not accuracy.all():
            return a

        def lost(a: Vector) -> float:
            return float(np.sum((floats(target - self._Z.T @ decimals(a)) / accuracy) ** 2))

        low, high = np.array(limits).T
        best, price = a, np.abs(floats((self._c - self._Z @ at.w) / (decimals(SPENT) * at.value)))
        for units in ROOMS:
            if lost(best) <= ENOUGH:
                break
            best = min(best, nearer(a, target, self._Z, accuracy, price, (low, high), units, check), key=lost)
        return best

    def _accuracy(self, a: Vector, value: float) -> Vector:
        """Return by how much each component of Z'a may be off."""
        unbalanced = UNBALANCED * np.abs(a).sum()
        return np.array([sqrt(SPENT * value * R) if R else unbalanced for R in floats(self._R).tolist()])

    def model(self, w: Vector, alpha: Vector) -> Model:
        """Return the model with its certificate, from margins of twice the digits."""
        loss, exact, own = self._problem.loss, decimals(w), alpha[self._which]
        margins = self._c - self._Z @ exact
        m = floats(margins)
        rest = floats(margins - decimals(m))
        of_rows = list(zip(m.tolist(), rest.tolist(), own.tolist(), self._C, strict=True))
        apart = self._R * exact - self._Z.T @ decimals(own)
        of_weights = ZERO
        for left, R, u in zip(apart, self._R, exact, strict=True):  # a free intercept is worth what is out of balance
            of_weights += left * left / (2 * R) if R else left * u
        regulariser = (self._R * exact * exact).sum() / 2
        losses, gaps = zip(*(precise_terms(loss, *row) for row in of_rows), strict=True)
        primal, difference = fsum([float(regulariser), *losses]), max(0.0, fsum([float(of_weights), *gaps]))
        violation = max(abs(pull(loss, m, a, C)[0]) for m, _, a, C in of_rows)
        return Model(w, alpha, Certificate.of(float(violation), primal, difference))


def _within(a: float, low: float, high: float) -> float:
    """Return a dual variable inside its limits; the difference to one of them is only rounding."""
    if a >= AT_LIMIT * high:
        return high
    return low if a <= AT_LIMIT * low else max(a, low)


def settled(rounded: Vector, alpha: Decimals, Z: Decimals, limits: list[tuple[float, float]], cost: Vector) -> Vector:
    """Return dual variables in float64 whose Z'alpha is nearer to that of ``alpha`` than the ``rounded`` ones' is.

    Variables inside their ``limits`` take what is missing, in proportion to their squares, so that none changes by more
    than a little; if there are few, so do those at a limit that ``cost`` least to move. First all of them do, then ever
    fewer, those with the finest last digits.
    """
    (low, high), d = np.array(limits).T, Z.shape[1]
    inside = (rounded > low) & (rounded < high) & (rounded != 0.0)
    rows = np.argsort(np.where(inside, 0.0, cost), kind="stable")[: max(int(inside.sum()), FEW * d)]
    rows = rows[np.argsort(-np.spacing(np.abs(rounded[rows])) * np.abs(floats(Z[rows])).max(axis=1))]
    size = decimals(np.abs(rounded) + LEAST * np.abs(rounded).max())
    target, scales = Z.T @ alpha, [scale or ONE for scale in np.abs(Z).max(axis=0)]
    missing_of_v = target - Z.T @ decimals(rounded)
    least = max(np.abs(missing_of_v) / scales)
    while rows.size >= d and least:
        own = rows
        for _ in range(MOST_PASSES):
            weights = size[own] ** 2
            K = Z[own].T @ (weights[:, None] * Z[own])
            moved = floats(decimals(rounded[own]) + weights * (Z[own] @ Cholesky(K).solve(missing_of_v)))
            stays = (moved >= low[own]) & (moved <= high[own])
            if stays.all() or stays.sum() < d:
                break
            own, moved = own[stays], moved[stays]
        changed = rounded.copy()
        changed[own] = np.clip(moved, low[own], high[own])
        left = target - Z.T @ decimals(changed)
        if max(np.abs(left) / scales) < least:
            rounded, missing_of_v, least = changed, left, max(np.abs(left) / scales)
        rows = rows[max(1, rows.size // 4) :]
    return rounded
