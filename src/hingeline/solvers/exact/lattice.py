"""Rounds several numbers to float64 together, so that sums of them are more accurate than if each is rounded alone.

A change of k_j units in the last place of each number moves sums of products by sum_j k_j s_j z_j. Rounding each number
alone misses such a sum by about s_j z_j, but other integers k may be closer by orders of magnitude if there are more
numbers than sums, or if columns depend on each other. They are found by reducing the lattice of all changes, each with
its cost (Lenstra, Lenstra and Lovasz, 1982), and rounding in the reduced basis (Babai, 1986).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...kernels.types import Matrix, Vector
from .decimals import ZERO, Cholesky, Decimals, decimals, floats

ROWS_PER_TARGET = 3  # numbers that change for each component of the target
MOST_UNITS = 2.0**20  # about the most units by which a number changes
LOVASZ, MOST_SWAPS, MOST_PASSES = 0.9, 5_000, 6
SWAPS_BETWEEN_CHECKS = 50
TINIEST = 1e-300  # squared length that counts as zero

_integers = np.frompyfunc(Decimal, 1, 1)


class Lattice(NamedTuple):
    """A reduced basis: its vectors as rows, and the integers that combine them from the original vectors."""

    basis: Decimals
    units: Decimals

    def nearest(self, target: Decimals) -> Decimals:
        """Return integers whose combination of the original vectors is near ``target``."""
        k = np.zeros(len(self.units), dtype=object)
        for _ in range(2):  # the second time corrects the rounding of the first
            for i, times in enumerate(_nearest_plane(floats(self.basis), floats(target))):
                target, k = target - int(times) * self.basis[i], k + int(times) * self.units[i]
        return k


def lattice(vectors: Decimals, check: Callable[[], None]) -> Lattice:
    """Return a reduced basis of the lattice of the rows; ``check`` is called at intervals."""
    n = len(vectors)
    units = np.array([[int(i == j) for j in range(n)] for i in range(n)], dtype=object)
    for _ in range(MOST_PASSES):  # float64 only sees the largest parts, and each pass removes them
        change = _reduced(floats(vectors), check)
        if change is None:
            break
        vectors, units = change @ vectors, change @ units
    return Lattice(vectors, units)


def moved(values: Vector, k: Decimals) -> Vector:
    """Return ``values``, each changed by k_j units in the last place."""
    return floats(decimals(values) + decimals(np.spacing(np.abs(values))) * _integers(k))


def nearer(
    a: Vector,
    target: Decimals,
    Z: Decimals,
    accuracy: Vector,
    price: Vector,
    limits: tuple[Vector, Vector],
    units: float,
    check: Callable[[], None],
) -> Vector:
    """Return numbers like ``a``, within their limits, whose Z'a is the target up to about ``accuracy``.

    ``price`` is the cost of changing each number by one, as a fraction of what may be spent. The numbers that change
    are first moved away from their limits by these ``units``, so that each can go either way; those with the most room
    compensate for that.
    """
    (low, high), s = limits, np.spacing(np.abs(a))
    room = units * s
    far = np.where(a < 0.0, np.clip(a, low + room, -room), np.clip(a, room, high - room))
    rows = np.flatnonzero((a != 0.0) & (far - low >= room) & (high - far >= room))
    rows = rows[np.argsort((price * s)[rows], kind="stable")][: ROWS_PER_TARGET * Z.shape[1] + 1]
    if not rows.size:
        return a
    out, own = a.copy(), Z[rows]
    out[rows] = far[rows]
    squares = decimals(np.minimum(np.minimum(far - low, high - far), np.abs(a).max())[rows]) ** 2
    K = own.T @ (squares[:, None] * own) + np.diag(decimals(accuracy) ** 2)
    out[rows] = floats(decimals(out[rows]) + squares * (own @ Cholesky(K).solve(target - Z.T @ decimals(out))))
    s, missing = np.spacing(np.abs(out[rows])), target - Z.T @ decimals(out)
    prices = np.diag(decimals(np.maximum(price[rows] * s, 1.0 / MOST_UNITS)))
    moves = np.column_stack([own * decimals(s)[:, None] / decimals(accuracy), prices])
    goal = np.concatenate([missing / decimals(accuracy), np.full(rows.size, ZERO)])
    out[rows] = moved(out[rows], lattice(moves, check).nearest(goal))
    return np.clip(out, low, high)


def _reduced(B: Matrix, check: Callable[[], None]) -> Decimals | None:
    """Return the integer matrix T that makes T B a reduced basis, as far as float64 tells; None if nothing changes."""
    if not np.isfinite(B).all():
        return None
    n, B = len(B), B.copy()
    T = np.array([[int(i == j) for j in range(n)] for i in range(n)], dtype=object)
    Q, mu, squares = np.zeros_like(B), np.zeros((n, n)), np.zeros(n)
    changed, k, swaps = False, 0, 0
    while k < n:
        for _ in range(3):
            mu[k, :k] = (Q[:k] @ B[k]) / squares[:k]
            is_reduced = True
            for j in range(k - 1, -1, -1):
                times = np.rint(mu[k, j])
                if times:
                    B[k] -= times * B[j]
                    T[k] = T[k] - int(times) * T[j]
                    mu[k, :j] -= times * mu[j, :j]
                    changed, is_reduced = True, False
            if is_reduced:
                break
        mu[k, :k] = (Q[:k] @ B[k]) / squares[:k]
        Q[k] = B[k] - mu[k, :k] @ Q[:k]
        squares[k] = max(Q[k] @ Q[k], TINIEST)
        if k and squares[k] < (LOVASZ - mu[k, k - 1] ** 2) * squares[k - 1] and swaps < MOST_SWAPS:
            B[[k - 1, k]], T[[k - 1, k]] = B[[k, k - 1]], T[[k, k - 1]]
            changed, k, swaps = True, k - 1, swaps + 1
            if swaps % SWAPS_BETWEEN_CHECKS == 0:
                check()
        else:
            k += 1
    return T if changed else None


def _nearest_plane(B: Matrix, target: Vector) -> Vector:
    """Return the integers whose combination of the rows of a reduced basis is near ``target``."""
    out = np.zeros(len(B))
    if not (np.isfinite(B).all() and np.isfinite(target).all()):
        return out
    Q, R = np.linalg.qr(B.T)
    left = Q.T @ target
    for i in range(len(B) - 1, -1, -1):
        out[i] = np.rint(left[i] / R[i, i]) if R[i, i] else 0.0
        left = left - out[i] * R[:, i]
    return out if np.isfinite(out).all() else np.zeros(len(B))
