"""Estimators in LIBLINEAR's format and back."""

import numpy as np
import pytest
from problems import classification
from svmlight_files import REGRESSIONS, liblinear, make_rows

from hingeline import LinearSVC
from hingeline.estimators.model_files import estimator_of
from hingeline.io import load_model, save_model
from hingeline.io.models.liblinear_file import LinearModel, read_model, write_model
from hingeline.io.models.solver_types import SOLVER_TYPES


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [{"fit_intercept": False}, {}, {"intercept_scaling": 3.0}])
def test_round_trip(n_classes, loss, intercept, tmp_path):
    X, y = classification(n_classes=n_classes)
    model = LinearSVC(loss=loss, **intercept).fit(X, y)
    save_model(model, tmp_path / "m", format="liblinear")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is LinearSVC
    for name in ("loss", "penalty", "fit_intercept", "intercept_scaling"):
        assert getattr(loaded, name) == getattr(model, name)
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_allclose(loaded.intercept_, model.intercept_, rtol=1e-15)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("kind", ["signs", "two", "many"])
def test_liblinear_predicts_with_our_estimators(kind, tmp_path):
    peer = liblinear()
    X, y = make_rows(kind)
    model = LinearSVC(loss="hinge").fit(X, y)
    save_model(model, tmp_path / "m", format="liblinear")
    labels, _, _ = peer.predict(y.astype(float), X, peer.load_model(str(tmp_path / "m")), "-q")
    np.testing.assert_array_equal(labels, model.predict(X))


def liblinear_models():
    """Yield (type, bias, kind of data) for every type."""
    for solver_type in SOLVER_TYPES:
        kinds = ("targets",) if solver_type in REGRESSIONS else ("signs", "two", "many")
        for kind in kinds if solver_type != 21 else ("signs",):
            for bias in (-1.0, 0.0, 2.5) if solver_type != 21 else (-1.0,):
                yield solver_type, bias, kind


@pytest.mark.parametrize(("solver_type", "bias", "kind"), list(liblinear_models()))
def test_liblinears_models_become_estimators(solver_type, bias, kind, tmp_path):
    _, params = estimator_of(SOLVER_TYPES[solver_type])
    peer = liblinear()
    X, y = make_rows(kind)
    peer.save_model(str(tmp_path / "m"), peer.train(y.astype(float), X, f"-s {solver_type} -B {bias} -q"))
    loaded = load_model(tmp_path / "m")
    assert {key: loaded.get_params()[key] for key in params} == params
    labels, _, _ = peer.predict(y.astype(float), X, peer.load_model(str(tmp_path / "m")), "-q")
    found = loaded.predict(X)
    if kind == "many":  # LIBLINEAR gives a tie to the label it met first, estimators give it to the smallest
        scores = np.sort(loaded.decision_function(X), axis=1)
        found = np.where(scores[:, -1] > scores[:, -2] + 1e-12, found, labels)
    np.testing.assert_allclose(found, labels, rtol=1e-12)


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array([0, 2**40]), np.array([False, True])])
def test_labels_that_liblinear_does_not_know(labels, tmp_path):
    X, y = classification()
    model = LinearSVC().fit(X, labels[(y > 0).astype(int)])
    with pytest.raises(ValueError, match="format='native'"):
        save_model(model, tmp_path / "m", format="liblinear")
    assert not (tmp_path / "m").exists()
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), model.predict(X))


def test_whole_numbers_in_floats_are_labels(tmp_path):
    X, y = classification()
    save_model(LinearSVC().fit(X, y.astype(float)), tmp_path / "m", format="liblinear")
    assert read_model(tmp_path / "m").labels == (1, -1)


def test_a_model_of_one_class(tmp_path):
    write_model(LinearModel(1, (4,), 1, -1.0, np.ones((1, 1))), tmp_path / "m")
    with pytest.raises(ValueError, match="single class"):
        load_model(tmp_path / "m")


def test_certificates_survive(tmp_path):
    X, y = classification()
    model = LinearSVC(gap_tol=1e-6).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.duality_gap_ == model.duality_gap_ <= 1e-6
    assert (loaded.objective_, loaded.stop_reason_, loaded.converged_) == (
        model.objective_,
        model.stop_reason_,
        model.converged_,
    )


@pytest.mark.parametrize(
    "how", [{}, {"solver": "hybrid"}, {"multi_class": "crammer_singer"}, {"penalty": "l1"}], ids=str
)
def test_a_model_has_the_same_attributes_however_it_came_about(how, tmp_path):
    X, y = classification(n_classes=3)
    model = LinearSVC(random_state=0, warm_start=True, **how).fit(X, y)
    expected = {name: type(value) for name, value in vars(model).items()}

    def check(other):
        assert {name: type(value) for name, value in vars(other).items()} == expected
        assert other.converged_ == other.per_class_["converged"].all()
        assert other.stop_reason_ in set(other.per_class_["stop_reason"])
        assert other.solver_ in set(other.per_class_["solver"])

    save_model(model, tmp_path / "m")
    check(load_model(tmp_path / "m"))
    check(load_model(tmp_path / "m").fit(X, y))  # a warm start
    check(load_model(tmp_path / "m").fit(X[:-5], y[:-5]))
    save_model(model, tmp_path / "compact", compact=True)
    check(load_model(tmp_path / "compact").fit(X, y))
    save_model(model, tmp_path / "liblinear", format="liblinear")
    bare = load_model(tmp_path / "liblinear").set_params(warm_start=True, random_state=0)
    assert not hasattr(bare, "converged_")  # LIBLINEAR's file has no certificate
    check(bare.fit(X, y))
