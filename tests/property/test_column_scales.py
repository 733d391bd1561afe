"""Whatever the scales of its columns, a model is finite, and one that says so has converged."""

import warnings
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from truth import complaints

from hingeline import LinearSVC, LogisticRegression

examples = settings(max_examples=40, deadline=None, derandomize=True, database=None)
MODELS = {
    "hinge": LinearSVC(loss="hinge"),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "logistic": LogisticRegression(),
}
FINITE = ("coef_", "intercept_", "objective_", "dual_objective_", "duality_gap_", "kkt_violation_", "dual_coef_")


@st.composite
def problems(draw):
    """Columns from 1e-8 to 1e10, offsets, constant columns, and sums of other columns."""
    n, d = draw(st.integers(6, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scales = 10.0 ** np.array(draw(st.lists(st.integers(-8, 10), min_size=d, max_size=d)))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 1.0, 1e4])) * rng.normal(size=d)
    y = np.where(X[:, 0] - X[:, 0].mean() + rng.normal(size=n) > 0.0, 1, -1)
    y[:2] = -1, 1
    X *= np.minimum(scales, 1e10 / np.abs(X).max(axis=0))
    kind = draw(st.sampled_from(["independent", "sum", "constant", "twice"]))
    if kind == "sum":
        X = np.c_[X, X.sum(axis=1)]
    elif kind == "constant":
        X = np.c_[X, np.full(n, scales[0])]
    elif kind == "twice":
        X = np.c_[X, X]
    return X, y


def losses_of(name, margins):
    if name == "logistic":
        return np.logaddexp(0.0, -margins)
    missing = np.maximum(0.0, 1.0 - margins)
    return missing if name == "hinge" else missing**2


@pytest.mark.parametrize("intercept", [True, "free"])
@pytest.mark.parametrize("name", MODELS)
@given(problem=problems())
@examples
def test_finite_and_honest(name, intercept, problem):
    X, y = problem
    model = MODELS[name].set_params(fit_intercept=intercept, max_time=60.0, random_state=0)  # compiling counts
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    for attribute in FINITE:
        assert np.isfinite(getattr(model, attribute)).all(), attribute
    assert all(issubclass(w.category, ConvergenceWarning) for w in caught), [str(w.message) for w in caught]
    assert model.converged_ != bool(caught)
    assert model.stop_reason_ != "max_time"
    assert complaints(model, X, y) == []
    if intercept is True:  # no worse than w = 0
        assert model.objective_ <= (1.0 + 1e-9) * fsum(losses_of(name, np.zeros(len(y))))
    if model.converged_:
        assert model.duality_gap_ <= 1e-3
    else:
        assert intercept == "free" or np.abs(X).max() > 1e6  # less is not too much for float64
