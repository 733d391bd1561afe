"""A Cholesky factor that outlives its Hessian: a new one takes longer than all else in a step over many weights.

From step to step few rows enter or leave the band, and a stage narrows the smoothing only so much. When the factor was
made, the Hessian was I + s_0 G_0 = L L'. By now G = G_0 + Z' D Z, with a row of Z for each row of the data that has
moved, and

    M = I + s_0 G = L (I + s_0 V D V') L',    V = L^-1 Z',

is easily inverted (Woodbury's formula). It is the Hessian I + s G but for the scale of G. So conjugate gradients with M
as the preconditioner solve Newton's equation in one product if s = s_0, and in a few if it is not far from that.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ...kernels.types import Matrix, Vector
from ..shards.interface import Shards
from .conjugate import conjugate_gradients

WORTH_KEEPING = 400  # weights; a factor of fewer is made faster than an old one is brought up to date
MOST_MOVED = 0.2  # rows that have moved since the factor was made, per weight
MOST_PRODUCTS = 8  # which take about as long as a new factor
EXACT = 1e-3  # fraction of the residual that is left


class KeptFactor:
    """The factor L of I + scale G over the weights, made when the rows had the weights ``entries`` in G."""

    def __init__(self, shards: Shards, factor: Matrix, scale: float, entries: Vector) -> None:
        self._shards, self._L, self._scale, self._entries = shards, factor, scale, entries
        self._which = np.empty(0, dtype=np.intp)  # rows that have moved, in the order of the columns of V
        self._V = np.empty((len(factor), 0), order="F")
        self._W = np.empty((0, 0))  # V' V

    def solve(self, G: Matrix, scale: float, b: Vector) -> tuple[Vector, Vector] | None:
        """Return (I + scale G)^-1 b, of which the upper triangle of G is read, and what is left of b.

        None if the factor is too old for that.
        """
        entries = self._shards.band_entries()
        if entries is None or not self._follow(entries):
            return None
        change = self._scale * (entries[self._which] - self._entries[self._which])
        inner = np.eye(change.size) + change[:, None] * self._W
        if change.any():
            inner, pivots, info = lapack.dgetrf(inner, overwrite_a=True)
            if info != 0:
                return None

        def precondition(r: Vector) -> Vector:
            u = blas.dtrsv(self._L, r, lower=True)
            if change.any():
                t, _ = lapack.dgetrs(inner, pivots, change * (u @ self._V))
                u -= self._V @ t
            return np.asarray(blas.dtrsv(self._L, u, lower=True, trans=1, overwrite_x=True))

        def product(v: Vector) -> Vector:
            return np.asarray(blas.dsymv(scale, G.T, v, beta=1.0, y=v, lower=True))

        enough = EXACT * float(np.sqrt(b @ b))
        p, left, _ = conjugate_gradients(product, precondition, -b, enough, MOST_PRODUCTS)
        return (p, left) if float(np.sqrt(left @ left)) <= enough else None

    def _follow(self, entries: Vector) -> bool:
        """Take in the rows that have moved for the first time; False if there are too many by now."""
        moved = entries != self._entries
        moved[self._which] = False
        new = np.flatnonzero(moved)
        if self._which.size + new.size > MOST_MOVED * len(self._L):
            return False
        if new.size:
            Z = self._shards.dense_rows(new)
            V = blas.dtrsm(1.0, self._L, Z.T, lower=True, overwrite_b=True)
            across = self._V.T @ V
            self._W = np.block([[self._W, across], [across.T, V.T @ V]])
            self._which, self._V = np.append(self._which, new), np.asfortranarray(np.hstack([self._V, V]))
        return True
