"""Vectors and matrices of decimal numbers, as many digits as it takes: NumPy arrays of ``Decimal``.

Decimals are a thousand times slower than float64, so they are only for problems of a few thousand values. With 80
digits, a system that float64 cannot tell from a singular one is solved like any other.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np

from ...kernels.types import Matrix, Vector

DIGITS = Context(prec=80, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # what is not finite is seen, and raises nothing
ZERO, ONE = Decimal(0), Decimal(1)

Decimals = Any  # an array of Decimal; NumPy has no name for its type

_to_decimals = np.frompyfunc(lambda value: +Decimal(value), 1, 1)


def decimals(values: Any) -> Decimals:
    """Return float64 numbers as decimals."""
    return _to_decimals(np.asarray(values, dtype=np.float64).astype(object))


def floats(values: Decimals) -> Vector | Matrix:
    """Return decimals rounded to float64."""
    return np.asarray(values).astype(np.float64)


def is_finite(values: Decimals) -> bool:
    """Tell whether all of the decimals are finite."""
    return all(value.is_finite() for value in np.ravel(values))


class Cholesky:
    """The factor of a symmetric positive definite matrix; a variable whose pivot vanishes is left out."""

    def __init__(self, H: Decimals) -> None:
        n, L = len(H), H.copy()
        for k in range(n):
            pivot = L[k, k]
            if not pivot > 0:
                L[k:, k] = ZERO
                continue
            L[k:, k] /= pivot.sqrt()
            for j in range(k + 1, n):
                if L[j, k]:
                    L[j:, j] -= L[j:, k] * L[j, k]
        self._L, self._pivots = L, [k for k in range(n) if L[k, k]]

    def solve(self, b: Decimals) -> Decimals:
        """Return the solution of H x = b."""
        x, L = b.copy(), self._L
        for k in range(len(x)):
            if L[k, k]:
                x[k] /= L[k, k]
                x[k + 1 :] -= L[k + 1 :, k] * x[k]
        out = np.full(len(x), ZERO)
        for k in reversed(self._pivots):
            out[k] = (x[k] - L[k + 1 :, k] @ out[k + 1 :]) / L[k, k] if k + 1 < len(x) else x[k] / L[k, k]
        return out
