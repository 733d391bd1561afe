"""Rows whose products are summed in twice the precision, for columns that depend on each other.

The weights of such columns are large and cancel in every score, so rounding of w and of its products moves a score by
far more than the score's own last digit, and Z' alpha magnifies that error. With margins rounded only once, the dual
variables match w as closely as float64 allows.
"""

from __future__ import annotations

import numpy as np

from ...kernels.double_double import left_of_equation, without_combination, without_products
from ...kernels.types import Matrix, Vector
from .shard import Shard


class PreciseRows:
    """The rows of a shard as a dense matrix; vectors of weights are given as high + low."""

    def __init__(self, shard: Shard, n_weights: int) -> None:
        self._shard = shard
        self._Z = shard.dense_rows(np.arange(shard.n_rows), n_weights)
        self._zeros, self._at_zero = np.zeros(shard.n_rows), np.empty(shard.n_rows)
        shard.margins(np.zeros(n_weights), self._at_zero)

    @property
    def curved(self) -> tuple[Matrix, Vector]:
        """The rows of the band, and their curvatures."""
        which, entries = self._shard.curved()
        return self._Z[which], self._shard.scale * entries

    def left(self, b: Vector, is_free: bool, p: Vector, low: Vector) -> Vector:
        """Return b - (I + Z_B' S Z_B) p; the last weight is not regularised if it ``is_free``."""
        out = np.empty_like(b)
        left_of_equation(b, *self.curved, is_free, p, low, out)
        return out

    def project(self, p: Vector, low: Vector, taus: Vector) -> Matrix:
        """Keep t = Zp; returns the derivatives along the line at ``taus``, as ``Shards.project`` does."""
        without_products(self._zeros, self._Z, -p, -low, self._shard.vectors.t)
        out = np.zeros((taus.size, 2))
        self._shard.derivatives(taus, out)
        return out

    def residual(self, u: Vector, low: Vector) -> Vector:
        """Return u - Z' alpha, alpha being the responses."""
        out = np.empty_like(u)
        without_combination(u, low, self._Z, self._responses(), out)
        return out

    def size_along_line(self) -> float:
        """Return the sum of |alpha_i t_i|: what the derivative along the line is made of."""
        return float(np.abs(self._responses()) @ np.abs(self._shard.vectors.t))

    def _responses(self) -> Vector:
        return self._shard.responses(np.zeros(self._shard.n_rows))

    def place(self, w: Vector, low: Vector) -> None:
        """Compute the margins at w."""
        without_products(self._at_zero, self._Z, w, low, self._shard.vectors.m)
