"""LinearSVCCV, LinearSVRCV, LogisticRegressionCV: folds agree with fits on their rows, scikit-learn's conventions."""

import numpy as np
import pytest
import sklearn
from problems import classification, csr, regression
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV, LogisticRegression, LogisticRegressionCV
from hingeline.synthetic import make_text

CS = [0.01, 0.1, 1.0, 10.0]
X, Y = classification(120, 5, seed=1)
X_MANY, Y_MANY = classification(150, 5, seed=2, n_classes=3)
X_REAL, Y_REAL = regression(120, 5, seed=3)
WEIGHTS = np.random.default_rng(0).integers(0, 3, 150).astype(float)
PAIRS = [(LinearSVCCV, LinearSVC, X, Y), (LinearSVCCV, LinearSVC, X_MANY, Y_MANY)]
PAIRS += [(LogisticRegressionCV, LogisticRegression, X, Y), (LinearSVRCV, LinearSVR, X_REAL, Y_REAL)]
IDS = ["svc", "svc-3", "logistic", "svr"]


def table_of(model, data, y, *, weights=None, cv=5, scoring=None, **params):
    """Return the table of cold fits on copies of the folds' rows, scored by scikit-learn."""
    splits = list(check_cv(cv, y, classifier=model is not LinearSVR).split(data, y))
    scores = np.zeros((len(CS), len(splits)))
    for k, C in enumerate(CS):
        for f, (train, test) in enumerate(splits):
            w = None if weights is None else weights[train]
            fitted = model(C=C, **params).fit(data[train], y[train], w)
            scorer = get_scorer(scoring or ("r2" if model is LinearSVR else "accuracy"))
            extra = {} if weights is None else {"sample_weight": weights[test]}
            scores[k, f] = scorer(fitted, data[test], y[test], **extra)
    return scores


@pytest.mark.parametrize(("chooser", "model", "data", "y"), PAIRS, ids=IDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_agree_with_fits_on_their_rows(chooser, model, data, y, weighted):
    weights = WEIGHTS[: y.size] if weighted else None
    balanced = {"class_weight": "balanced"} if weighted and model is not LinearSVR else {}
    search = chooser(Cs=CS, early_stopping=False, random_state=0, **balanced).fit(data, y, weights)
    if balanced and model is LogisticRegression:  # balanced among all rows, as in scikit-learn
        counts = {c: weights[y == c].sum() for c in np.unique(y).tolist()}
        balanced = {"class_weight": {c: weights.sum() / (len(counts) * own) for c, own in counts.items()}}
    expected = table_of(model, data, y, weights=weights, **balanced)
    np.testing.assert_allclose(search.scores_, expected, atol=1e-9 if model is not LinearSVR else 1e-6)
    assert search.fit_times_.shape == search.fit_gaps_.shape == search.scores_.shape
    assert np.all(search.fit_gaps_ < 1e-6)  # small problems are solved to rounding
    np.testing.assert_allclose(search.mean_scores_, expected.mean(axis=1), atol=1e-6)
    assert search.C_ == CS[int(np.argmax(search.mean_scores_))]
    assert search.best_score_ == search.mean_scores_.max()
    margin = search.best_score_ - search.std_errors_[CS.index(search.C_)]
    assert search.C_1se_ == next(C for C, mean in zip(CS, search.mean_scores_, strict=True) if mean >= margin)
    alone = model(C=search.C_, random_state=0, **balanced).fit(data, y, weights)
    np.testing.assert_allclose(search.coef_, alone.coef_, atol=1e-7)
    np.testing.assert_array_equal(search.predict(data), search.to_model().predict(data))
    assert search.to_model().get_params()["C"] == search.C_


def test_free_intercepts_and_sparse_rows_and_engines():
    data, y = classification(200, 5, seed=7, density=0.6)
    for params in ({"fit_intercept": "free"}, {"fit_intercept": False, "solver": "hybrid", "tol": 1e-5}):
        search = LinearSVCCV(Cs=CS, loss="hinge", early_stopping=False, random_state=0, **params).fit(csr(data), y)
        expected = table_of(LinearSVC, csr(data).tocsr(), y, loss="hinge", **params)
        np.testing.assert_allclose(search.scores_, expected, atol=1.01 / 40)  # a row may lie next to the boundary
        alone = LinearSVC(C=search.C_, loss="hinge", random_state=0, **params).fit(csr(data), y)
        assert search.objective_ == pytest.approx(alone.objective_, rel=1e-6)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "neg_log_loss", "callable"])
