"""LinearSVC as the contract promises it: signature, attributes, caps, warm starts, company."""

import inspect
import pickle
import re

import numpy as np
import pytest
from fault_rows import row
from problems import COORDINATE_ENGINES, ENGINES, LOSSES, classification, csr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC
from hingeline.estimators import certified

X, Y = classification(80, 6, seed=21)
X_MANY, Y_MANY = classification(90, 6, seed=22, n_classes=3)

DEFAULTS = {
    "penalty": "l2",
    "loss": "squared_hinge",
    "dual": "auto",
    "solver": "auto",
    "tol": 1e-3,
    "gap_tol": None,
    "C": 1.0,
    "multi_class": "ovr",
    "fit_intercept": True,
    "intercept_scaling": 1.0,
    "class_weight": None,
    "max_iter": None,
    "max_time": None,
    "warm_start": False,
    "keep_dual": True,
    "n_jobs": None,
    "random_state": None,
    "verbose": 0,
    "device": None,
}
SCALARS = {
    "n_iter_": (int, np.integer),
    "n_steps_": (int, np.integer),
    "fit_time_": float,
    "kkt_violation_": float,
    "duality_gap_": float,
    "objective_": float,
    "dual_objective_": float,
    "solver_": str,
    "converged_": (bool, np.bool_),
    "stop_reason_": str,
}


def test_signature():
    parameters = inspect.signature(LinearSVC).parameters
    assert {name: p.default for name, p in parameters.items()} == DEFAULTS
    keyword_only = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    assert keyword_only == list(DEFAULTS)[2:]
    assert list(inspect.signature(LinearSVC.fit).parameters) == ["self", "X", "y", "sample_weight"]


def test_changing_the_import_is_enough():
    ours, theirs = (set(inspect.signature(c).parameters) for c in (LinearSVC, SklearnLinearSVC))
    assert theirs <= ours


@pytest.mark.parametrize("solver", [*ENGINES, "auto"])
@pytest.mark.parametrize("loss", LOSSES)
def test_attributes_of_a_binary_problem(loss, solver):
    labels = np.array(["no", "yes"])[(Y + 1) // 2]
    model = LinearSVC(loss=loss, solver=solver, random_state=0).fit(X, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.coef_.shape == (1, 6)
    assert model.intercept_.shape == (1,)
    assert model.n_features_in_ == 6
    for name, kind in SCALARS.items():
        assert isinstance(getattr(model, name), kind), name
    assert model.solver_ == solver or solver == "auto"
    assert model.converged_
    assert model.dual_coef_.shape == (80,)
    np.testing.assert_allclose(model.coef_[0], X.T @ model.dual_coef_, atol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], model.dual_coef_.sum(), atol=1e-12)
    assert (model.dual_coef_ * Y >= 0.0).all()  # alpha_i y_i
    np.testing.assert_array_equal(model.support_, np.flatnonzero(model.dual_coef_))
    assert model.dual_objective_ <= model.objective_
    assert model.duality_gap_ == pytest.approx(1.0 - model.dual_objective_ / model.objective_, abs=1e-12)
    assert model.fit_time_ > 0.0
    assert model.decision_function(X).shape == (80,)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(model.decision_function(X) > 0).astype(int)])
    assert model.per_class_["label"].tolist() == ["all"]
    assert_is_history(model)


def assert_is_history(model):
    fields = ("problem", "sweep", "seconds", "steps", "violation", "gap", "objective", "lower_bound", "phase")
    assert model.history_.dtype.names == fields
    assert (np.diff(model.history_["problem"]) >= 0).all()
    for k, of_class in enumerate(model.per_class_.rows()):
        history = model.history_[model.history_["problem"] == k]
        assert history.size == of_class["n_iter"]
        assert history["steps"][-1] == of_class["n_steps"]
        assert (np.diff(history["seconds"]) >= 0.0).all()
        assert (np.diff(history["steps"]) >= 0).all()
        assert history["gap"][-1] == of_class["duality_gap"]


