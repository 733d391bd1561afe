"""The certificate in scikit-learn's HTML representation."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from svmlight_files import make_rows

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.estimators.per_class import UNFINISHED
from hingeline.io import load_model, save_model

ESTIMATORS = [LinearSVC(), LogisticRegression(), LinearSVR(), OneClassSVM(), LinearSVC(multi_class="crammer_singer")]


def text_of(estimator):
    """Return what a notebook gets."""
    html = estimator._repr_mimebundle_()["text/html"]
    assert estimator._repr_html_().count("relative gap") == html.count("relative gap")
    return html


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_fitted_estimators_show_their_certificate(estimator):
    assert "relative gap" not in text_of(estimator)
    X, y = make_rows("targets" if isinstance(estimator, LinearSVR) else "two")
    html = text_of(estimator.fit(X, y))
    assert html.count("relative gap") >= 2  # below the name, and among the details
    assert f"objective {estimator.objective_:.6g}, relative gap {estimator.duality_gap_:.1e}, " in html
    assert f"{estimator.fit_time_:.3g} s, {estimator.solver_}" in html
    assert f"{estimator.objective_:.7g}" in html


def test_one_line_a_class_and_labels_are_text():
    X, y = make_rows("many")
    labels = np.array(["<b>red", "green & blue", "white"])[np.unique(y, return_inverse=True)[1]]
    svc = LinearSVC().fit(X, labels)
    html = text_of(svc)
    assert "3 of 3 problems converged" in html
    assert "&lt;b&gt;red" in html
    assert "<b>red" not in html
    for objective in svc.per_class_["objective"]:
        assert f"{objective:.7g}" in html


def test_what_did_not_converge_says_so():
    with pytest.warns(match="max_iter ended training"):
        svc = LinearSVC(solver="baseline", tol=1e-9, max_iter=1).fit(*make_rows("signs"))
    html = text_of(svc)
    assert "\u26a0 not converged (max_iter), objective" in html
    assert UNFINISHED in html
    assert UNFINISHED not in text_of(LinearSVC().fit(*make_rows("signs")))


def test_a_search_shows_the_C_that_it_chose():
    X, y = make_rows("two")
    search = LinearSVCCV(Cs=[0.01, 1.0], cv=3).fit(X, y)
    assert f"C = {search.C_:.4g}: converged, objective" in text_of(search)


def test_pipelines_show_it_too():
    X, y = make_rows("two")
    pipeline = make_pipeline(StandardScaler(with_mean=False), LinearSVC())
    assert "relative gap" not in text_of(pipeline)
    html = text_of(pipeline.fit(X, y))
    assert "StandardScaler" in html
    assert f"relative gap {pipeline[-1].duality_gap_:.1e}" in html


def test_a_model_without_a_certificate_looks_as_usual(tmp_path):
    save_model(LinearSVC().fit(*make_rows("two")), tmp_path / "model", format="liblinear")
    html = text_of(load_model(tmp_path / "model"))
    assert "LinearSVC" in html
    assert "relative gap" not in html


def test_the_choice_of_a_text_display_is_respected():
    svc = LinearSVC().fit(*make_rows("two"))
    with config_context(display="text"):
        assert not hasattr(svc, "_repr_html_")
        assert set(svc._repr_mimebundle_()) == {"text/plain"}


def test_nothing_but_the_certificate_is_added():
    """The parameters' table is scikit-learn's own."""
    ours, theirs = text_of(LogisticRegression()), text_of(SklearnLogisticRegression())
    assert ours.count("parameters-table") == theirs.count("parameters-table")
