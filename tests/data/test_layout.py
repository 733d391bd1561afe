"""How rows are stored for training."""

import numpy as np
import pytest
from scipy import sparse

from hingeline import solve
from hingeline.data.read import read_data, read_matrix
from hingeline.kernels.rows import CsrRows, DenseRows, OnesRows


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ones", [False, True])
def test_dense_rows_of_few_values_are_taken_as_sparse(dtype, ones):
    rng = np.random.default_rng(0)
    few = (rng.random((200, 80)) < 0.03) * (1.0 if ones else rng.normal(size=(200, 80)))
    few, y = few.astype(dtype), np.where(rng.random(200) < 0.5, -1, 1)
    data = read_data(few, 1.0)
    assert isinstance(data.rows, OnesRows if ones else CsrRows)
    np.testing.assert_allclose(data.q, 1.0 + (few.astype(np.float64) ** 2).sum(axis=1))
    if dtype is np.float64 and not ones:  # others would be compiled for this alone
        sparsely, densely = solve(few, y, bias=1.0, tol=1e-8), solve(sparse.csr_matrix(few), y, bias=1.0, tol=1e-8)
        np.testing.assert_allclose(sparsely.w, densely.w, atol=1e-6)
    few[-1] = 1.0  # few in all, but not in this row
    assert read_data(few).q[-1] == 80.0
    few[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 7"):
        read_data(few)
    assert isinstance(read_data(rng.normal(size=(200, 80))).rows, DenseRows)
    late = np.zeros((2000, 80), dtype=dtype)
    late[np.arange(2000) % (2000 // 256) != 0] = 1.0  # what a probe does not see
    assert isinstance(read_data(late).rows, DenseRows)
