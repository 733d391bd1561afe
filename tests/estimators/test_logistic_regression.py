"""LogisticRegression: scikit-learn's parameters and model, several classes, files, exports, no penalty."""

import pickle
import warnings

import numpy as np
import pytest
from fault_rows import row
from problems import classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from truth import complaints

from hingeline import Checkpoint, LogisticRegression
from hingeline.io import load_model, save_model

X, Y = classification(70, 5, seed=1)
X3, Y3 = classification(90, 6, seed=5, n_classes=3)
NOISY = np.where(np.random.default_rng(0).random(90) < 0.3, np.random.default_rng(1).integers(3, size=90), Y3)


def sklearn_fit(X, y, **how):
    return SklearnLogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000, **how).fit(X, y)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_intercept_is_free(C):
    ours, theirs = LogisticRegression(C=C).fit(X + 3.0, Y), sklearn_fit(X + 3.0, Y, C=C)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)
    assert abs(ours.dual_coef_.sum()) < 1e-9
    same = LogisticRegression(C=C, fit_intercept="free", intercept_scaling=5.0).fit(X + 3.0, Y)
    np.testing.assert_allclose(same.intercept_, ours.intercept_)


@pytest.mark.parametrize(
    ("how", "same"),
    [
        ({"l1_ratio": 1.0}, {"penalty": "l1"}),
        ({"l1_ratio": 0.3}, {"penalty": "elasticnet", "l1_ratio": 0.3}),
        ({}, {"penalty": "l2", "l1_ratio": None}),
        ({"solver": "saga"}, {"solver": "newton"}),
        ({"solver": "newton-cholesky"}, {"solver": "newton"}),
        ({"solver": "liblinear"}, {"fit_intercept": "regularised"}),
    ],
)
def test_what_means_the_same(how, same):
    a, b = LogisticRegression(C=0.5, **how).fit(X, Y), LogisticRegression(C=0.5, **same).fit(X, Y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=1e-6, atol=1e-8)


def test_when_classes_are_one_problem():
    assert LogisticRegression().fit(X3, Y3).per_class_.n_rows == 1
    for how in ({"multi_class": "ovr"}, {"l1_ratio": 0.5}, {"solver": "hybrid"}, {"solver": "liblinear"}):
        assert LogisticRegression(**how).fit(X3, Y3).per_class_.n_rows == 3
    for how in ({"l1_ratio": 0.5}, {"solver": "hybrid"}):
        with pytest.raises(ValueError, match='multi_class="ovr"'):
            LogisticRegression(multi_class="multinomial", **how).fit(X3, Y3)
    assert LogisticRegression(multi_class="multinomial", solver="hybrid").fit(X, Y).coef_.shape == (1, 5)


def test_selects_features():
    assert SelectFromModel(LogisticRegression()).fit(X3, Y3).transform(X3).shape[1] < 6
    assert SelectFromModel(LogisticRegression(l1_ratio=1.0, C=0.1)).fit(X, Y).get_support().any()


