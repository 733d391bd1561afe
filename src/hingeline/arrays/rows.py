"""X on a device: products with it and with its transpose, and weighted Gram matrices, all of them in float64.

float32 values are widened tile by tile, never as a whole. The constant feature, whose weight is the intercept's, is the
last column of every product, and stored nowhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import array_api_compat as compat
import numpy as np

from .namespace import Place, is_fused, no_warnings

TILE = 1 << 24  # values that are widened at a time: 128 MB
NARROW, CHUNK = (
    128,
    2048,
)  # a Gram matrix of few columns is summed over chunks of so many rows


class ArrayRows(ABC):
    """Rows of X on a device.

    Attributes
    ----------
    place : Place
    n_rows, n_features, n_stored : int
    bias : float
        Value of the constant feature.
    """

    place: Place
    n_rows: int
    n_features: int
    n_stored: int
    bias: float
    can_sample = False  # whether ``taken`` is cheap

    @abstractmethod
    def _product(self, w: Any) -> Any:
        """Return X w, for a vector or several columns."""

    @abstractmethod
    def _transposed(self, a: Any) -> Any:
        """Return X' a, for a vector or several columns."""

    @abstractmethod
    def _squares(self) -> Any:
        """Return the squared lengths of the rows."""

    @abstractmethod
    def _weighted_squares(self, s: Any) -> Any:
        """Return the diagonal of X' S X, for a vector s or several columns."""

    @abstractmethod
    def _blocks(self, s: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the rows whose s is not zero, dense and in float64, with their s."""

    @abstractmethod
    def taken(self, which: Any) -> ArrayRows:
        """Return a copy of some rows."""

    def times(self, w: Any) -> Any:
        """Return the scores of all rows; w, on the device, has the constant feature's weight at its end."""
        scores = self._product(w[:-1])
        return scores + self.bias * w[-1] if self.bias else scores

    def signed_times(self, w: Any, signs: Any) -> Any:
        """Return the scores, each times its sign."""
        return self.times(w) * signs

    def transposed_times(self, a: Any) -> Any:
        """Return sum_i a_i x_i, the constant feature's entry at the end."""
        xp = self.place.xp
        return xp.concat([self._transposed(a), xp.reshape(self.bias * xp.sum(a), (1,))])

    def times_many(self, W: Any) -> Any:
        """Return the scores of all rows, a column for each of W."""
        scores = self._product(W[:-1, :])
        return scores + self.bias * W[-1:, :] if self.bias else scores

    def transposed_times_many(self, A: Any) -> Any:
        """Return sum_i a_ik x_i for each column k of A."""
        xp = self.place.xp
        return xp.concat([self._transposed(A), self.bias * xp.sum(A, axis=0)[None, :]], axis=0)

    def squared_lengths(self) -> Any:
        """Return |x_i|^2, the constant feature included."""
        return self._squares() + self.bias * self.bias

    def diagonal(self, s: Any) -> Any:
        """Return the diagonal of sum_i s_i x_i x_i', or a column for each of s."""
        xp = self.place.xp
        return xp.concat([self._weighted_squares(s), self.bias**2 * xp.sum(s, axis=0, keepdims=True)])

    def gram(self, s: Any) -> Any:
        """Return sum_i s_i x_i x_i'; rows whose s is zero cost nothing."""
        xp, d = self.place.xp, self.n_features
        G, h, total = self.place.full((d, d), 0.0), self.place.full((d,), 0.0), self.place.full((1,), 0.0)
        for X, own in self._blocks(s):
            weighted = X * own[:, None]
            G = G + product_of_columns(xp, weighted, X)
            h = h + self.bias * xp.sum(weighted, axis=0)
            total = total + self.bias**2 * xp.sum(own)
        side = xp.concat([G, h[None, :]], axis=0)
        return xp.concat([side, xp.concat([h, total])[:, None]], axis=1)

    def dense(self, which: Any) -> Any:
        """Return the rows ``which``, dense and in float64, with the constant feature."""
        xp, chosen = self.place.xp, self.taken(which)
        ones = self.place.full((int(which.shape[0]),), 1.0)
        X = xp.concat([block for block, _ in chosen._blocks(ones)], axis=0)
        return xp.concat([X, self.place.full((X.shape[0], 1), self.bias)], axis=1)


def product_of_columns(xp: Any, A: Any, B: Any) -> Any:
    """Return A'B; of many rows and few columns by chunks, so that there is enough to do at the same time."""
    n, d = A.shape
    if d > NARROW or n < 2 * CHUNK:
        return xp.matmul(A.T, B)
    whole = n // CHUNK * CHUNK
    chunks = [xp.reshape(M[:whole, :], (-1, CHUNK, d)) for M in (A, B)]
    G = xp.sum(xp.matmul(xp.permute_dims(chunks[0], (0, 2, 1)), chunks[1]), axis=0)
    return G + xp.matmul(A[whole:, :].T, B[whole:, :]) if whole < n else G


class DenseArrayRows(ArrayRows):
    """A matrix of floating-point numbers."""

    can_sample = True

    def __init__(self, X: Any, bias: float) -> None:
        self.X, self.place, self.bias = X, Place.of(X), bias
        self.n_rows, self.n_features = map(int, X.shape)
        self.n_stored = self.n_rows * self.n_features
        self._is_wide = X.dtype == self.place.xp.float64

    def _tiles(self) -> Iterator[slice]:
        rows = max(1, TILE // max(1, self.n_features))
        for begin in range(0, self.n_rows, rows):
            yield slice(begin, min(begin + rows, self.n_rows))

    def _widened(self, X: Any) -> Any:
        return X if self._is_wide else self.place.xp.astype(X, self.place.xp.float64)

    def _product(self, w: Any) -> Any:
        xp = self.place.xp
        if self._is_wide:
            return xp.matmul(self.X, w)
        return xp.concat([xp.matmul(self._widened(self.X[tile, :]), w) for tile in self._tiles()])

    def _transposed(self, a: Any) -> Any:
        xp, total = self.place.xp, self.place.full((self.n_features, *a.shape[1:]), 0.0)
        if self._is_wide:
            return xp.matmul(self.X.T, a)
        for tile in self._tiles():
            total = total + xp.matmul(self._widened(self.X[tile, :]).T, a[tile, ...])
        return total

    def _squares(self) -> Any:
        xp = self.place.xp
        return xp.concat([xp.sum(self._widened(self.X[tile, :]) ** 2, axis=1) for tile in self._tiles()])

    def _weighted_squares(self, s: Any) -> Any:
        xp, total = self.place.xp, self.place.full((self.n_features, *s.shape[1:]), 0.0)
        for tile in self._tiles():
            total = total + xp.matmul((self._widened(self.X[tile, :]) ** 2).T, s[tile, ...])
        return total

    def _blocks(self, s: Any) -> Iterator[tuple[Any, Any]]:
        xp = self.place.xp
        (which,) = xp.nonzero(s)
        if int(which.shape[0]) == self.n_rows:
            for tile in self._tiles():
                yield self._widened(self.X[tile, :]), s[tile]
            return
        rows = max(1, TILE // max(1, self.n_features))
        for begin in range(0, int(which.shape[0]), rows):
            own = which[begin : min(begin + rows, int(which.shape[0]))]
            yield self._widened(xp.take(self.X, own, axis=0)), xp.take(s, own)

    def taken(self, which: Any) -> DenseArrayRows:  # noqa: D102
        return type(self)(self.place.xp.take(self.X, which, axis=0), self.bias)


class SparseArrayRows(ArrayRows):
    """A matrix in CSR form, PyTorch's or CuPy's, with a transposed copy: products then need no atomic additions."""

    def __init__(self, X: Any, bias: float) -> None:
        self.place, self.bias = Place.of(X), bias
        self.n_rows, self.n_features = map(int, X.shape)
        self._is_torch = compat.is_torch_array(X)
        if self._is_torch:
            with no_warnings():  # PyTorch calls its sparse matrices a beta version
                self._X = X.to(self.place.xp.float64)
                self._Xt = self._X.to_sparse_csc().transpose(0, 1)
            self.n_stored = int(X.values().shape[0])
        else:
            self._X = X.astype(np.float64)
            self._Xt = self._X.T.tocsr()
            self.n_stored = int(X.nnz)

    def _product(self, w: Any) -> Any:
        return self._X @ w

    def _transposed(self, a: Any) -> Any:
        return self._Xt @ a

    def _squared(self, X: Any) -> Any:
        if self._is_torch:
            torch = self.place.xp
            parts = (X.crow_indices(), X.col_indices(), X.values() ** 2)
            return torch.sparse_csr_tensor(*parts, X.shape, check_invariants=False)
        return X.multiply(X)

    def _squares(self) -> Any:
        return self._squared(self._X) @ self.place.full((self.n_features,), 1.0)

    def _weighted_squares(self, s: Any) -> Any:
        return self._squared(self._Xt) @ s

    def _blocks(self, s: Any) -> Iterator[tuple[Any, Any]]:
        (which,) = self.place.xp.nonzero(s)
        rows = max(1, TILE // max(1, self.n_features))
        for begin in range(0, int(which.shape[0]), rows):
            own = which[begin : min(begin + rows, int(which.shape[0]))]
            yield self._dense(own), s[own]

    def _dense(self, which: Any) -> Any:
        """Return some rows as a dense matrix."""
        if not self._is_torch:
            return self._X[which].toarray()
        torch, X = self.place.xp, self._X
        starts = X.crow_indices()
        lengths = starts[which + 1] - starts[which]
        row = torch.repeat_interleave(torch.arange(which.shape[0], device=self.place.device), lengths)
        first = torch.repeat_interleave(starts[which] - (torch.cumsum(lengths, 0) - lengths), lengths)
        at = torch.arange(row.shape[0], device=self.place.device) + first
        out = self.place.full((which.shape[0], self.n_features), 0.0)
        out.index_put_((row, X.col_indices()[at]), X.values()[at], accumulate=True)
        return out

    def taken(self, which: Any) -> ArrayRows:  # noqa: D102
        return DenseArrayRows(self._dense(which), self.bias)


def array_rows(X: Any, bias: float) -> ArrayRows:
    """Return the rows of X, an array or a CSR matrix on a device."""
    is_sparse = type(X).__module__.startswith("cupyx.") or (compat.is_torch_array(X) and "strided" not in str(X.layout))
    if is_sparse:
        return SparseArrayRows(X, bias)
    if not is_fused(Place.of(X)):
        return DenseArrayRows(X, bias)
    from .fused_rows import FusedDenseRows

    return FusedDenseRows(X, bias)
