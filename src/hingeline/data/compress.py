"""From dense rows to sparse ones: how many values are not zero, then where and which."""

from __future__ import annotations

import numpy as np

from ..kernels.compile import kernel
from ..kernels.types import Counts, Matrix, Vector


@kernel
def count_nonzeros(X: Matrix, counts: Counts, begin: int, end: int) -> None:
    """counts_i = number of values of row i that are not zero (NaN is not), for the rows begin to end."""
    for i in range(begin, end):
        n = 0
        for j in range(X.shape[1]):
            n += X[i, j] != 0.0
        counts[i] = n


@kernel
def compress_rows(X: Matrix, indptr: Counts, indices: Counts, data: Vector, begin: int, end: int) -> None:
    """Write the values that are not zero, and their columns, of the rows begin to end where ``indptr`` says."""
    for i in range(begin, end):
        k = np.int64(indptr[i])
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                indices[k] = j
                data[k] = X[i, j]
                k += 1
