"""Weights in float64, rounded together: their margins are nearer to the optimal ones than if each is rounded alone."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import combinations, product

import numpy as np

from ...kernels.types import Indices, Matrix, Vector
from .decimals import ZERO, Decimals, decimals, floats
from .interior import Pieces, Point
from .lattice import lattice, moved

SPENT = Decimal("1e-4")  # share of the objective that each piece and each weight may cost
FREE = Decimal("1e-30")  # share of that which a unit of a weight that is not regularised counts for
MOST_STEPS, MOST_AT_ONCE = 200, 7_000  # steps one after the other; to choose one of
BETTER = 1e-9  # share of the objective that a step has to bring


def weights_on_lattice(pieces: Pieces, at: Point, check: Callable[[], None]) -> Vector | None:
    """Return weights in float64 near to the solution whose objective is small; None if there are none.

    Changes of the weights in their last digits form a lattice, with the changes of all margins as components, each as a
    multiple of what it may be. Starts are the vector that is nearest to the solution and no change at all; then vectors
    of the reduced basis, and sums of them, are added as long as the objective becomes smaller.
    """
    w = floats(at.w)
    own = np.flatnonzero(w)
    if not own.size or not at.value > 0:
        return None
    s, spent = decimals(np.spacing(np.abs(w)))[own], SPENT * at.value
    margins, optimal = pieces.c - pieces.Z.times(decimals(w)), pieces.c - pieces.Z.times(at.w)
    accuracy = _accuracy(pieces, optimal, spent)
    effects = np.array([pieces.Z.times(_unit(j, w.size, s_j)) for j, s_j in zip(own.tolist(), s, strict=True)])
    prices = [max(s_j * (R / (2 * spent)).sqrt(), FREE) for R, s_j in zip(pieces.R[own], s, strict=True)]
    found = lattice(np.column_stack([effects / accuracy, np.diag(prices)]), check)
    k = found.nearest(np.concatenate([(margins - optimal) / accuracy, (at.w - decimals(w))[own] / s * prices]))
    walk = _Walk(pieces, float(at.value), own, floats(found.units @ effects), floats(found.units * s))
    ends = []
    for start in (k, 0 * k):
        steps, value = walk.taken(floats(margins - start @ effects), floats(decimals(w)[own] + start * s))
        ends.append((value, moved(w[own], start + steps @ found.units)))
    out = w.copy()
    out[own] = min(ends, key=lambda end: end[0])[1]
    return out if np.isfinite(out).all() else None


def _unit(j: int, n: int, value: Decimal) -> Decimals:
    out = np.full(n, ZERO)
    out[j] = value
    return out


def _accuracy(pieces: Pieces, margins: Decimals, spent: Decimal) -> Decimals:
    """Return by how much each margin may change.

    The objective falls and rises with those beyond the kinks, but at the solution these changes cancel each other.
    """
    n, curved = pieces.group.size, margins[pieces.group.size :] > 0
    kinks = np.abs(margins) / 2
    kinks[n:][curved] = ZERO
    squares = [(2 * delta * spent).sqrt() for delta in pieces.delta]
    return np.maximum(np.concatenate([spent / pieces.U[pieces.group], squares]), kinks)


def _steps(d: int) -> Matrix:
    """Return combinations of d vectors: all with small coefficients if they are few, else sums of two."""
    for most in (3, 2, 1):
        if (2 * most + 1) ** d <= MOST_AT_ONCE:
            return np.array(list(product(range(-most, most + 1), repeat=d)))
    one = np.eye(d, dtype=int)
    steps = [*one, *(a + side * b for a, b in combinations(one, 2) for side in (1, -1))]
    return np.concatenate([steps, np.negative(steps)])


class _Walk:
    """Steps along combinations of the vectors of a basis, which change margins and weights."""

    def __init__(self, pieces: Pieces, value: float, own: Indices, of_margins: Matrix, of_weights: Matrix) -> None:
        self._steps = _steps(len(of_margins))
        self._of_margins, self._of_weights = self._steps @ of_margins, self._steps @ of_weights
        self._U, self._delta = floats(pieces.U), floats(pieces.delta)
        self._n, self._first = pieces.group.size, np.flatnonzero(np.diff(pieces.group, prepend=-1))  # in order
        self._R, self._q, self._value = floats(pieces.R[own]), floats(pieces.q[own]), value

    def taken(self, m: Vector, w: Vector) -> tuple[Decimals, float]:
        """Return how often each vector is added, from these margins and weights on, and the objective there."""
        out, losses = np.zeros(self._steps.shape[1], dtype=int), self._losses(m[None])[0]
        for _ in range(MOST_STEPS):
            there = self._losses(m - self._of_margins)
            penalty = self._of_weights @ (self._R * w + self._q) + self._of_weights**2 @ self._R / 2.0
            change = there - losses + penalty
            best = int(np.argmin(change))
            if not change[best] < -BETTER * self._value:
                break
            out, losses = out + self._steps[best], there[best]
            m, w = m - self._of_margins[best], w + self._of_weights[best]
        return out.astype(object), float(losses + self._q @ w + self._R @ w**2 / 2.0)

    def _losses(self, m: Matrix) -> Vector:
        """Return the sum of all losses, for every row of margins."""
        n = self._n
        worst = np.maximum.reduceat(m[:, :n], self._first, axis=1) if n else m[:, :0]
        squares = np.maximum(m[:, n:], 0.0) ** 2 / (2.0 * self._delta)
        return np.asarray(np.maximum(worst, 0.0) @ self._U + squares.sum(axis=1))
