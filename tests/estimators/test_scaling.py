"""The warning of a fit that has not converged names the columns whose scale is to blame."""

import numpy as np
import pytest
from problems import csr

from hingeline.data.read import read_data
from hingeline.estimators.scaling import advice_on_scale


@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_large_columns_are_named(layout):
    X = np.array([[1.0, -3e9, 0.0, 2.0], [2.0, 1e9, 0.0, 5e8]])
    advice = advice_on_scale(read_data(layout(X), 1.0), ["age", "time", "none", "end"])
    assert "time (3.0e+09), end (5.0e+08)" in advice
    assert "age" not in advice
    assert "1 (3.0e+09), 3 (5.0e+08)" in advice_on_scale(read_data(layout(X), 1.0))


def test_columns_far_apart_are_named():
    advice = advice_on_scale(read_data(np.array([[1e-6, 1e4, 0.1]]), 1.0))
    assert "1 (1.0e+04)" in advice
    assert "2 (" not in advice


def test_many_columns_are_counted():
    assert "and 7 more" in advice_on_scale(read_data(np.full((2, 10), 1e9), 1.0))


@pytest.mark.parametrize("X", [np.ones((2, 2)), np.zeros((2, 2)), np.array([[1e-3, 1e4]])])
def test_no_advice_on_ordinary_columns(X):
    assert advice_on_scale(read_data(X, 1.0)) == ""
