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
from typing import Any

import numpy as np
from scipy.optimize import linprog

from hingeline.solvers.exact import last_resort
from hingeline.solvers.exact.decimals import DIGITS, ONE, ZERO, decimals, floats
from hingeline.solvers.exact.interior import Pieces, Point
from hingeline.solvers.exact.lattice import lattice

GOOD_GAP = Decimal("1e-3")
TANGENTS = 9  # of each square
CERTAIN = 1e-4  # what linear programming may be wrong by, in units of the lattice


@contextmanager
def watched() -> Iterator[list[tuple[Any, Any]]]:
    """Collect the problems that are solved in decimals, with what was found for them."""
    collected: list[tuple[Any, Any]] = []
    best_model = last_resort.best_model

    def watch(exact: Any, check: Any) -> Any:
        model = best_model(exact, check)
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
    # P grows by at least R_j (w_j - w*_j)^2/2. How far a weight goes that is not regularised is looked at in the end.
    reach = np.array(
        [(2 * spent / R).sqrt() if R else abs(w) / 2 or ONE for R, w in zip(pieces.R, at.w, strict=True)], dtype=object
    )
    nearest_to_zero = floats(np.abs(at.w) - reach)
    own = np.flatnonzero(nearest_to_zero > 0.0)
    others = np.flatnonzero(~(nearest_to_zero > 0.0))  # as fine as need be: real numbers
    if not own.size:
        return False
    s = decimals(np.spacing(nearest_to_zero[own]))
    origin = decimals(floats(at.w))
    columns = np.array([pieces.Z.times(_unit(j, origin.size)) for j in range(origin.size)])
    margins, optimal = pieces.c - origin @ columns, pieces.c - at.w @ columns
    scale = _scale(pieces, optimal, spent)
    wide = [max(s_j * (R / (2 * spent)).sqrt(), Decimal("1e-30")) for R, s_j in zip(pieces.R[own], s, strict=True)]
    found = lattice(np.column_stack([s[:, None] * columns[own] / scale, np.diag(wide)]), lambda: None)
    k = found.nearest(np.concatenate([(margins - optimal) / scale, (at.w - origin)[own] / s * wide]))
    # Variables: the integers of the basis, the real weights over what they can reach, and what each group loses.
    moves = np.vstack([found.units @ (s[:, None] * columns[own]), reach[others][:, None] * columns[others]])
    margins = margins - (k * s) @ columns[own]
    of_weights = np.full((len(moves), origin.size), ZERO)
    of_weights[: own.size, own] = found.units * s
    of_weights[own.size + np.arange(others.size), others] = reach[others]
    start = origin.copy()
    start[own] = start[own] + k * s
    rows, least = _constraints(pieces, at, margins, moves, spent)
    slope = pieces.R * at.w + pieces.q
    fixed = (pieces.R * at.w * at.w).sum() / 2 + pieces.q @ at.w + slope @ (start - at.w)
    n_losses = rows.shape[1] - len(moves)
    cost = np.concatenate([floats(of_weights @ slope / spent), np.ones(n_losses)])
    rows, least = np.vstack([rows, -cost]), np.append(least, -float((at.value + spent - fixed) / spent))
    limited: list[tuple[Any, Any]] = [(-1.0, 1.0) if pieces.R[j] else (None, None) for j in others]
    bounds = [(None, None)] * own.size + limited + [(0.0, None)] * n_losses
    lines = {j: np.append(floats(of_weights[:, j] / reach[j]), np.zeros(n_losses)) for j in own.tolist()}
    here = {j: float((start[j] - at.w[j]) / reach[j]) for j in lines}
    for j, line in lines.items():
        if pieces.R[j]:
            rows, least = np.vstack([rows, line, -line]), np.append(least, [-1.0 - here[j], here[j] - 1.0])
    for j, line in lines.items():
        if not pieces.R[j]:
            low, high = _range(line, rows, least, bounds)
            if not (low + here[j] > -1.0 and high + here[j] < 1.0):
                return False
    for i in range(own.size - 1, -1, -1):
        low, high = _range(np.eye(1, rows.shape[1], i)[0], rows, least, bounds)
        if np.ceil(low - CERTAIN) > high + CERTAIN:
            return True
    return False


def _range(line: np.ndarray, rows: np.ndarray, least: np.ndarray, bounds: list) -> tuple[float, float]:
    """Return the least and the largest value of a linear function; infinite if it is not known."""
    found = [linprog(side * line, A_ub=-rows, b_ub=-least, bounds=bounds, method="highs") for side in (1.0, -1.0)]
    low, high = (float(each.fun) if each.status == 0 else -np.inf for each in found)
    return low, -high


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
