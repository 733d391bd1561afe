"""Hostile little problems with a free intercept: solved to a small gap, soon, and every claim is true."""

import warnings
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from truth import complaints

from hingeline import LinearSVC, LinearSVR, LogisticRegression

LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball")
KINDS = (
    "normal",
    "integers",
    "far from zero",
    "columns of all scales",
    "a constant column",
    "copies",
    "zeros and ones",
)
U = 2.0**-53


def hostile_matrix(rng):
    n, d, kind = int(rng.integers(3, 51)), int(rng.integers(1, 11)), rng.choice(KINDS)
    X = rng.normal(size=(n, d))
    if kind == "integers":
        X = np.round(2.0 * X)
    elif kind == "far from zero":
        X += 100.0
    elif kind == "columns of all scales":
        X *= 10.0 ** rng.uniform(-4.0, 4.0, size=d)
    elif kind == "a constant column":
        X[:, 0] = 10.0 ** rng.uniform(-2.0, 3.0)
    elif kind == "copies":
        X = X[rng.integers(max(1, n // 2), size=n)]
    elif kind == "zeros and ones":
        X = (rng.random((n, d)) < 0.4).astype(float)
    return X


def hostile_weights(rng, n):
    kind = rng.integers(4)
    if kind < 2:
        return None
    weights = rng.integers(0, 3, size=n).astype(float) if kind == 2 else 10.0 ** rng.uniform(-3.0, 2.0, size=n)
    weights[:2] = 1.0
    return weights


def hostile_problem(rng, loss):
    """Return a model to fit, X, y and weights."""
    X, how = hostile_matrix(rng), {"C": 10.0 ** rng.uniform(-8.0, 6.0), "fit_intercept": "free"}
    spread = X.std(axis=0)
    scores = ((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)) @ rng.normal(size=X.shape[1])
    y = scores + rng.choice([0.1, 1.0, 3.0]) * rng.normal(size=len(X))
    if loss in ("hinge", "squared_hinge", "logistic"):
        y = np.where(y > rng.choice([0.0, 2.0]), 1, -1)
        y[:2] = 1, -1
        model = LogisticRegression(**how) if loss == "logistic" else LinearSVC(loss=loss, **how)
        return model, X, y, hostile_weights(rng, len(X))
    if rng.random() < 0.1:
        y[:] = y[0]
    y = y * 10.0 ** rng.uniform(-3.0, 6.0) + rng.choice([0.0, 1e4])
    how["quantile" if loss == "pinball" else "epsilon"] = float(rng.choice([0.1, 0.5]))
    return LinearSVR(loss=loss, **how), X, y, hostile_weights(rng, len(X))


def rounded(model, X, y, weights):
    """Return about what rounding of the intercept and of each score may add to the objective."""
    scores = np.abs(X * model.coef_).sum(axis=1).max() + abs(float(model.intercept_[0])) + np.abs(y).max()
    total = model.C * (len(y) if weights is None else weights.sum())
    return 8.0 * U * total * scores * (1.0 + (scores if str(getattr(model, "loss", "")).startswith("sq") else 0.0))


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_solved_and_certified(loss, seed):
    model, X, y, weights = hostile_problem(np.random.default_rng(seed), loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where rounding is all that is left, there may be one
        model.fit(X, y, weights)  # the first fit may compile
        started = perf_counter()
        model.fit(X, y, weights)
    assert perf_counter() - started < 5.0
    assert complaints(model, X, y, weights) == []
    assert model.duality_gap_ <= 1e-3 or model.duality_gap_ * model.objective_ <= rounded(model, X, y, weights)
