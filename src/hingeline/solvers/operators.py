"""The matrix Z (rows z_i = y_i x_i) as the Newton engine sees it: products, Gram matrix, rows as a dense block.

The engine is written against these four methods alone, so another array library can stand behind them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ..kernels.passes import add_gram, add_weights, scores
from ..kernels.rows import CsrRows, DenseRows
from ..pace import Pace
from ..problem import Problem

NARROW = 24  # columns up to which a plain loop beats a call of BLAS


class RowOperator:
    """Z over a row view, a slice at a time; vectors of features have the intercept's entry last."""

    def __init__(self, problem: Problem, y: np.ndarray, pace: Pace) -> None:
        self._rows = problem.data.rows
        self._y = y
        self._pace = pace
        self.n_rows, self.n_weights = problem.data.n_rows, problem.data.n_features + 1

    def times(self, p: np.ndarray) -> np.ndarray:
        """Return Z p."""
        out = np.empty(self.n_rows)
        for begin, end in self._pace.slices(self.n_rows):
            scores(self._rows, p, out, begin, end)
        out *= self._y
        return out

    def transposed(self, alpha: np.ndarray) -> np.ndarray:
        """Return Z' alpha."""
        out = np.zeros(self.n_weights)
        for begin, end in self._pace.slices(self.n_rows):
            add_weights(self._rows, alpha, self._y, out, begin, end)
        return out

    def gram(self, s: np.ndarray) -> np.ndarray:
        """Return the lower triangle of I + sum_i s_i z_i z_i' (the labels cancel)."""
        if isinstance(self._rows, DenseRows) and self.n_weights > NARROW:
            return self._dense_gram(self._rows, s)
        G = np.eye(self.n_weights)
        for begin, end in self._pace.slices(self.n_rows):
            add_gram(self._rows, s, G, begin, end)
        return G.T  # Fortran's order, as LAPACK wants it

    def block(self, band: np.ndarray) -> np.ndarray:
        """Return the rows ``band`` of Z as a dense matrix."""
        rows = self._rows
        Z = np.zeros((band.size, self.n_weights))
        for k, i in enumerate(band):
            if isinstance(rows, DenseRows):
                Z[k, :-1] = rows.X[i]
            else:
                inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
                np.add.at(Z[k], rows.indices[inside], rows.data[inside] if isinstance(rows, CsrRows) else 1.0)
        Z[:, -1] = rows.bias
        Z *= self._y[band, None]
        return Z

    def _dense_gram(self, rows: DenseRows, s: np.ndarray) -> np.ndarray:
        """Rank-k updates by BLAS on blocks of the band."""
        G = np.eye(self.n_weights, order="F")
        band = np.flatnonzero(s)
        for begin, end in self._pace.slices(band.size):
            part = band[begin:end]
            root = np.sqrt(s[part])
            block = np.empty((part.size, self.n_weights))
            np.multiply(rows.X[part], root[:, None], out=block[:, :-1])
            block[:, -1] = rows.bias * root
            G = blas.dsyrk(1.0, block.T, beta=1.0, c=G, lower=True, overwrite_c=True)
        return G
