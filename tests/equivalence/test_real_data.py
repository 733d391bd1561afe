"""Engines on real data, if it is found beside the checkout."""

import lzma

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, LOSSES
from real_data import real_data
from sklearn.datasets import load_svmlight_file

from hingeline import solve
from hingeline.data.read import read_data
from hingeline.kernels.rows import OnesRows


@pytest.fixture(scope="module")
def w8a():
    """Web pages: 49,749 rows of ones, 4,203 of them empty."""
    with lzma.open(real_data("w8a.xz")) as file:
        return load_svmlight_file(file, dtype=np.float32)


@pytest.mark.parametrize("loss", LOSSES)
def test_w8a(w8a, loss):
    X, y = w8a
    data = read_data(X)
    assert isinstance(data.rows, OnesRows)
    empty = data.q == 0.0
    assert empty.sum() == 4203
    found = [
        solve(X, y, LOSSES[loss](0.01), solver=engine, gap_tol=1e-4, random_state=0) for engine in COORDINATE_ENGINES
    ]
    lower, upper = max(s.certificate.dual for s in found), min(s.certificate.primal for s in found)
    assert 0.0 <= upper - lower <= 1e-4 * upper  # the optimum lies between, for all of them
    for solution in found:
        assert solution.stop_reason == "gap_tol"
        np.testing.assert_array_equal(solution.alpha[empty], 0.01 if loss == "hinge" else 0.02)
