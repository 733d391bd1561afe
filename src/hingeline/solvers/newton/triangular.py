"""Newton's equation by its rows, for columns that depend on each other or have very different scales.

The Hessian I + Z' S Z is R'R for the triangular factor R of the rows (S^1/2 Z, then I). R is found without squaring
anything, so even columns that differ by a millionth of their size can be told apart. The residual of the equation is
computed in twice the precision and corrected for, so that p has twice the digits too.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import lapack, qr

from ...kernels.double_double import factor_columns, move, scale_rows
from ...kernels.types import Indices, Matrix, Vector

CORRECTIONS = 12
LARGEST_PRECISE = 100_000  # rows times squared columns: some 5 ms; a factor of more has the usual precision
SLOW = 0.5  # fraction of the residual that a correction may leave; beyond, it is rounding


class Rows(Protocol):
    """Rows Z of a Hessian with their curvatures S, and the residual of an equation in twice the precision."""

    @property
    def curved(self) -> tuple[Matrix, Vector]:
        """Return Z and S."""

    def left(self, b: Vector, is_free: bool, p: Vector, low: Vector) -> Vector:
        """Return b - (I + Z' S Z) p; the last weight is not regularised if it ``is_free``."""


@np.errstate(over="ignore", invalid="ignore")  # an answer that is not finite is none
def solved_by_rows(rows: Rows, b: Vector, is_free: bool) -> tuple[Vector, Vector] | None:
    """Return p = (I + Z' S Z)^-1 b as high + low; None if rounding leaves no solution.

    If the last weight ``is_free``, it is not regularised: I has no 1 there.
    """
    factor = _Triangular.of(*rows.curved, is_free)
    if factor is None:
        return None
    p, low, left, size = np.zeros_like(b), np.zeros_like(b), b, np.inf
    found = (p, low)
    for _ in range(1 + CORRECTIONS):
        step = factor.solve(left)
        move(p, low, 1.0, step, np.zeros_like(step))
        left = rows.left(b, is_free, p, low)
        before, size = size, float(np.abs(factor.scaled(left)).max())
        if size < before:
            found = (p.copy(), low.copy())
        if not 0.0 < size < SLOW * before:
            break
    return found if size < np.inf and all(np.isfinite(part).all() for part in found) else None


class _Triangular:
    """R of the rows, its columns scaled to unit length and ordered."""

    def __init__(self, R: Matrix, order: Indices, lengths: Vector) -> None:
        self._R, self._order, self._lengths = R, order, lengths

    @classmethod
    def of(cls, Z: Matrix, curvatures: Vector, is_free: bool) -> _Triangular | None:
        """Return the factor of the rows Z; None if a column has no length, or depends on others altogether."""
        roots, n = np.sqrt(curvatures), Z.shape[1]
        weighted = roots[:, None] * Z
        lengths = np.sqrt(np.sum(weighted * weighted, axis=0) + 1.0)
        if not np.isfinite(lengths).all():
            return None
        lengths = np.exp2(np.round(np.log2(lengths)))  # to divide by them rounds nothing
        if Z.size * n > LARGEST_PRECISE:
            weighted = weighted[np.argsort(-np.abs(weighted).max(axis=1))]  # large rows first, or they swamp the others
            rows = np.vstack([weighted, np.eye(n)[: n - is_free]]) / lengths
            R, order = qr(rows, mode="r", pivoting=True, check_finite=False)
            R = R[:n]
        else:
            R, order = _factored(Z, roots, lengths, is_free)
        return cls(R, order, lengths) if (np.abs(R.diagonal()) > 0.0).all() else None

    def scaled(self, b: Vector) -> Vector:
        """Return b in units of the columns."""
        return np.asarray(b / self._lengths)

    def solve(self, b: Vector) -> Vector:
        """Return (R'R)^-1 b."""
        y, _ = lapack.dtrtrs(self._R, self.scaled(b)[self._order], trans=1)
        x, _ = lapack.dtrtrs(self._R, y)
        p = np.empty_like(b)
        p[self._order] = x
        return np.asarray(p / self._lengths)


def _factored(Z: Matrix, roots: Vector, lengths: Vector, is_free: bool) -> tuple[Matrix, Indices]:
    """Return R and the order of its columns, for rows of any scale."""
    k, n = Z.shape
    A, low = np.zeros((n, k + n)), np.zeros((n, k + n))
    scale_rows(Z, roots, lengths, A, low)
    A[np.arange(n - is_free), k + np.arange(n - is_free)] = 1.0 / lengths[: n - is_free]
    R, order = np.zeros((n, n)), np.empty(n, dtype=np.int64)
    factor_columns(A, low, order, R)
    return R, order