def test_attributes_of_one_versus_rest():
    model = LinearSVC(loss="hinge", solver="avsf", random_state=0).fit(X_MANY, Y_MANY)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert model.dual_coef_.shape == (3, 90)
    np.testing.assert_allclose(model.coef_, model.dual_coef_ @ X_MANY, atol=1e-12)
    signs = np.where(Y_MANY == np.arange(3)[:, None], 1, -1)
    assert (model.dual_coef_ * signs >= 0.0).all()
    np.testing.assert_array_equal(model.support_, np.flatnonzero(model.dual_coef_.any(axis=0)))
    for name, kind in SCALARS.items():
        assert isinstance(getattr(model, name), kind), name
    table = model.per_class_
    assert table["label"].tolist() == [0, 1, 2]
    assert model.n_iter_ == table["n_iter"].max()
    assert model.n_steps_ == table["n_steps"].sum()
    assert model.objective_ == table["objective"].sum() >= model.dual_objective_ == table["dual_objective"].sum()
    assert model.duality_gap_ == table["duality_gap"].max()
    assert model.kkt_violation_ == table["kkt_violation"].max()
    assert_is_history(model)
    assert model.decision_function(X_MANY).shape == (90, 3)


@pytest.mark.parametrize("solver", ENGINES)
def test_max_iter_warns_and_leaves_a_usable_model(solver):
    model = LinearSVC(loss="hinge", solver=solver, tol=1e-8, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter .* gap \d\.\d+e[+-]\d+.*Raise max_iter") as record:
        model.fit(X, Y)
    assert len(record) == 1
    assert record[0].filename == __file__  # it points at the user's line
    stated = float(re.search(r"gap (\S+),", str(record[0].message))[1])
    assert stated == pytest.approx(model.duality_gap_, rel=1e-2)
    assert model.converged_ is False
    assert model.stop_reason_ == "max_iter"
    assert model.n_iter_ == 1
    assert len(model.history_) == 1
    assert model.score(X, Y) > 0.5
    assert 0.0 < model.duality_gap_ <= 1.0


@row("parameter-max_time")
def test_max_time_is_for_all_classes_together(monkeypatch):
    """The first class takes all of it, by a clock that jumps."""
    X, y = classification(60, 5, n_classes=4)
    given, now = [], [0.0]
    original = certified.train

    def train(problem, **how):
        given.append(how["stop"].max_time)
        now[0] += 10.0
        return original(problem, **how)

    monkeypatch.setattr(certified, "train", train)
    monkeypatch.setattr(certified, "now", lambda: now[0])
    with pytest.warns(ConvergenceWarning, match=r"max_time ended training before it converged \(3 of 4"):
        model = LinearSVC(loss="hinge", max_time=10.0).fit(X, y)
    assert given[0] == 10.0
    assert max(given[1:]) < 1e-6
    assert np.isfinite(model.coef_).all()
    assert model.duality_gap_ <= 1.0
    assert model.stop_reason_ == "max_time"
    assert not model.converged_
    assert model.per_class_["converged"].tolist() == [True, False, False, False]


@row("weights-one-class-left")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"loss": "hinge", "solver": "hybrid"},
        {"fit_intercept": "free"},
        {"penalty": "l1"},
        {"multi_class": "crammer_singer"},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_without_weight_are_not_predicted(how, n_classes):
    """As when bagging draws no row of a rare class; scikit-learn trains then, and so do we."""
    X, y = classification(60, 5, n_classes=n_classes)
    only = np.unique(y)[0]
    model = LinearSVC(**how).fit(X, y, sample_weight=np.where(y == only, 1.0, 0.0))
    assert model.converged_
    assert model.classes_.size == n_classes
    assert set(model.predict(X)) == {only}


def test_bagging_with_a_rare_class():
    from sklearn.ensemble import BaggingClassifier

    X, y = classification(30, 4)
    y[:] = 0
    y[3] = 1
    bagging = BaggingClassifier(LinearSVC(), n_estimators=5, random_state=0).fit(X, y)
    assert bagging.predict(X).shape == (30,)


