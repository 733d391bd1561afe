"""Models without what grows with the rows."""

import pickle

import numpy as np
import pytest
from problems import classification

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.io import load_model, save_model
from hingeline.viz import write_report

X, Y = classification(400, 4, n_classes=3)
CASES = [
    (LinearSVC(random_state=0), Y),
    (LinearSVC(random_state=0, multi_class="crammer_singer"), Y),
    (LogisticRegression(random_state=0), Y),
    (LinearSVR(random_state=0), X[:, 0]),
    (OneClassSVM(random_state=0), None),
    (LinearSVCCV(random_state=0, Cs=[0.1, 1.0], cv=3), Y),
]


@pytest.mark.parametrize(("model", "y"), CASES, ids=lambda value: type(value).__name__)
def test_dual_variables_are_forgotten_and_nothing_else(model, y, tmp_path):
    whole = model.fit(X, y)
    small = type(model)(**{**model.get_params(), "keep_dual": False}).fit(X, y)
    assert not hasattr(small, "dual_coef_")
    assert not hasattr(small, "support_")
    assert set(vars(whole)) - set(vars(small)) == {"dual_coef_", "support_"}
    np.testing.assert_array_equal(small.coef_, whole.coef_)
    assert len(pickle.dumps(small)) < len(pickle.dumps(whole)) - 8 * len(X)
    save_model(whole, tmp_path / "compact", compact=True)
    save_model(whole, tmp_path / "whole")
    assert (tmp_path / "compact").stat().st_size < (tmp_path / "whole").stat().st_size - 8 * len(X)
    loaded = load_model(tmp_path / "compact")
    assert not hasattr(loaded, "dual_coef_")
    assert loaded.per_class_ == whole.per_class_
    np.testing.assert_array_equal(loaded.predict(X), whole.predict(X))
    if y is not None:
        write_report(small, tmp_path / "report.html", data=(X, y))


@pytest.mark.parametrize("how", [{}, {"multi_class": "crammer_singer"}])
def test_a_warm_start_begins_at_the_weights(how):
    model = LinearSVC(random_state=0, keep_dual=False, warm_start=True, **how).fit(X, Y)
    objective = model.objective_
    assert model.fit(X, Y).objective_ == pytest.approx(objective, rel=1e-3)
    assert model.converged_


def test_a_search_is_saved_with_its_scores(tmp_path):
    search = LinearSVCCV(Cs=[0.1, 1.0, 10.0], cv=4, scoring="f1_macro", random_state=0).fit(X, Y)
    save_model(search, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is LinearSVCCV
    assert loaded.get_params() == search.get_params()
    assert (loaded.C_, loaded.best_score_) == (search.C_, search.best_score_)
    np.testing.assert_array_equal(loaded.scores_, search.scores_)
    assert loaded.score(X, Y) == search.score(X, Y)
    save_model(search, tmp_path / "m", format="liblinear")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), search.predict(X))


def test_folds_and_functions_are_not_saved(tmp_path):
    from sklearn.model_selection import KFold

    search = LinearSVCCV(Cs=[1.0], cv=KFold(3)).fit(X, Y)
    save_model(search, tmp_path / "m")
    assert load_model(tmp_path / "m").cv is None
    search.scoring = lambda estimator, X, y: 1.0
    with pytest.raises(ValueError, match="scoring is a function"):
        save_model(search, tmp_path / "m")
