"""L1 and elastic-net: against scikit-learn, the optimality conditions and the certificate's definition."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from other_problems import loss_sum, sparse_primal, sparse_violations, two_layouts
from problems import classification, csr
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC, Logistic, LogisticRegression, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.l1.columns import columns_if_many
from hingeline.solvers.l1.primal import train_primal
from hingeline.solvers.stop import Stop

LOSSES = {"squared_hinge": SquaredHinge, "logistic": Logistic}
examples = settings(max_examples=30)
NAMES_PENALTIES = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)  # later l1_ratio alone says it


def sklearns(penalty, **how):
    """Return scikit-learn's classifier with a penalty."""
    return SklearnLogisticRegression(**({"penalty": penalty} if NAMES_PENALTIES else {}), **how)


def train(name, X, y, C=1.0, *, weights=None, bias=0.0, solver="auto", seed=0, **how):
    l1_ratio, free = how.pop("l1_ratio", 1.0), how.pop("free_intercept", False)
    data = read_data(X, bias)
    problem = make_problem(data, y.astype(np.float32), weights, LOSSES[name](C))
    more = {"columns": columns_if_many(data), "l1_ratio": l1_ratio, "free_intercept": free}
    return train_primal(problem, solver, Stop(**how), seed=seed, **more)


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_squared_hinge_as_scikit_learn(C, fit_intercept):
    X, y = classification(120, 15, seed=1)
    how = {"C": C, "penalty": "l1", "fit_intercept": fit_intercept, "random_state": 0}
    ours = LinearSVC(tol=1e-8, **how).fit(X, y)
    peer = quietly(SklearnLinearSVC(dual=False, tol=1e-10, max_iter=100_000, **how), X, y)
    value, other = (
        sparse_primal("squared_hinge", X, y, m.coef_[0], np.ravel(m.intercept_)[0], C) for m in (ours, peer)
    )
    assert ours.objective_ == pytest.approx(value, rel=1e-12)
    assert value <= other * (1 + 1e-12)
    assert value == pytest.approx(other, rel=1e-6)
    assert ours.duality_gap_ < 1e-7
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_logistic_as_scikit_learn(C):
    X, y = classification(120, 15, seed=2)
    ours = LogisticRegression(penalty="l1", C=C, tol=1e-8, fit_intercept=False).fit(X, y)
    peer = sklearns("l1", l1_ratio=1.0, C=C, solver="liblinear", tol=1e-10, max_iter=10_000, fit_intercept=False)
    quietly(peer, X, y)
    value, other = (sparse_primal("logistic", X, y, m.coef_[0], 0.0, C) for m in (ours, peer))
    assert ours.objective_ == pytest.approx(value, rel=1e-12)
    assert value <= other * (1 + 1e-12)
    assert value == pytest.approx(other, rel=1e-6)
    assert (ours.coef_ == 0.0).any() or C > 1.0


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 0.9])
def test_elastic_net_as_scikit_learn(l1_ratio):
    X, y = classification(120, 10, seed=3)
    ours = LogisticRegression(penalty="elasticnet", l1_ratio=l1_ratio, C=0.3, tol=1e-8, fit_intercept=False).fit(X, y)
    how = {"C": 0.3, "tol": 1e-10, "max_iter": 20_000, "fit_intercept": False, "random_state": 0}
    peer = sklearns("elasticnet", l1_ratio=l1_ratio, solver="saga", **how)
    quietly(peer, X, y)
    value, other = (sparse_primal("logistic", X, y, m.coef_[0], 0.0, 0.3, l1_ratio) for m in (ours, peer))
    assert value <= other * (1 + 1e-12)
    assert value == pytest.approx(other, rel=1e-6)
    if l1_ratio == 0.0:
        ridge = LogisticRegression(C=0.3, tol=1e-8, fit_intercept=False).fit(X, y)
        assert value == pytest.approx(ridge.objective_, rel=1e-8)


@pytest.mark.parametrize("solver", ["auto", "baseline", "avsf", "hybrid"])
@pytest.mark.parametrize("name", LOSSES)
def test_engines_and_layouts_agree(name, solver):
    X, y = classification(60, 7, seed=4, density=0.6)
    values = [train(name, rows, y, solver=solver, gap_tol=1e-9).certificate.primal for _, rows in two_layouts(X)]
    np.testing.assert_allclose(values, values[0], rtol=1e-8)
    ones = (X != 0.0).astype(float)
    a, b = (train(name, rows, y, solver=solver, gap_tol=1e-9).certificate.primal for rows in (ones, csr(ones)))
    assert a == pytest.approx(b, rel=1e-8)


