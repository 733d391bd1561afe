"""What Newton's method keeps for each row."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from hingeline import Hinge, SquaredHinge, solve
from hingeline.solvers.newton.directions import LARGEST_FACTOR

N_ROWS, N_COLUMNS = 200_000, LARGEST_FACTOR + 500  # too many columns for a Gram matrix


@pytest.mark.parametrize(("loss", "solver"), [(Hinge(1.0), "newton"), (SquaredHinge(1.0), "newton_cg")])
def test_few_bytes_per_row(loss, solver):
    """Label, squared norm, dual variable, margin, t, centre or proposal, band: 45 bytes, and some to spare."""
    rng = np.random.default_rng(0)
    columns, indptr = rng.integers(0, N_COLUMNS, N_ROWS, dtype=np.int32), np.arange(N_ROWS + 1, dtype=np.int32)
    values = rng.normal(size=N_ROWS).astype(np.float32)
    X, y = sparse.csr_matrix((values, columns, indptr), shape=(N_ROWS, N_COLUMNS)), np.resize([-1.0, 1.0], N_ROWS)

    def fit():
        return solve(X, y, loss, solver=solver, max_iter=3, random_state=0)

    fit()  # loads what is compiled
    tracemalloc.start()
    try:
        fit()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 56 * N_ROWS
