"""Models of hingeline's own files without their estimators: the same predictions."""

import numpy as np
import pytest
from svmlight_files import make_rows

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.io import save_model
from hingeline.io.models.files import load_model
from hingeline.io.models.native_file import read_native
from hingeline.io.models.native_linear import linear_model
from hingeline.liblinear.predict import decide, probabilities, scores

MODELS = {
    "binary": (LinearSVC(intercept_scaling=3.0), "signs"),
    "several": (LinearSVC(), "many"),
    "no intercept": (LinearSVC(fit_intercept=False), "two"),
    "Crammer and Singer": (LinearSVC(multi_class="crammer_singer"), "many"),
    "search": (LinearSVCCV(Cs=2, cv=2), "many"),
    "logistic": (LogisticRegression(), "two"),
    "regression": (LinearSVR(), "targets"),
    "one-class": (OneClassSVM(), "signs"),
}


@pytest.fixture(params=MODELS)
def fitted(request, tmp_path):
    estimator, kind = MODELS[request.param]
    X, y = make_rows(kind)
    save_model(estimator.fit(X, y), tmp_path / "model")
    return tmp_path / "model", X


def test_the_same_predictions(fitted):
    path, X = fitted
    model, estimator = linear_model(read_native(path)), load_model(path)
    predicted = decide(model, scores(model, X))
    np.testing.assert_allclose(predicted, estimator.predict(X), rtol=1e-12, atol=1e-12)
    if model.solver_type.has_probabilities:
        found = probabilities(model, scores(model, X))  # the second class comes first
        np.testing.assert_allclose(found[:, ::-1], estimator.predict_proba(X), atol=1e-12)


def test_what_only_the_estimator_can_tell(tmp_path):
    X, y = make_rows("many")
    for estimator, labels in ((LogisticRegression(), y), (LinearSVC(), np.array(["a", "b", "c"])[y % 3])):
        save_model(estimator.fit(X, labels), tmp_path / "model")
        assert linear_model(read_native(tmp_path / "model")) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"coef_": np.full((3, 12), np.nan)},
        {"coef_": "x"},
        {"intercept_": np.zeros(2)},
        {"n_features_in_": 5},
        {"classes_": np.arange(2)},
        {"classes_": np.array([0, 1, 2**40])},
        {"classes_": None},
    ],
)
def test_damaged_content_is_left_alone(damage, tmp_path):
    save_model(LinearSVC().fit(*make_rows("many")), tmp_path / "model")
    content = read_native(tmp_path / "model")
    assert linear_model(content) is not None
    content["learned"] |= damage
    assert linear_model(content) is None
    assert linear_model({}) is None
