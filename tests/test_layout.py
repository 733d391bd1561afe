"""How rows are stored for training."""

import numpy as np
from scipy import sparse

from hingeline.kernels.rows import CsrRows, DenseRows
from hingeline.problem import read_data, read_matrix


def test_nearly_dense_matrices_are_filled_for_training():
    rng = np.random.default_rng(0)
    full, half = (rng.normal(size=(2000, 8)) * (rng.random((2000, 8)) < share) for share in (0.9, 0.5))
    data = read_data(sparse.csr_matrix(full), 1.0)
    assert isinstance(data.rows, DenseRows)
    np.testing.assert_array_equal(data.rows.X, full)
    np.testing.assert_allclose(data.q, (full**2).sum(axis=1) + 1.0)
    assert isinstance(read_data(sparse.csr_matrix(half)).rows, CsrRows)
    assert isinstance(read_data(sparse.csr_matrix(full[:100])).rows, CsrRows)  # not worth it
    assert isinstance(read_matrix(sparse.csr_matrix(full)).rows, CsrRows)  # nor to predict


def test_repeated_indices_are_not_filled():
    X = sparse.csr_matrix((np.ones(24_000) * 2.0, np.tile([0, 0, 1], 8000), np.arange(0, 24_001, 3)), shape=(8000, 2))
    assert isinstance(read_data(X).rows, CsrRows)