def test_scorings(scoring):
    chooser, model = (LogisticRegressionCV, LogisticRegression) if scoring == "neg_log_loss" else PAIRS[0][:2]

    def balance(estimator, rows, labels):
        assert estimator.C in CS
        assert rows.shape == (24, 5)
        return get_scorer("balanced_accuracy")(estimator, rows, labels)

    search = chooser(Cs=CS, early_stopping=False, scoring=balance if scoring == "callable" else scoring).fit(X, Y)
    named = "balanced_accuracy" if scoring == "callable" else scoring
    np.testing.assert_allclose(search.scores_, table_of(model, X, Y, scoring=named), atol=1e-6)
    if scoring != "callable":
        assert search.score(X, Y) == pytest.approx(get_scorer(scoring)(search, X, Y))


def test_threads_do_not_change_results():
    found = [
        LinearSVCCV(Cs=CS, loss="hinge", solver="hybrid", random_state=3, n_jobs=n).fit(X_MANY, Y_MANY)
        for n in (1, 2, 8)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].scores_, other.scores_)
        np.testing.assert_array_equal(found[0].fit_gaps_, other.fit_gaps_)
        np.testing.assert_array_equal(found[0].coef_, other.coef_)


def test_any_splitter():
    splits = list(ShuffleSplit(3, train_size=0.5, test_size=0.2, random_state=0).split(X))
    masks = [(np.isin(np.arange(120), train), test - 120) for train, test in splits]
    search = LinearSVCCV(Cs=CS, cv=splits, early_stopping=False).fit(X, Y)
    np.testing.assert_array_equal(search.scores_, LinearSVCCV(Cs=CS, cv=masks, early_stopping=False).fit(X, Y).scores_)
    np.testing.assert_allclose(search.scores_, table_of(LinearSVC, X, Y, cv=splits))
    repeated = [(np.append(train, train[:10]), test) for train, test in splits]
    search = LinearSVCCV(Cs=CS, cv=repeated, early_stopping=False, scoring="roc_auc").fit(X, Y)
    np.testing.assert_allclose(search.scores_, table_of(LinearSVC, X, Y, cv=repeated, scoring="roc_auc"))


def test_a_class_that_a_fold_has_not_seen_is_never_predicted():
    rows = np.arange(150)
    cv = [(rows[Y_MANY != 2], rows[::3]), (rows[::2], rows[1::2])]
    search = LinearSVCCV(Cs=CS, cv=cv, early_stopping=False).fit(X_MANY, Y_MANY)
    np.testing.assert_allclose(search.scores_, table_of(LinearSVC, X_MANY, Y_MANY, cv=cv))
    with pytest.raises(ValueError, match="fold 0 are all of one class"):
        LinearSVCCV(Cs=CS, cv=[(rows[:120][Y == 1], rows[:9])]).fit(X, Y)


def test_number_of_folds():
    y = np.array([0] * 30 + [1] * 3)
    assert LinearSVCCV(Cs=CS).fit(X[:33], y).scores_.shape == (4, 3)
    assert LinearSVRCV(Cs=3).fit(X_REAL, Y_REAL).scores_.shape == (3, 5)
    np.testing.assert_allclose(LinearSVRCV(Cs=3).fit(X_REAL, Y_REAL).Cs_, [1e-4, 1.0, 1e4])


def test_x_is_not_copied(monkeypatch):
    seen = []
    import hingeline.solvers.one_versus_rest as module

    def spy(data, y, weights, loss):
        seen.append(data)
        return original(data, y, weights, loss)

    original = module.make_problem
    monkeypatch.setattr(module, "make_problem", spy)
    data = np.ascontiguousarray(X)
    LinearSVCCV(Cs=CS, refit=False, early_stopping=False).fit(data, Y)
    assert len(seen) == 20
    assert len({id(shared) for shared in seen}) == 1  # one matrix for all folds and C
    assert np.shares_memory(seen[0].rows.X, data)


@pytest.mark.parametrize(("chooser", "model", "data", "y"), PAIRS, ids=IDS)
def test_x_and_y_are_read_once(monkeypatch, chooser, model, data, y):
    import hingeline.estimators.base as base
    import hingeline.estimators.training_set as training_set

    calls = []
    for module, name in ((base, "read_data"), (training_set, "encode_labels"), (training_set, "checked_targets")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=original, n=name: calls.append(n) or f(*a))
    chooser(Cs=CS).fit(data, y)
    assert sorted(calls) == sorted(["read_data", "checked_targets" if model is LinearSVR else "encode_labels"])


