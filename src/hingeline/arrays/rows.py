"""X on a device: products with it and with its transpose, and weighted Gram matrices, all of them in float64.

float32 values are widened tile by tile, never as a whole. The constant feature, whose weight is the intercept's, is the
last column of every product, and stored nowhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import array_api_compat as compat

from ..solvers.shards.sample import GOLDEN_RATIO
from .namespace import Place, is_fused

TILE = 1 << 24  # values that are widened at a time: 128 MB
NARROW, CHUNK = 128, 2048  # products that sum over rows, for few columns, are summed over chunks of so many rows


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
        """Return X w."""

    @abstractmethod
    def _transposed(self, a: Any) -> Any:
        """Return X' a."""

    @abstractmethod
    def products(self, W: Any) -> Any:
        """Return W X', a row for each of W."""

    @abstractmethod
    def transposed_products(self, A: Any) -> Any:
        """Return A X, a row for each of A."""

    @abstractmethod
    def _squares(self) -> Any:
        """Return the squared lengths of the rows."""

    @abstractmethod
    def _weighted_squares(self, S: Any) -> Any:
        """Return the diagonals of X' S_k X, a row for each of S."""

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
        """Return the scores of all rows, a row of them for each of W."""
        scores = self.products(W[:, :-1])
        return scores + self.bias * W[:, -1:] if self.bias else scores

    def transposed_times_many(self, A: Any) -> Any:
        """Return sum_i a_ki x_i for each row k of A."""
        xp = self.place.xp
        return xp.concat([self.transposed_products(A), self.bias * xp.sum(A, axis=1, keepdims=True)], axis=1)

    def squared_lengths(self) -> Any:
        """Return |x_i|^2, the constant feature included."""
        return self._squares() + self.bias * self.bias

    def diagonal(self, s: Any) -> Any:
        """Return the diagonal of sum_i s_i x_i x_i'."""
        return self.diagonals(s[None, :])[0, :]

    def diagonals(self, S: Any) -> Any:
        """Return the diagonal of sum_i s_ki x_i x_i' for each row k of S."""
        xp = self.place.xp
        return xp.concat([self._weighted_squares(S), self.bias**2 * xp.sum(S, axis=1, keepdims=True)], axis=1)

    def grams(self, S: Any) -> Any:
        """Return sum_i s_ki x_i x_i' for each row k of S."""
        return self.place.xp.stack([self.gram(S[k, :]) for k in range(int(S.shape[0]))])

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

    def products_of_rows(self) -> Any:
        """Return XX', without the constant feature."""
        ones = self.place.full((self.n_rows,), 1.0)
        return self.place.xp.concat([self.products(block) for block, _ in self._blocks(ones)], axis=0)

    def dense(self, which: Any) -> Any:
        """Return the rows ``which``, dense and in float64, with the constant feature."""
        xp, chosen = self.place.xp, self.taken(which)
        ones = self.place.full((int(which.shape[0]),), 1.0)
        X = xp.concat([block for block, _ in chosen._blocks(ones)], axis=0)
        return xp.concat([X, self.place.full((X.shape[0], 1), self.bias)], axis=1)


def product_of_columns(xp: Any, A: Any, B: Any) -> Any:
    """Return A'B; with many rows and few columns by chunks, so that there is enough parallel work."""
    n, d = A.shape
    if d > NARROW or n < 2 * CHUNK:
        return xp.matmul(A.T, B)
    whole = n // CHUNK * CHUNK
    chunks = [xp.reshape(M[:whole, :], (-1, CHUNK, d)) for M in (A, B)]
    G = xp.sum(xp.matmul(xp.permute_dims(chunks[0], (0, 2, 1)), chunks[1]), axis=0)
    return G + xp.matmul(A[whole:, :].T, B[whole:, :]) if whole < n else G


def sum_of_rows(xp: Any, A: Any, X: Any) -> Any:
    """Return A X, likewise by chunks."""
    n, d = X.shape
    if d > NARROW or n < 2 * CHUNK:
        return xp.matmul(A, X)
    whole = n // CHUNK * CHUNK
    parts = xp.permute_dims(xp.reshape(A[:, :whole], (A.shape[0], -1, CHUNK)), (1, 0, 2))
    total = xp.sum(xp.matmul(parts, xp.reshape(X[:whole, :], (-1, CHUNK, d))), axis=0)
    return total + xp.matmul(A[:, whole:], X[whole:, :]) if whole < n else total


class DenseArrayRows(ArrayRows):
    """A matrix of floating-point numbers."""

    can_sample = True

    def __init__(self, X: Any, bias: float) -> None:
        self.X, self.place, self.bias = X, Place.of(X), bias
        self.n_rows, self.n_features = map(int, X.shape)
        self.n_stored = self.n_rows * self.n_features
        self._is_wide = X.dtype == self.place.xp.float64

    def _tiles(self, copied: bool = True) -> Iterator[slice]:
        """Yield ranges of rows that are small enough to be copied; all rows if float64 rows need no copy."""
        rows = max(1, TILE // max(1, self.n_features)) if copied or not self._is_wide else self.n_rows
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
        xp, total = self.place.xp, self.place.full((self.n_features,), 0.0)
        if self._is_wide:
            return xp.matmul(self.X.T, a)
        for tile in self._tiles():
            total = total + xp.matmul(self._widened(self.X[tile, :]).T, a[tile])
        return total

    def products(self, W: Any) -> Any:  # noqa: D102
        xp = self.place.xp
        parts = [xp.matmul(W, self._widened(self.X[tile, :]).T) for tile in self._tiles(copied=False)]
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)

    def transposed_products(self, A: Any) -> Any:  # noqa: D102
        xp, tiles = self.place.xp, self._tiles(copied=False)
        parts = [sum_of_rows(xp, A[:, tile], self._widened(self.X[tile, :])) for tile in tiles]
        return sum(parts[1:], start=parts[0])

    def _squares(self) -> Any:
        xp = self.place.xp
        return xp.concat([xp.sum(self._widened(self.X[tile, :]) ** 2, axis=1) for tile in self._tiles()])

    def _weighted_squares(self, S: Any) -> Any:
        parts = [sum_of_rows(self.place.xp, S[:, tile], self._widened(self.X[tile, :]) ** 2) for tile in self._tiles()]
        return sum(parts[1:], start=parts[0])

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


def chosen_rows(place: Place, n_rows: int, step: int) -> Any:
    """Return the numbers of one row in ``step``, as ``chosen_rows`` of solvers/shards/sample.py does."""
    xp = place.xp
    groups = xp.arange(n_rows // step, dtype=xp.int64, device=place.device)
    turns = xp.astype(groups, xp.float64) * GOLDEN_RATIO
    return groups * step + xp.astype((turns - xp.floor(turns)) * step, xp.int64)


def array_rows(X: Any, bias: float) -> ArrayRows:
    """Return the rows of X, an array or a CSR matrix on a device."""
    is_sparse = type(X).__module__.startswith("cupyx.") or (compat.is_torch_array(X) and "strided" not in str(X.layout))
    if is_sparse:
        from .sparse_rows import SparseArrayRows

        return SparseArrayRows(X, bias)
    if not is_fused(Place.of(X)):
        return DenseArrayRows(X, bias)
    from .fused_rows import FusedDenseRows

    return FusedDenseRows(X, bias)