def test_max_time_warns_and_leaves_a_usable_model():
    model = LinearSVC(loss="hinge", solver="avsf", tol=1e-12, C=1e4, max_time=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, Y)
    assert not model.converged_
    assert model.stop_reason_ == "max_time"
    assert model.predict(X).shape == Y.shape


def test_one_capped_class_is_enough_for_a_warning():
    with pytest.warns(ConvergenceWarning, match="3 of 3") as record:
        LinearSVC(solver="avsf", tol=1e-9, max_iter=2, random_state=0).fit(X_MANY, Y_MANY)
    assert len(record) == 1


@pytest.mark.parametrize("solver", ENGINES)
@pytest.mark.parametrize("gap_tol", [1e-2, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_gap_tol_is_the_stop(loss, gap_tol, solver):
    model = LinearSVC(loss=loss, solver=solver, gap_tol=gap_tol, tol=1e-12, random_state=0).fit(X, Y)
    assert model.stop_reason_ == "gap_tol"
    assert model.duality_gap_ <= gap_tol


@pytest.mark.parametrize("solver", COORDINATE_ENGINES)
def test_gap_tol_is_not_overdone(solver):
    model = LinearSVC(loss="hinge", solver=solver, gap_tol=1e-3, random_state=0).fit(X, Y)
    tight = LinearSVC(loss="hinge", solver=solver, gap_tol=1e-9, random_state=0).fit(X, Y)
    assert model.duality_gap_ > 1e-6
    assert model.n_iter_ < tight.n_iter_


def test_auto_solves_small_problems_to_rounding():
    order = np.random.default_rng(0).permutation(80)
    for loss in LOSSES:
        model, other = LinearSVC(loss=loss).fit(X, Y), LinearSVC(loss=loss).fit(X[order], Y[order])
        assert model.stop_reason_ == "rounding"
        assert model.duality_gap_ < 1e-12
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("solver", COORDINATE_ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_goes_on_from_alpha(loss, solver):
    model = LinearSVC(loss=loss, solver=solver, tol=1e-6, warm_start=True, random_state=0).fit(X, Y)
    first, objective = model.n_iter_, model.objective_
    model.fit(X, Y)
    assert model.n_iter_ < first / 2
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    cold = LinearSVC(loss=loss, solver=solver, tol=1e-6, random_state=0)
    assert cold.fit(X, Y).fit(X, Y).n_iter_ == first


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_warm_start_with_another_C_reaches_its_optimum(C):
    warm = LinearSVC(loss="hinge", solver="avsf", gap_tol=1e-9, warm_start=True, random_state=0).fit(X, Y)
    warm.set_params(C=C).fit(X, Y)
    cold = LinearSVC(loss="hinge", solver="avsf", gap_tol=1e-9, C=C, random_state=0).fit(X, Y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    assert np.abs(warm.dual_coef_).max() <= C


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_with_another_number_of_rows(loss):
    settings = {"loss": loss, "solver": "avsf", "gap_tol": 1e-9, "random_state": 0}
    warm = LinearSVC(**settings, warm_start=True).fit(X[:60], Y[:60])
    warm.fit(X, Y)
    cold = LinearSVC(**settings).fit(X, Y)
    assert warm.dual_coef_.shape == (80,)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)


def test_warm_start_with_other_classes_or_columns_starts_afresh():
    model = LinearSVC(solver="avsf", gap_tol=1e-9, warm_start=True, random_state=0).fit(X, Y)
    for data, labels in ((X_MANY, Y_MANY), (X_MANY[:, :4], Y_MANY)):
        cold = LinearSVC(solver="avsf", gap_tol=1e-9, random_state=0).fit(data, labels)
        np.testing.assert_array_equal(model.fit(data, labels).coef_, cold.coef_)


def test_warm_start_of_one_versus_rest():
    model = LinearSVC(solver="avsf", tol=1e-6, warm_start=True, random_state=0).fit(X_MANY, Y_MANY)
    first = model.n_iter_
    model.fit(X_MANY, Y_MANY)
    assert model.n_iter_ < first / 2


@pytest.mark.parametrize(("data", "labels"), [(X, Y), (X_MANY, Y_MANY)], ids=["binary", "many"])
def test_to_sklearn(data, labels):
    model = LinearSVC(loss="hinge", C=0.3, intercept_scaling=2.0, random_state=0).fit(data, labels)
    twin = model.to_sklearn()
    assert type(twin) is SklearnLinearSVC
    assert (twin.loss, twin.C, twin.intercept_scaling) == ("hinge", 0.3, 2.0)
    np.testing.assert_allclose(twin.decision_function(data), model.decision_function(data), rtol=1e-13)
    np.testing.assert_array_equal(twin.predict(csr(data)), model.predict(csr(data)))
    twin.coef_[:] = 0.0  # a copy
    assert model.coef_.any()


def test_to_sklearn_needs_a_fit():
    with pytest.raises(NotFittedError):
        LinearSVC().to_sklearn()


@pytest.mark.parametrize(("data", "labels"), [(X, Y), (X_MANY, Y_MANY)], ids=["binary", "many"])
def test_sparsify_and_back(data, labels):
    model = LinearSVC(random_state=0).fit(data, labels)
    expected = model.decision_function(data)
    assert model.sparsify() is model
    np.testing.assert_allclose(model.decision_function(data), expected, rtol=1e-13)
    np.testing.assert_allclose(model.densify().decision_function(data), expected, rtol=1e-13)
    model.sparsify().set_params(warm_start=True).fit(data, labels)
    np.testing.assert_allclose(model.decision_function(data), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    model = LinearSVC(random_state=0).fit(X_MANY, Y_MANY)
    loaded = pickle.loads(pickle.dumps(model, protocol))
    np.testing.assert_array_equal(loaded.decision_function(X_MANY), model.decision_function(X_MANY))
    assert loaded.get_params() == model.get_params()
    assert loaded.history_.tobytes() == model.history_.tobytes()
    assert loaded.per_class_ == model.per_class_


def test_clone_forgets_the_fit_only():
    model = LinearSVC(loss="hinge", C=3.0, max_time=9.0).fit(X, Y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not [name for name in vars(twin) if name.endswith("_")]


def test_verbose_prints_a_line(capsys):
    LinearSVC(verbose=1, solver="avsf", random_state=0).fit(X_MANY, Y_MANY)
    output = capsys.readouterr().out
    assert output.count("[LinearSVC] converged, avsf: ") == 3
    LinearSVC(random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_predict_needs_the_features_of_the_fit():
    model = LinearSVC().fit(X, Y)
    with pytest.raises(ValueError, match="expecting 6 features"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match="NaN at row 3, column 2"):
        model.predict(np.where(np.arange(18).reshape(-1, 6) == 8, np.nan, X[:3])[[0, 0, 0, 1]])
    with pytest.raises(NotFittedError):
        LinearSVC().predict(X)


def test_in_the_company_of_scikit_learn():
    pipeline = make_pipeline(StandardScaler(), LinearSVC(solver="avsf", random_state=0))
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.01, 1.0], "linearsvc__loss": list(LOSSES)}, cv=3)
    search.fit(X_MANY, Y_MANY)
    assert search.best_score_ > 0.5
    assert search.predict(X_MANY).shape == Y_MANY.shape
    assert search.best_estimator_[-1].converged_


def test_warm_start_of_a_model_without_dual_variables():
    model = LinearSVC(warm_start=True, gap_tol=1e-9, random_state=0).fit(X, Y)
    objective = model.objective_
    del model.dual_coef_  # as in a model that was read from one of LIBLINEAR's files
    assert model.fit(X, Y).objective_ == pytest.approx(objective, rel=1e-8)
