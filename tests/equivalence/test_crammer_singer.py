"""Crammer and Singer's classifier: compared with scikit-learn, a slow reference and its own definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_problems import crammer_singer_dual, crammer_singer_primal, two_layouts
from problems import classification
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC

SOLVERS = ("auto", "baseline", "avsf", "hybrid")
examples = settings(max_examples=25)


def machine(**how):
    how.setdefault("random_state", 0)
    return LinearSVC(multi_class="crammer_singer", **how)


def objective(model, X, y, C, bias=1.0):
    codes = np.searchsorted(model.classes_, y)
    W, b = model.coef_, model.intercept_
    if len(W) == 1:
        W, b = np.vstack([-W / 2, W / 2]), np.append(-b / 2, b / 2)
    return crammer_singer_primal(X, codes, W, b, C, bias)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_same_optimum_as_scikit_learn(n_classes, fit_intercept):
    X, y = classification(90, 6, seed=n_classes, n_classes=n_classes)
    ours = machine(C=0.3, tol=1e-8, fit_intercept=fit_intercept).fit(X, y)
    peer = SklearnLinearSVC(
        multi_class="crammer_singer", C=0.3, tol=1e-9, max_iter=100_000, fit_intercept=fit_intercept, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X, y)
    value = objective(ours, X, y, 0.3)
    assert ours.objective_ == pytest.approx(value, rel=1e-10)
    assert value <= objective(peer, X, y, 0.3) * (1 + 1e-9)
    assert value == pytest.approx(objective(peer, X, y, 0.3), rel=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_engines_and_layouts_agree(solver):
    X, y = classification(60, 5, seed=3, density=0.6, n_classes=4)
    values = [machine(solver=solver, gap_tol=1e-8).fit(rows, y).objective_ for _, rows in two_layouts(X)]
    np.testing.assert_allclose(values, values[0], rtol=1e-7)


def project(v, total):
    """Return the projection of v onto {x >= 0, sum x = total}, by sorting."""
    u = np.sort(v)[::-1]
    r = np.arange(1, v.size + 1)
    tau = (np.cumsum(u) - total) / r
    return np.maximum(v - tau[np.flatnonzero(u > tau)[-1]], 0.0)


def test_a_slow_reference_reaches_the_same_dual():
    X, codes = classification(25, 4, seed=5, n_classes=3)
    C, alpha = 0.5, np.zeros((25, 3))
    for _ in range(4000):
        for i in range(25):
            q = X[i] @ X[i]
            U = C * (np.arange(3) == codes[i])
            G = X[i] @ (X.T @ alpha) + (np.arange(3) != codes[i])
            alpha[i] = U - project(U - alpha[i] + G / q, C)
    ours = machine(C=C, fit_intercept=False, tol=1e-9).fit(X, codes)
    assert ours.dual_objective_ == pytest.approx(crammer_singer_dual(X, codes, alpha), rel=1e-9)


@given(seed=st.integers(0, 999), n_classes=st.integers(3, 5), max_iter=st.sampled_from([1, 3, 50]), bias=st.booleans())
@examples
def test_feasible_consistent_and_certified(seed, n_classes, max_iter, bias):
    X, y = classification(30, 4, seed=seed, n_classes=n_classes, density=0.7)
    X[4] = 0.0
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=30)
    weights[:n_classes] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = machine(max_iter=max_iter, solver="hybrid", fit_intercept=bias, C=0.7).fit(X, y, weights)
    alpha, C = model.dual_coef_.T, 0.7 * weights
    own = np.zeros_like(alpha, dtype=bool)
    own[np.arange(30), y] = True
    assert (alpha[~own] <= 0.0).all()
    assert (alpha[own] <= C).all()
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.coef_, alpha.T @ X, atol=1e-12)
    primal = crammer_singer_primal(X, y, model.coef_, model.intercept_, C)
    assert model.objective_ == pytest.approx(primal, rel=1e-10)
    dual = crammer_singer_dual(X, y, alpha, float(bias))
    assert model.dual_objective_ == pytest.approx(dual, rel=1e-9, abs=1e-9)
    assert 0.0 <= model.duality_gap_ <= 1.0 + 1e-12


def test_weights_are_repetitions():
    X, y = classification(40, 4, seed=8, n_classes=3)
    times = np.random.default_rng(0).integers(0, 3, size=40)
    times[:3] = 1
    by_weight = machine(tol=1e-9).fit(X, y, times)
    repeated = machine(tol=1e-9).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert by_weight.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    balanced = machine(class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    by_hand = machine().fit(X, y, (40 / (3 * counts))[y])
    assert balanced.objective_ == pytest.approx(by_hand.objective_, rel=1e-9)


def test_warm_start_goes_on_where_it_was():
    X, y = classification(200, 600, seed=9, n_classes=3)
    model = machine(warm_start=True, solver="hybrid", C=0.01, gap_tol=1e-6).fit(X, y)
    first = model.n_steps_
    assert model.fit(X, y).n_steps_ < first


def test_what_it_cannot_do():
    X, y = classification(30, 3, n_classes=3)
    with pytest.raises(ValueError, match='only penalty="l2"'):
        machine(penalty="l1").fit(X, y)
    with pytest.raises(ValueError, match="does not train"):
        machine(solver="newton").fit(X, y)


def test_deterministic():
    X, y = classification(60, 6, seed=1, n_classes=4)
    a, b = (machine(solver="hybrid", random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.n_steps_ == b.n_steps_
