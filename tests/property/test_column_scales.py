"""Whatever the scales of its columns, a model is finite, and one that says so has converged."""

import warnings
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

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


def conjugates_of(name, a):
    """What the dual sums up for C = 1: D = sum of these - |w|^2/2."""
    if name == "hinge":
        return a
    if name == "squared hinge":
        return a - a**2 / 4.0
    inside = np.clip(a, 1e-300, 1.0)
    beyond = np.clip(1.0 - a, 1e-300, 1.0)
    return -(inside * np.log(inside) + beyond * np.log(beyond))


def gap_of(name, model, X, y, bias):
    """Recompute primal and dual in extended precision; returns P, and P - D over P."""
    Z = (y[:, None] * np.c_[X, np.full(len(X), bias)]).astype(np.longdouble)
    regularised = model.coef_.ravel().astype(np.longdouble)
    intercept = np.longdouble(model.intercept_[0])
    a = y * model.dual_coef_.ravel().astype(np.longdouble)
    assert (a >= 0.0).all()
    margins = Z[:, :-1] @ regularised + y * intercept
    if model.fit_intercept is True:
        regularised = np.append(regularised, intercept)
    v = (Z.T @ a)[: regularised.size]
    P = fsum([*(0.5 * regularised**2), *losses_of(name, margins)])
    D = fsum([*conjugates_of(name, a), *(-0.5 * v**2)])
    return P, (P - D) / P


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
    P, gap = gap_of(name, model, X, y, 1.0)
    assert model.objective_ == pytest.approx(P, rel=1e-5, abs=1e-9)
    if intercept is True:  # no worse than w = 0
        assert model.objective_ <= (1.0 + 1e-9) * fsum(losses_of(name, np.zeros(len(y))))
    assert model.duality_gap_ == pytest.approx(gap, rel=1e-3, abs=1e-3)
    if model.converged_:
        assert model.duality_gap_ <= 1e-3
    else:
        assert intercept == "free" or np.abs(X).max() > 1e6  # less is not too much for float64
