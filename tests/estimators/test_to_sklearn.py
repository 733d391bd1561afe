"""Scikit-learn's counterparts of fitted models."""

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV, LogisticRegression, OneClassSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)]
TARGETS = X @ [1.0, -2.0, 0.5, 0.0] + 3.0
CASES = [
    (LinearSVC(loss="hinge", C=0.3, intercept_scaling=2.0), LABELS, sklearn.svm.LinearSVC),
    (LinearSVC(fit_intercept="free", class_weight="balanced", max_iter=77), LABELS == "a", sklearn.svm.LinearSVC),
    (LinearSVC(penalty="l1"), LABELS, sklearn.svm.LinearSVC),
    (LinearSVC(multi_class="crammer_singer"), LABELS, sklearn.svm.LinearSVC),
    (LinearSVC(multi_class="crammer_singer", fit_intercept=False), LABELS == "a", sklearn.svm.LinearSVC),
    (LinearSVR(epsilon=0.2, C=0.5, tol=1e-5), TARGETS, sklearn.svm.LinearSVR),
    (LinearSVR(loss="squared_epsilon_insensitive", fit_intercept=False), TARGETS, sklearn.svm.LinearSVR),
    (LinearSVR(loss="pinball", quantile=0.8), TARGETS, sklearn.linear_model.QuantileRegressor),
    (OneClassSVM(nu=0.2, random_state=3), None, sklearn.linear_model.SGDOneClassSVM),
    (LinearSVCCV(Cs=[0.1, 1.0]), LABELS, sklearn.svm.LinearSVC),
    (LinearSVRCV(Cs=[0.1, 1.0]), TARGETS, sklearn.svm.LinearSVR),
]


@pytest.mark.parametrize(("model", "y", "kind"), CASES, ids=lambda value: repr(value)[:60])
def test_it_predicts_the_same_with_the_same_parameters(model, y, kind):
    model = clone(model).fit(X, y)
    twin = model.to_sklearn()
    assert type(twin) is kind
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_allclose(twin.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
    mine, theirs = model.get_params(), twin.get_params()
    for name in set(mine) & set(theirs) - {"solver", "dual"}:
        expected = bool(mine[name]) if name == "fit_intercept" else mine[name]
        assert theirs[name] == expected or expected is None, name
    if hasattr(model, "C_"):
        assert twin.C == model.C_
    assert type(twin.n_iter_) is int
    clone(twin)._validate_params()
    twin.coef_[:] = 0.0  # a copy
    assert model.coef_.any()


def test_classes_with_one_regularised_intercept_each_can_be_trained_again():
    model = LogisticRegression(fit_intercept="regularised").fit(X, LABELS)
    twin = model.to_sklearn()
    np.testing.assert_allclose(twin.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert twin.fit(X, LABELS).coef_.shape == (3, 4)  # liblinear trains no three classes


def test_it_needs_a_fit():
    for model in (LinearSVR(), OneClassSVM(), LinearSVCCV()):
        with pytest.raises(NotFittedError):
            model.to_sklearn()