@pytest.mark.parametrize(
    "how", [{}, {"l1_ratio": 1.0}, {"multi_class": "ovr"}, {"fit_intercept": False}, {"solver": "liblinear"}]
)
@pytest.mark.parametrize(("data", "y"), [(X, Y), (X3, Y3)])
def test_to_sklearn(how, data, y):
    model = LogisticRegression(C=0.7, class_weight="balanced", **how).fit(data, y)
    theirs = model.to_sklearn()
    np.testing.assert_allclose(theirs.predict_proba(data), model.predict_proba(data), atol=1e-12)
    np.testing.assert_array_equal(theirs.predict(data), model.predict(data))
    one = getattr(theirs, "estimator", theirs)
    assert (one.C, one.class_weight, one.fit_intercept) == (0.7, "balanced", how.get("fit_intercept", True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = theirs.set_params(**({"max_iter": 5000, "tol": 1e-8} if theirs is one else {})).fit(data, y)
    assert again.predict_proba(data).shape == model.predict_proba(data).shape


def test_files(tmp_path):
    model = LogisticRegression().fit(X3, Y3)
    save_model(model, tmp_path / "native")
    np.testing.assert_array_equal(load_model(tmp_path / "native").predict_proba(X3), model.predict_proba(X3))
    with pytest.raises(ValueError, match="no multinomial model"):
        save_model(model, tmp_path / "liblinear", format="liblinear")
    for how in ({"multi_class": "ovr"}, {"solver": "liblinear"}):
        model = LogisticRegression(**how).fit(X3, Y3)
        save_model(model, tmp_path / "liblinear", format="liblinear")
        loaded = load_model(tmp_path / "liblinear")
        assert loaded.fit_intercept == "regularised"
        np.testing.assert_allclose(loaded.predict_proba(X3), model.predict_proba(X3), rtol=1e-9)


def test_pickles_of_earlier_versions_stay_what_they_were():
    model = LogisticRegression(multi_class="ovr", fit_intercept="regularised").fit(X3, Y3)
    state = dict(model.__getstate__())
    del state["multi_class"]
    state["fit_intercept"] = True
    earlier = LogisticRegression.__new__(LogisticRegression)
    earlier.__setstate__(state)
    np.testing.assert_array_equal(earlier.predict_proba(X3), model.predict_proba(X3))
    assert earlier.fit_intercept == "regularised"
    assert np.array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)


def test_a_checkpoint_of_all_classes(tmp_path):
    model = LogisticRegression(solver="newton", C=100.0, max_iter=3).set_callbacks(
        Checkpoint(tmp_path / "fit", every=0)
    )
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X3, NOISY)
    model.set_params(max_iter=None).fit(X3, NOISY)
    assert model.converged_
    assert complaints(model, X3, NOISY) == []


@pytest.mark.parametrize(("data", "y"), [(X3, NOISY), (X3, NOISY == 1)])
def test_no_penalty(data, y):
    model, theirs = LogisticRegression(C=np.inf).fit(data, y), sklearn_fit(data, y, C=np.inf)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    assert model.converged_
    p = model.predict_proba(data)[np.arange(90), np.searchsorted(model.classes_, y)]
    assert model.objective_ == pytest.approx(-np.log(p).sum(), rel=1e-6)
    same = LogisticRegression(penalty=None).fit(data, y)
    np.testing.assert_array_equal(same.coef_, model.coef_)
    with pytest.warns(UserWarning, match="ignore C"):
        LogisticRegression(penalty=None, C=3.0).fit(data, y)


@pytest.mark.parametrize("penalty", [{"l1_ratio": 0.5}, {"penalty": "l1"}])
@pytest.mark.parametrize(("data", "y"), [(X3, NOISY), (X3, NOISY == 1)])
def test_no_weight_leaves_nothing_of_an_l1_penalty(data, y, penalty):
    model = LogisticRegression(C=np.inf, warm_start=True, **penalty).fit(data, y)
    expected = LogisticRegression(C=np.inf).fit(data, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.fit(data, y).coef_, expected.coef_, rtol=1e-4, atol=1e-6)


def test_the_time_is_for_both_fits_without_a_penalty(monkeypatch):
    limits, train = [], LogisticRegression._train

    def noted(self, *args):
        limits.append(self.max_time)
        return train(self, *args)

    monkeypatch.setattr(LogisticRegression, "_train", noted)
    LogisticRegression(C=np.inf, max_time=1000.0).fit(X3, NOISY)
    whole, less, left = limits
    assert (whole, less) == (1000.0, 250.0)
    assert 750.0 <= left < 1000.0


@row("parameter-no-penalty")
@pytest.mark.parametrize(("data", "y"), [(X, X[:, 0] > 0.2), (X3, (X3[:, 0] > 0.2).astype(int) + (X3[:, 0] > 1.0))])
def test_no_optimum_without_a_penalty(data, y):
    with pytest.warns(ConvergenceWarning, match="C=inf: there is no optimum"):
        model = LogisticRegression(C=np.inf).fit(data, y)
    assert not model.converged_
    assert model.stop_reason_ == "stalled"
    assert np.isfinite(model.coef_).all()
    assert model.score(data, y) == 1.0
