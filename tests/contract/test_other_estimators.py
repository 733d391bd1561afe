"""LogisticRegression and LinearSVR: attributes, probabilities, warm starts, caps and refusals."""

import numpy as np
import pytest
from problems import classification, regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression

from hingeline import Hinge, LinearSVC, LinearSVR, LogisticRegression, SquaredEpsilonInsensitive, solve

X, Y = classification(70, 5, seed=1)
X_MANY, Y_MANY = classification(90, 6, seed=5, n_classes=4)
X_REAL, Y_REAL = regression(70, 5, seed=2)
SCALARS = ("n_iter_", "n_steps_", "fit_time_", "kkt_violation_", "duality_gap_", "objective_", "dual_objective_")


@pytest.mark.parametrize(("model", "y"), [(LogisticRegression(), Y), (LinearSVR(epsilon=0.1), Y_REAL)])
def test_attributes(model, y):
    data = X if y is Y else X_REAL
    model.fit(data, y)
    for name in SCALARS:
        assert np.isscalar(getattr(model, name)), name
    assert model.converged_
    assert model.history_.size == model.n_iter_
    assert model.dual_objective_ <= model.objective_
    np.testing.assert_allclose(model.dual_coef_ @ data, np.ravel(model.coef_), atol=1e-6)
    assert set(model.support_) == set(np.flatnonzero(model.dual_coef_))


def test_probabilities():
    model = LogisticRegression().fit(X, Y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-model.decision_function(X))))
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1e5
    np.testing.assert_allclose(model.to_sklearn().predict_proba(X), p)


def test_one_versus_rest():
    model = LogisticRegression(n_jobs=2, multi_class="ovr", fit_intercept="regularised").fit(X_MANY, Y_MANY)
    p = model.predict_proba(X_MANY)
    own = 1.0 / (1.0 + np.exp(-model.decision_function(X_MANY)))
    np.testing.assert_allclose(p, own / own.sum(axis=1, keepdims=True))
    assert model.dual_coef_.shape == (4, 90)
    for k in range(4):
        theirs = SklearnLogisticRegression(solver="liblinear", tol=1e-9, max_iter=1000).fit(X_MANY, Y_MANY == k)
        np.testing.assert_allclose(model.coef_[k], theirs.coef_[0], rtol=1e-3, atol=1e-4)
    assert np.isfinite(model.predict_proba(-1e9 * np.ones((1, 6)))).all()
    np.testing.assert_allclose(model.to_sklearn().predict_proba(X_MANY), p)


@pytest.mark.parametrize(("model", "y"), [(LogisticRegression(), Y), (LinearSVR(), Y_REAL)])
def test_warm_start(model, y):
    data = X if y is Y else X_REAL
    model.set_params(solver="hybrid", tol=1e-7, warm_start=True, random_state=0)
    cold = model.fit(data, y).n_iter_
    assert model.fit(data, y).n_iter_ < cold
    assert model.fit(data[:60], y[:60]).converged_  # from the weights


def test_a_cap_warns_and_leaves_a_usable_model():
    with pytest.warns(ConvergenceWarning, match="max_iter ended training"):
        model = LinearSVR(solver="hybrid", max_iter=1, fit_intercept="free").fit(X_REAL, Y_REAL)
    assert not model.converged_
    assert np.isfinite(model.predict(X_REAL)).all()


@pytest.mark.parametrize("free", ["free", True])
def test_multi_class_intercepts(free):
    model = LinearSVC(loss="hinge", fit_intercept=free, solver="hybrid").fit(X_MANY, Y_MANY)
    assert model.converged_
    assert model.duality_gap_ < 1e-2
    assert bool(model.to_sklearn().fit_intercept)


@pytest.mark.parametrize(
    ("message", "run"),
    [
        ("l1_ratio=0", lambda: LogisticRegression("l2", l1_ratio=0.5).fit(X, Y)),
        ("'penalty' parameter", lambda: LogisticRegression(penalty="elephant").fit(X, Y)),
        ("'epsilon' parameter", lambda: LinearSVR(epsilon=-1.0).fit(X_REAL, Y_REAL)),
        ("epsilon must be finite", lambda: solve(X_REAL, Y_REAL, SquaredEpsilonInsensitive(1.0, -1.0))),
        (r"y\[3\] is nan", lambda: LinearSVR().fit(X_REAL, np.where(np.arange(70) == 3, np.nan, Y_REAL))),
        ("not a number", lambda: solve(X_REAL, ["a"] * 70, SquaredEpsilonInsensitive())),
        ("one target per row", lambda: solve(X_REAL, Y_REAL[:5], SquaredEpsilonInsensitive())),
        ("overflows float64", lambda: LinearSVR(loss="squared_epsilon_insensitive").fit(X_REAL, 1e200 * Y_REAL)),
        ("needs a smooth loss", lambda: solve(X, Y, Hinge(), solver="newton_cg")),
        ("requires y to be passed", lambda: LogisticRegression().fit(X, None)),
        ("requires y to be passed", lambda: LinearSVR().fit(X, None)),
    ],
)
def test_refusals(message, run):
    with pytest.raises(ValueError, match=message):
        run()
