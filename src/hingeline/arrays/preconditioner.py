"""What conjugate gradients of several problems over the same rows are preconditioned by.

The Hessians are I + Z' S_k Z. If there are not too many columns, I + c_k X'X approximates all of them, with c_k the
mean of S_k: the eigenvectors of X'X serve all problems and all steps. Otherwise the diagonals do.
"""

from __future__ import annotations

from typing import Any

from .rows import ArrayRows, DenseArrayRows

MOST_COLUMNS = 2048  # up to which eigenvectors are worth their cost


class Preconditioner:
    """Divides by the diagonals of the Hessians."""

    def __init__(self, rows: ArrayRows) -> None:
        self._rows, self._xp = rows, rows.place.xp

    def divisors(self, S: Any, regularised: Any) -> Any:
        """Return what to divide by, a row per problem."""
        D = regularised + self._rows.diagonals(S)
        return self._xp.where(D > 0.0, D, 1.0 + 0.0 * D)

    def apply(self, R: Any, D: Any) -> Any:
        """Return approximately the inverse Hessians times R."""
        return R / D


class ByEigenvectors(Preconditioner):
    """Divides by I + c_k X'X, whose columns have the constant feature at their end."""

    def __init__(self, rows: ArrayRows) -> None:
        super().__init__(rows)
        self._lengths, self._vectors = self._xp.linalg.eigh(rows.gram(rows.place.full((rows.n_rows,), 1.0)))

    def divisors(self, S: Any, regularised: Any) -> Any:  # noqa: D102
        share = self._xp.sum(S, axis=1) / self._rows.n_rows
        return 1.0 + share[:, None] * self._xp.where(self._lengths > 0.0, self._lengths, 0.0 * self._lengths)

    def apply(self, R: Any, D: Any) -> Any:  # noqa: D102
        return self._xp.matmul(self._xp.matmul(R, self._vectors) / D, self._vectors.T)


def preconditioner_of(rows: ArrayRows) -> Preconditioner:
    """Return the preconditioner for products with ``rows``."""
    if isinstance(rows, DenseArrayRows) and rows.n_features < min(MOST_COLUMNS, rows.n_rows):
        return ByEigenvectors(rows)
    return Preconditioner(rows)
