"""The matrix Z (rows z_i = s_i x_i) as the Newton engines see it: products, Gram matrix, rows as a dense block.

The engines are written against these methods alone, so another array library can stand behind them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ...data.problem import Problem
from ...kernels.gram import add_gram
from ...kernels.passes import add_curvature, add_diagonal, add_weights, signed_scores
from ...kernels.rows import CsrRows, DenseRows
from ...runtime.pace import Pace
from ...runtime.threads import summed

NARROW = 100  # columns up to which a loop over blocks of rows beats a call of BLAS, which wants them copied


class RowOperator:
    """Z over a row view, a slice at a time; vectors of features have the intercept's entry last."""

    def __init__(self, problem: Problem, s: np.ndarray, pace: Pace) -> None:
        self.rows = problem.data.rows
        self.s = s
        self.distinct = problem.data.distinct
        self._pace = pace
        self._blocks = Pace(pace.between, first=256)
        self.n_rows, self.n_weights = problem.data.n_rows, problem.data.n_features + 1

    def times(self, p: np.ndarray) -> np.ndarray:
        """Return Z p."""
        out = np.empty(self.n_rows)
        self._pace.each(self.n_rows, lambda part, begin, end: signed_scores(self.rows, self.s, p, out, begin, end))
        return out

    def transposed(self, alpha: np.ndarray) -> np.ndarray:
        """Return Z' alpha."""
        out = np.zeros((self._pace.n_parts, self.n_weights))
        self._pace.each(
            self.n_rows, lambda part, begin, end: add_weights(self.rows, alpha, self.s, out[part], begin, end)
        )
        return summed(out)

    def update_gram(self, s: np.ndarray, counted: np.ndarray, G: np.ndarray) -> None:
        """Bring G = sum_i counted_i z_i z_i' (upper triangle; the labels cancel), and ``counted``, to weights s."""
        change = s - counted
        counted[:] = s
        if isinstance(self.rows, DenseRows) and self.n_weights > NARROW:
            self._add_dense_gram(self.rows, change, G)
            return
        parts = np.zeros((self._pace.n_parts - 1, *G.shape))
        self._pace.each(
            self.n_rows,
            lambda part, begin, end: add_gram(
                self.rows, change, self.distinct, parts[part - 1] if part else G, begin, end
            ),
        )
        for part in parts:
            G += part

    def curvature_times(self, s: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return Z' S Z v (the signs cancel)."""
        out = np.zeros((self._pace.n_parts, self.n_weights))
        self._pace.each(self.n_rows, lambda part, begin, end: add_curvature(self.rows, s, v, out[part], begin, end))
        return summed(out)

    def curvature_diagonal(self, s: np.ndarray) -> np.ndarray:
        """Return the diagonal of Z' S Z."""
        out = np.zeros((self._pace.n_parts, self.n_weights))
        self._pace.each(self.n_rows, lambda part, begin, end: add_diagonal(self.rows, s, out[part], begin, end))
        return summed(out)

    def block(self, band: np.ndarray) -> np.ndarray:
        """Return the rows ``band`` of Z as a dense matrix."""
        rows = self.rows
        Z = np.zeros((band.size, self.n_weights))
        for k, i in enumerate(band):
            if isinstance(rows, DenseRows):
                Z[k, :-1] = rows.X[i]
            else:
                inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
                np.add.at(Z[k], rows.indices[inside], rows.data[inside] if isinstance(rows, CsrRows) else 1.0)
        Z[:, -1] = rows.bias
        Z *= self.s[band, None]
        return Z

    def _add_dense_gram(self, rows: DenseRows, s: np.ndarray, G: np.ndarray) -> None:
        """Rank-k updates by BLAS on blocks of rows: first those with s_i > 0, then those with s_i < 0."""
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(s * sign > 0.0)
            for begin, end in self._blocks.slices(chosen.size):
                part = chosen[begin:end]
                root = np.sqrt(np.abs(s[part]))
                block = np.empty((part.size, self.n_weights))
                np.multiply(rows.X[part], root[:, None], out=block[:, :-1])
                block[:, -1] = rows.bias * root
                # The upper triangle of a C-ordered G is the lower one of its Fortran-ordered transpose.
                blas.dsyrk(sign, block.T, beta=1.0, c=G.T, lower=True, overwrite_c=True)
