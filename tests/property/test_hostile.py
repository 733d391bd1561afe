"""Hostile little problems end soon, converge, and their certificates are right: one-class, Crammer-Singer, L1."""

import numpy as np
import pytest
from hostile import CASES, complaints, fitted
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", list(CASES))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
def test_ends_converged_and_certified(name, seed):
    model, X, y, weights = CASES[name](np.random.default_rng(seed))
    model.set_params(max_time=60.0)  # compiling counts
    fitted(model, X, y, weights)
    assert complaints(model, X, y, weights) == []
