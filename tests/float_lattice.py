"""Proofs that no weights in float64 are good enough: an integer that would have to lie strictly between two others.

A model whose gap is at most GOOD_GAP has weights at which the objective is at most P*/(1 - GOOD_GAP), P* being the
optimum. Around the optimum the numbers of float64 lie on a lattice. If some integer combination of them, of which the
basis is made, can only take values between two integers for all weights that are as good as that, then there are none.
The range of values is found by linear programming over a relaxation: tangents below squares, a lattice that holds all
numbers of float64 in question and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from hingeline.solvers.exact import last_resort
from hingeline.solvers.exact.decimals import DIGITS, ZERO, decimals, floats
from hingeline.solvers.exact.interior import Pieces, Point
from hingeline.solvers.exact.lattice import lattice

GOOD_GAP = Decimal("1e-3")
TANGENTS = 9  # of each square
CERTAIN = 1e-4  # what linear programming may be wrong by, in units of the lattice
UNKNOWN = Decimal("1e100")  # distance that is as good as none
FREE = Decimal("1e-30")
INFEASIBLE = 2  # status of scipy.optimize.milp


@contextmanager
def watched() -> Iterator[list[tuple[Any, Any]]]:
    """Collect the problems that are solved in decimals, with what was found for them."""
    collected: list[tuple[Any, Any]] = []
    best_model = last_resort.best_model

    def watch(exact: Any, check: Any, **how: Any) -> Any:
        model = best_model(exact, check, **how)
        collected.append((exact.pieces, model))
        return model

    last_resort.best_model = watch
    try:
        yield collected
    finally:
        last_resort.best_model = best_model


def are_beyond_float64(collected: list[tuple[Any, Any]]) -> bool:
    """Tell whether that is proven of all problems that were not solved, of which there must be some."""
    unsolved = [pieces for pieces, model in collected if model is None or not model.certificate.gap <= GOOD_GAP]
    for pieces in unsolved:
        with localcontext(DIGITS):
            at = pieces.solved(lambda: None)
        if at is None or not is_beyond_float64(pieces, at):
            return False
    return bool(unsolved)


def is_beyond_float64(pieces: Any, at: Point) -> bool:
    """Tell whether it is proven that no weights in float64 have a small enough objective; ``at`` is the optimum."""
    if not isinstance(pieces, Pieces) or not at.value > 0:
        return False
    with localcontext(DIGITS):
        return _is_beyond(pieces, at)


def _is_beyond(pieces: Pieces, at: Point) -> bool:
    spent = at.value * GOOD_GAP / (1 - GOOD_GAP)
    # P grows by at least R_j (w_j - w*_j)^2/2, and linear programming tells more.
    reach = np.array([(2 * spent / R).sqrt() if R else UNKNOWN for R in pieces.R], dtype=object)
    spacings = decimals(np.spacing(np.abs(floats(at.w))))
    every = _Relaxation(pieces, at, spent, np.flatnonzero(floats(at.w)), spacings, reach)
    reach = np.array([min(reach[j], every.reach(j)) for j in range(reach.size)], dtype=object)
    nearest_to_zero = floats(np.abs(at.w) - reach)
    own = np.flatnonzero(nearest_to_zero > 0.0)  # the others are as fine as need be: real numbers
    if not own.size:
        return False
    spacings[own] = decimals(np.spacing(nearest_to_zero[own]))
    relaxation = _Relaxation(pieces, at, spent, own, spacings, reach)
    for i in range(own.size - 1, -1, -1):
        low, high = relaxation.range(np.eye(1, relaxation.rows.shape[1], i)[0])
        if np.ceil(low - CERTAIN) > high + CERTAIN:
            return True
    return relaxation.has_no_integers()


class _Relaxation:
    """Linear inequalities that all weights fulfil at which the objective is small enough, and more.

    Variables are the coefficients of the vectors of a reduced basis, which are integers for weights in float64, then
    the weights that are real numbers, in their units, and what each group or square loses, over ``spent``.
    """

    def __init__(self, pieces: Pieces, at: Point, spent: Decimal, own: Any, spacings: Any, reach: Any) -> None:
        origin, s, others = decimals(floats(at.w)), spacings[own], np.setdiff1d(np.arange(at.w.size), own)
        columns = np.array([pieces.Z.times(_unit(j, origin.size)) for j in range(origin.size)])
        margins, optimal = pieces.c - origin @ columns, pieces.c - at.w @ columns
        scale = _scale(pieces, optimal, spent)
        wide = [max(s_j * (R / (2 * spent)).sqrt(), FREE) for R, s_j in zip(pieces.R[own], s, strict=True)]
        found = lattice(np.column_stack([s[:, None] * columns[own] / scale, np.diag(wide)]), lambda: None)
        k = found.nearest(np.concatenate([(margins - optimal) / scale, (at.w - origin)[own] / s * wide]))
        self._own, self._at, self._start = own, at.w, origin
        self._start[own] = self._start[own] + k * s
        units = [min(reach[j], 2**20 * spacings[j]) if floats(at.w)[j] else reach[j] for j in others]
        self._of_weights = np.full((origin.size, origin.size), ZERO)
        self._of_weights[: own.size, own] = found.units * s
        self._of_weights[own.size + np.arange(others.size), others] = units
        moves = self._of_weights @ columns
        self.rows, self.least = _constraints(pieces, at, pieces.c - self._start @ columns, moves, spent)
        self._n_losses = self.rows.shape[1] - len(moves)
        slope = pieces.R * at.w + pieces.q
        fixed = (pieces.R * at.w * at.w).sum() / 2 + pieces.q @ at.w + slope @ (self._start - at.w)
        cost = np.concatenate([floats(self._of_weights @ slope / spent), np.ones(self._n_losses)])
        self._add(-cost, -float((at.value + spent - fixed) / spent))
        for j in own:
            if reach[j] < UNKNOWN:
                line, here = self._line(j, reach[j])
                self._add(line, -1.0 - here)
                self._add(-line, here - 1.0)
        limits = [float(reach[j] / unit) for j, unit in zip(others, units, strict=True)]
        self._bounds = [(-inf, inf)] * own.size + [(-limit, limit) for limit in limits] + [(0.0, inf)] * self._n_losses

    def _add(self, row: np.ndarray, least: float) -> None:
        self.rows, self.least = np.vstack([self.rows, row]), np.append(self.least, least)

    def _line(self, j: int, unit: Decimal) -> tuple[np.ndarray, float]:
        """Return the coefficients and the constant of (w_j - w*_j) over ``unit``."""
        here = float((self._start[j] - self._at[j]) / unit)
        return np.append(floats(self._of_weights[:, j] / unit), np.zeros(self._n_losses)), here

    def reach(self, j: int) -> Decimal:
        """Return how far weight j can be from the optimum."""
        if j not in self._own:
            return UNKNOWN
        unit = Decimal(float(np.spacing(abs(float(self._at[j])))))
        line, here = self._line(j, unit)
        low, high = self.range(line)
        far = max(abs(low + here), abs(high + here))
        return Decimal(far) * unit * 2 if np.isfinite(far) else UNKNOWN

    def range(self, line: np.ndarray) -> tuple[float, float]:
        """Return the least and the largest value of a linear function; infinite if it is not known."""
        how = {"A_ub": -self.rows, "b_ub": -self.least, "bounds": self._bounds, "method": "highs"}
        low, high = (linprog(side * line, **how) for side in (1.0, -1.0))
        return (low.fun if low.status == 0 else -inf), (-high.fun if high.status == 0 else inf)

    def has_no_integers(self) -> bool:
        """Tell whether there is no solution with integers."""
        n, integers = self.rows.shape[1], np.arange(self.rows.shape[1]) < self._own.size
        bounds = Bounds(*np.array(self._bounds).T)
        within = LinearConstraint(self.rows, lb=self.least - CERTAIN)
        found = milp(np.zeros(n), constraints=within, bounds=bounds, integrality=integers, options={"time_limit": 5.0})
        return bool(found.status == INFEASIBLE)


def _unit(j: int, n: int) -> Any:
    return np.array([Decimal(int(i == j)) for i in range(n)])


def _scale(pieces: Pieces, margins: Any, spent: Decimal) -> Any:
    squares = [(2 * delta * spent).sqrt() for delta in pieces.delta]
    flat = np.abs(margins) / 2
    flat[pieces.group.size :] = ZERO
    return np.maximum(np.concatenate([spent / pieces.U[pieces.group], squares]), flat)


def _constraints(pieces: Pieces, at: Point, margins: Any, moves: Any, spent: Decimal) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and bounds of: what a group or square loses, over ``spent``, is no less than its pieces say."""
    n, n_groups, n_moves = pieces.group.size, pieces.U.size, len(moves)
    rows, least = [], []

    def add(loss: int, slope: Decimal, value: Decimal, i: int) -> None:
        row = np.zeros(n_moves + n_groups + pieces.delta.size)
        row[:n_moves], row[n_moves + loss] = floats(slope * moves[:, i]), 1.0
        rows.append(row)
        least.append(float(value))

    for i in range(n):
        slope = pieces.U[pieces.group[i]] / spent
        add(int(pieces.group[i]), slope, slope * margins[i], i)
    optimal = pieces.c - pieces.Z.times(at.w)
    for i, delta in enumerate(pieces.delta):
        step = (2 * delta * spent).sqrt()
        for t in range(TANGENTS):
            touched = max(optimal[n + i] + step * (t - TANGENTS // 2), ZERO)
            slope = touched / (delta * spent)
            add(n_groups + i, slope, slope * (margins[n + i] - touched / 2), n + i)
    return np.array(rows), np.array(least)