@pytest.mark.parametrize(
    ("chooser", "model", "params"),
    [
        (LinearSVCCV, LinearSVC, {"loss": "hinge", "solver": "hybrid", "tol": 0.01}),
        (LinearSVCCV, LinearSVC, {"solver": "newton"}),
        (LogisticRegressionCV, LogisticRegression, {"solver": "newton_cg"}),
        (LinearSVRCV, LinearSVR, {"loss": "squared_epsilon_insensitive", "solver": "hybrid"}),
    ],
    ids=["hybrid", "newton", "newton_cg", "svr"],
)
def test_the_refit_starts_from_what_the_folds_have_reached(chooser, model, params):
    data, y = regression(1500, 12, seed=5) if model is LinearSVR else classification(1500, 12, seed=5)
    search = chooser(Cs=[0.01, 1.0], random_state=0, **params).fit(data, y)
    cold = model(C=search.C_, random_state=0, **params).fit(data, y)
    assert search.converged_
    assert search.objective_ == pytest.approx(cold.objective_, rel=1e-3)
    if "newton" in params["solver"]:
        assert search.n_iter_ < cold.n_iter_
    else:
        assert search.n_steps_ < 0.9 * cold.n_steps_


def test_without_a_refit_there_are_scores_alone():
    search = LinearSVCCV(Cs=CS, refit=False).fit(X, Y)
    assert search.C_ in CS
    assert search.n_features_in_ == 5
    with pytest.raises(NotFittedError):
        search.to_model()


def test_pipelines_and_grid_searches():
    pipeline = make_pipeline(StandardScaler(), LinearSVCCV(Cs=[0.1, 1.0]))
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.6
    outer = GridSearchCV(LinearSVCCV(Cs=[0.1, 1.0]), {"loss": ["hinge", "squared_hinge"]}, cv=3).fit(X, Y)
    assert outer.best_estimator_.C_ in (0.1, 1.0)


def test_metadata_routing():
    groups = np.arange(120) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = LinearSVCCV(Cs=CS, cv=GroupKFold(4), scoring=scorer, early_stopping=False)
        search.set_fit_request(sample_weight=True)
        weights = WEIGHTS[:120]
        search.fit(X, Y, sample_weight=weights, groups=groups)
        scaler = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, search)
        again = pipeline.fit(X, Y, sample_weight=weights, groups=groups)[-1]
    splits = list(GroupKFold(4).split(X, Y, groups))
    np.testing.assert_allclose(search.scores_, table_of(LinearSVC, X, Y, weights=weights, cv=splits))
    np.testing.assert_allclose(again.scores_, search.scores_)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        LinearSVCCV(Cs=CS, cv=GroupKFold(4)).fit(X, Y, groups=groups)


def test_refusals():
    for message, run in [
        ("'Cs' parameter", lambda: LinearSVCCV(Cs=0).fit(X, Y)),
        ("Cs is empty", lambda: LinearSVCCV(Cs=[]).fit(X, Y)),
        ("'scoring' parameter", lambda: LinearSVCCV(scoring="elephant").fit(X, Y)),
        ("needs predict_proba, .* by logistic regression", lambda: LinearSVCCV(scoring="neg_log_loss").fit(X, Y)),
        ("needs decision_function or", lambda: LinearSVRCV(scoring="roc_auc").fit(X_REAL, Y_REAL)),
        ("requires y to be passed", lambda: LinearSVCCV().fit(X, None)),
        ("inconsistent numbers", lambda: LinearSVRCV().fit(X, Y_REAL[:5])),
        ("is nan", lambda: LinearSVCCV(Cs=CS, scoring=lambda *a: np.nan).fit(X, Y)),
        ("X has 120 rows", lambda: LinearSVCCV(Cs=CS, cv=[([0, 1, 500], [3])]).fit(X, Y)),
        ("must have rows to train", lambda: LinearSVCCV(Cs=CS, cv=[([0, 1], [])]).fit(X, Y)),
        ("no fold", lambda: LinearSVCCV(Cs=CS, cv=[]).fit(X, Y)),
    ]:
        with pytest.raises(ValueError, match=message):
            run()


