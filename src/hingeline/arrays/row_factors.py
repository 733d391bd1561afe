"""Newton's equations by the products of rows, XX', for problems with fewer rows than columns.

(I + X' S X) p = -r is solved over the rows with curvature: (XX' + 1/S) q = X r, p = X'q - r. Conjugate gradients need
thousands of products if C is large, and their inexact directions lead to short steps. One factor gives an exact one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..solvers.newton.directions import HEALTHY
from .memory import SHARE, free_bytes
from .namespace import add_to_diagonal, solve_positive
from .rows import ArrayRows

MOST_ROWS = 25_000  # 5 GB for the products of all rows
SQUARES = 5  # matrices of that size that exist at the same time
ROWS_PER_PRODUCT = 2_000  # a factor of this many rows takes as long as a product of conjugate gradients


def can_factor_rows(rows: ArrayRows) -> bool:
    """Tell whether factors of the products of rows are an alternative to conjugate gradients."""
    few = rows.place.is_torch_cuda and rows.n_rows <= min(MOST_ROWS, rows.n_features)
    return few and SQUARES * 8 * rows.n_rows**2 <= SHARE * free_bytes(rows.place)


class RowFactors:
    """Solves Newton's equations for ``rows``; ``free`` leaves the intercept out of |w|^2."""

    def __init__(self, rows: ArrayRows, free: bool) -> None:
        self._rows, self._xp, self._free = rows, rows.place.xp, free
        self._K: Any = None

    def pay(self, S: Any, n_products: int) -> bool:
        """Tell whether factors should replace conjugate gradients, which have taken so many products."""
        xp = self._xp
        if n_products == 0:
            return False
        sizes = xp.sum(xp.astype(S > 0.0, xp.float64), axis=1)
        is_cheap = xp.sum((sizes / ROWS_PER_PRODUCT) ** 3) <= n_products
        return bool(is_cheap & (xp.max(S) * self._trace <= HEALTHY))

    @cached_property
    def _trace(self) -> Any:
        return self._xp.sum(self._rows.squared_lengths())

    def solve(self, S: Any, R: Any) -> Any:
        """Return P with (I + X' S_k X) P_k = -R_k."""
        if self._K is None:
            self._K = self._rows.products_of_rows()
        return self._xp.stack([self._solved(S[k, :], R[k, :]) for k in range(int(S.shape[0]))])

    def _solved(self, s: Any, r: Any) -> Any:
        xp, rows, bias = self._xp, self._rows, self._rows.bias
        (which,) = xp.nonzero(s)
        if which.shape[0] == 0:
            return -r
        K = xp.take(xp.take(self._K, which, axis=0), which, axis=1)
        K = add_to_diagonal(xp, K, 1.0 / xp.take(s, which))
        scores = xp.take(rows.times(self._without_intercept(r) if self._free else r), which)
        if not self._free:
            q = solve_positive(xp, K + bias * bias if bias else K, scores[:, None])[:, 0]
            return rows.transposed_times(self._spread(q, s)) - r
        constant = bias * xp.ones_like(scores)
        solved = solve_positive(xp, K, xp.stack([scores, constant], axis=1))
        q, per_unit = solved[:, 0], solved[:, 1]
        intercept = (bias * xp.sum(q) - r[-1]) / (bias * xp.sum(per_unit))
        p = rows.transposed_times(self._spread(q - intercept * per_unit, s)) - r
        return xp.concat([p[:-1], xp.reshape(intercept, (1,))])

    def _without_intercept(self, r: Any) -> Any:
        return self._xp.concat([r[:-1], 0.0 * r[-1:]])

    def _spread(self, q: Any, s: Any) -> Any:
        """Return a vector of all rows: the entries of q for rows whose s is not zero."""
        xp, curved = self._xp, s != 0.0
        place = xp.cumulative_sum(xp.astype(curved, xp.int64)) - 1
        return xp.where(curved, xp.take(q, xp.where(curved, place, xp.zeros_like(place))), xp.zeros_like(s))
