"""A sparse X on a device: matrices in CSR form, PyTorch's or CuPy's.

There is a transposed copy, so that products need no atomic additions. Values keep their type: float32 is widened tile
by tile, and the result is kept only if there is a single tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from .namespace import Place, is_fused, no_warnings
from .rows import TILE, ArrayRows, DenseArrayRows


class Csr:
    """A matrix in CSR form; products are in float64."""

    def __init__(self, X: Any, place: Place) -> None:
        self.X, self.place = X, place
        self.is_torch = compat.is_torch_array(X)
        self.shape = tuple(map(int, X.shape))
        if self.is_torch:
            self.indptr, self.indices, self.values = X.crow_indices(), X.col_indices(), X.values()
        else:
            self.indptr, self.indices, self.values = X.indptr, X.indices, X.data
        self.n_stored = int(self.values.shape[0])

    def __matmul__(self, W: Any) -> Any:
        """Return X W, for a vector or several columns."""
        parts = [tile @ W for tile in self._tiles()]
        return parts[0] if len(parts) == 1 else self.place.xp.concat(parts)

    def squared_times(self, W: Any) -> Any:
        """Return the same for the squares of the values."""
        if self._is_wide or self.n_stored <= TILE:
            return self._squared @ W
        return self.place.xp.concat([self._with(tile, self._values_of(tile) ** 2) @ W for tile in self._tiles()])

    @cached_property
    def _squared(self) -> Any:
        """All squares in float64."""
        return self._with(self._whole, self._values_of(self._whole) ** 2)

    def transposed(self) -> Csr:
        """Return the transposed matrix, copied."""
        with no_warnings():  # PyTorch calls its sparse matrices a beta version
            Xt = self.X.to_sparse_csc().transpose(0, 1) if self.is_torch else self.X.T.tocsr()
        return Csr(Xt, self.place)

    @cached_property
    def _is_wide(self) -> bool:
        return bool(self.values.dtype == self.place.xp.float64)

    @cached_property
    def _whole(self) -> Any:
        """All rows in float64."""
        return self.X if self._is_wide else self._with(self.X, self._widened(self.values))

    def _widened(self, values: Any) -> Any:
        return self.place.xp.astype(values, self.place.xp.float64)

    def _tiles(self) -> Iterator[Any]:
        """Yield ranges of the rows as matrices of float64."""
        if self._is_wide or self.n_stored <= TILE:
            yield self._whole
            return
        for begin, end in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            first, last = int(self.indptr[begin]), int(self.indptr[end])
            yield self._made(
                self.indptr[begin : end + 1] - first,
                self.indices[first:last],
                self._widened(self.values[first:last]),
                (end - begin, self.shape[1]),
            )

    @cached_property
    def _cuts(self) -> list[int]:
        """Rows at which tiles begin, and the end."""
        indptr = self.indptr.cpu().numpy() if self.is_torch else self.indptr.get()
        cuts = np.searchsorted(indptr, np.arange(0, self.n_stored, TILE))
        return [*np.unique(cuts).tolist(), self.shape[0]]

    def _values_of(self, X: Any) -> Any:
        return X.values() if self.is_torch else X.data

    def _with(self, X: Any, values: Any) -> Any:
        """Return X with other values."""
        if self.is_torch:
            return self._made(X.crow_indices(), X.col_indices(), values, X.shape)
        return self._made(X.indptr, X.indices, values, X.shape)

    def _made(self, indptr: Any, indices: Any, values: Any, shape: Any) -> Any:
        if self.is_torch:
            with no_warnings():
                return self.place.xp.sparse_csr_tensor(indptr, indices, values, shape, check_invariants=False)
        from cupyx.scipy import sparse

        return sparse.csr_matrix((values, indices, indptr), shape=shape)


class SparseArrayRows(ArrayRows):
    """A matrix in CSR form with a transposed copy."""

    def __init__(self, X: Any, bias: float) -> None:
        self.place, self.bias = Place.of(X), bias
        self.n_rows, self.n_features = map(int, X.shape)
        self._X = Csr(X, self.place)
        self._Xt = self._X.transposed()
        self.n_stored = self._X.n_stored

    def _product(self, w: Any) -> Any:
        return self._X @ w

    def _transposed(self, a: Any) -> Any:
        return self._Xt @ a

    def products(self, W: Any) -> Any:  # noqa: D102
        return (self._X @ W.T).T if W.shape[0] > 1 else (self._X @ W[0, :])[None, :]

    def transposed_products(self, A: Any) -> Any:  # noqa: D102
        return (self._Xt @ A.T).T if A.shape[0] > 1 else (self._Xt @ A[0, :])[None, :]

    def products_of_rows(self) -> Any:  # noqa: D102
        if not is_fused(self.place):
            return super().products_of_rows()
        from .fused_sparse import products_of_rows

        return products_of_rows(self._X, self._Xt)

    def _squares(self) -> Any:
        return self._X.squared_times(self.place.full((self.n_features,), 1.0))

    def _weighted_squares(self, S: Any) -> Any:
        if S.shape[0] == 1:
            return self._Xt.squared_times(S[0, :])[None, :]
        return self._Xt.squared_times(S.T).T

    def _blocks(self, s: Any) -> Iterator[tuple[Any, Any]]:
        (which,) = self.place.xp.nonzero(s)
        rows = max(1, TILE // max(1, self.n_features))
        for begin in range(0, int(which.shape[0]), rows):
            own = which[begin : min(begin + rows, int(which.shape[0]))]
            yield self._dense(own), s[own]

    def _dense(self, which: Any) -> Any:
        """Return some rows as a dense matrix."""
        xp, X = self.place.xp, self._X
        if not X.is_torch:
            return X.X[which].astype(xp.float64).toarray()
        lengths = X.indptr[which + 1] - X.indptr[which]
        row = xp.repeat_interleave(xp.arange(which.shape[0], device=self.place.device), lengths)
        first = xp.repeat_interleave(X.indptr[which] - (xp.cumsum(lengths, 0) - lengths), lengths)
        at = xp.arange(row.shape[0], device=self.place.device) + first
        out = self.place.full((which.shape[0], self.n_features), 0.0)
        out.index_put_((row, X.indices[at]), X.values[at].to(xp.float64), accumulate=True)
        return out

    def taken(self, which: Any) -> ArrayRows:  # noqa: D102
        return DenseArrayRows(self._dense(which), self.bias)