def test_a_cap_warns_and_a_failed_fit_changes_nothing():
    search = LinearSVCCV(Cs=[0.1, 1.0]).fit(X, Y)
    before = dict(vars(search))
    with pytest.raises(ValueError, match="contains NaN"):
        search.fit(np.full_like(X, np.nan), Y)
    assert vars(search) == before
    with pytest.warns(ConvergenceWarning, match="10 of 10 fits of folds"):
        LinearSVCCV(Cs=[10.0, 20.0], solver="hybrid", tol=1e-12, max_iter=1, refit=False).fit(X, Y)


def test_verbose(capsys):
    LinearSVRCV(Cs=[0.1, 1.0], verbose=1, refit=False).fit(X_REAL, Y_REAL)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[LinearSVRCV] C = 0.1: score ")


def test_score_is_r2_for_a_regression():
    search = LinearSVRCV(Cs=CS).fit(X_REAL, Y_REAL)
    assert search.score(X_REAL, Y_REAL) == pytest.approx(r2_score(Y_REAL, search.predict(X_REAL)))


def test_multinomial_folds_agree_with_fits_on_their_rows():
    X, y = classification(120, 5, seed=8, n_classes=4)
    Cs, folds = [0.1, 1.0], StratifiedKFold(3)
    search = LogisticRegressionCV(Cs=Cs, cv=folds, scoring="neg_log_loss", early_stopping=False, n_jobs=2).fit(X, y)
    for number, (train, test) in enumerate(folds.split(X, y)):
        for k, C in enumerate(Cs):
            model = LogisticRegression(C=C).fit(X[train], y[train])
            expected = -log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_)
            assert search.scores_[k, number] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(search.coef_, LogisticRegression(C=search.C_).fit(X, y).coef_, rtol=1e-5, atol=1e-7)
    assert search.predict_proba(X).shape == (120, 4)
    assert search.to_sklearn().C == search.C_


@pytest.mark.parametrize("search", [LinearSVCCV(Cs=[1.0]), LogisticRegressionCV(Cs=[1.0], multi_class="ovr")])
def test_a_class_may_be_in_no_fold(search):
    X, y = classification(60, 4, seed=9, n_classes=3)
    weights = np.where(y == 2, 0.0, 1.0)
    search.set_params(random_state=0).fit(X, y, sample_weight=weights)
    alone = search.to_model().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(search.coef_, alone.coef_, atol=1e-3)


@pytest.mark.parametrize("form", [sparse.coo_matrix, sparse.bsr_matrix, sparse.coo_array])
def test_functions_that_score_get_rows_of_any_format(form):
    search = LinearSVCCV(Cs=[1.0], scoring=lambda model, rows, labels: rows.shape[0]).fit(form(X), Y)
    np.testing.assert_array_equal(search.scores_, [[24.0] * 5])


@pytest.mark.parametrize("multi_class", ["auto", "ovr"])
def test_a_fold_may_lack_a_class(multi_class):
    X, y = classification(60, 4, seed=9, n_classes=3)
    y[y == 2] = 0
    y[:3] = 2  # all of them in the first fold
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    search = LogisticRegressionCV(Cs=[1.0], cv=folds, scoring="neg_log_loss", multi_class=multi_class).fit(X, y)
    assert np.isfinite(search.scores_).all()


def test_what_sklearn_has_and_this_has_not():
    X, y = classification(30, 3)
    assert LogisticRegressionCV(Cs=[1.0], l1_ratios=(0,), use_legacy_attributes=False).fit(X, y).C_ == 1.0
    with pytest.raises(ValueError, match="GridSearchCV"):
        LogisticRegressionCV(l1_ratios=(0.0, 0.5)).fit(X, y)
    with pytest.raises(ValueError, match="C_ is a number"):
        LogisticRegressionCV(use_legacy_attributes=True).fit(X, y)


def test_models_that_are_only_scored_are_trained_as_far_as_scores_need():
    X, y = make_text(n_rows=2000, n_cols=4000, seed=0)
    how = {"Cs": [0.01, 1.0], "cv": 3, "random_state": 0}
    loose, named = LinearSVCCV(**how).fit(X, y), LinearSVCCV(solver="hybrid", **how).fit(X, y)
    assert loose.fit_gaps_.max() <= 10.0 * loose.tol
    assert loose.fit_gaps_.min() > named.fit_gaps_.max()  # which end by tol alone
    assert loose.mean_scores_ == pytest.approx(named.mean_scores_, abs=0.001)
    assert loose.duality_gap_ <= 1e-3 * loose.tol  # the model that is kept