@pytest.mark.parametrize("C", [0.5, 50.0])
@pytest.mark.parametrize("name", LOSSES)
def test_many_columns(name, C):
    """More columns than the Hessian is computed for: the lasso over columns itself."""
    X, y = classification(80, 500, seed=5, density=0.1)
    s = train(name, csr(X), y, C, gap_tol=1e-7)
    assert s.converged
    assert 0 < np.count_nonzero(s.w) < 200
    assert s.certificate.primal == pytest.approx(sparse_primal(name, X, y, s.w, 0.0, C), rel=1e-12)
    few = s.w != 0.0  # with the other columns left out, the problem has the same optimum
    narrow = train(name, X[:, few], y, C, gap_tol=1e-7)
    assert narrow.certificate.primal == pytest.approx(s.certificate.primal, rel=1e-6)


@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(LOSSES)),
    l1_ratio=st.sampled_from([0.2, 1.0]),
    bias=st.sampled_from([0.0, 1.0, 0.5]),
    free=st.booleans(),
    wide=st.booleans(),
    max_iter=st.sampled_from([1, 4, 100]),
)
@examples
def test_certified(seed, name, l1_ratio, bias, free, wide, max_iter):
    X, y = classification(25, 410 if wide else 5, seed=seed, density=0.5)
    X[3] = 0.0
    X[:, 2] = 0.0
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=25)
    weights[:2] = 1.0
    how = {"l1_ratio": l1_ratio, "free_intercept": free, "bias": bias, "solver": "hybrid", "tol": 1e-6}
    s = train(name, X, y, 0.4, weights=weights, max_iter=max_iter, **how)
    C = 0.4 * weights
    value = sparse_primal(name, X, y, s.w, s.intercept, C, l1_ratio, bias or 1.0, free and bias > 0)
    assert s.certificate.primal == pytest.approx(value, rel=1e-10)
    assert 0.0 <= s.certificate.gap <= 1.0 + 1e-12
    assert s.w[2] == 0.0
    exact = train(name, X, y, 0.4, weights=weights, **{**how, "tol": 1e-9})
    assert s.certificate.dual <= exact.certificate.primal * (1 + 1e-9)  # a lower bound, whenever training ended
    assert exact.converged
    assert exact.certificate.gap < 1e-6
    assert sparse_violations(name, X, y, exact.w, exact.intercept, C, l1_ratio).max() < 1e-7
    if free and bias:
        shifted = [loss_sum(name, X @ exact.w + exact.intercept + e, y, C) for e in (-1e-3, 0.0, 1e-3)]
        assert min(shifted) == shifted[1]


def test_weights_are_repetitions():
    X, y = classification(50, 6, seed=6)
    times = np.random.default_rng(0).integers(0, 3, size=50)
    times[:2] = 1
    for name in LOSSES:
        by_weight = train(name, X, y, weights=times.astype(float), tol=1e-9)
        repeated = train(name, np.repeat(X, times, axis=0), np.repeat(y, times), tol=1e-9)
        np.testing.assert_allclose(by_weight.w, repeated.w, atol=1e-7)


def test_warm_start_and_many_classes():
    X, y = classification(80, 6, seed=7, n_classes=3)
    model = LinearSVC(penalty="l1", warm_start=True, solver="hybrid", tol=1e-5).fit(X, y)
    assert model.coef_.shape == (3, 6)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first
    assert model.fit(X, y).n_iter_ == 1
    assert LogisticRegression(penalty="l1").fit(X, y).predict_proba(X).shape == (80, 3)


def test_what_it_cannot_do():
    X, y = classification(30, 3)
    with pytest.raises(ValueError, match="smooth loss"):
        LinearSVC(penalty="l1", loss="hinge").fit(X, y)
    with pytest.raises(ValueError, match="does not train"):
        LinearSVC(penalty="l1", solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="needs an l1_ratio"):
        LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(X, y)
    with pytest.raises(ValueError, match="leave one of them out"):
        LogisticRegression(penalty="l1", l1_ratio=0.5).fit(X, y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        train("logistic", X, y, l1_ratio=1.5)
