"""Multinomial logistic regression: scikit-learn's optimum, certificates, starts, caps, scales."""

import numpy as np
import pytest
from problems import classification, csr
from random_cases import draw
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from truth import complaints

from hingeline import LogisticRegression
from hingeline.data.read import read_data
from hingeline.solvers.multinomial.multinomial import train_multinomial
from hingeline.solvers.stop import Stop

X, Y = classification(90, 6, seed=5, n_classes=4)
DEFAULT = Stop(tol=1e-4)
WEIGHTS = np.random.default_rng(4).choice([0.5, 1.0, 3.0], size=90)


def train(X=X, y=Y, C=1.0, solver="auto", stop=DEFAULT, weights=None, bias=1.0, free=True, **how):
    data = read_data(X, bias)
    return train_multinomial(data, y, int(y.max()) + 1, weights, C, solver, stop, free_intercept=free, **how)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_optimum_is_that_of_sklearn(C, fit_intercept):
    ours = LogisticRegression(C=C, fit_intercept=fit_intercept).fit(X, Y, WEIGHTS)
    theirs = SklearnLogisticRegression(
        C=C, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert ours.duality_gap_ < 1e-10
    assert complaints(ours, X, Y, WEIGHTS) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["newton", "newton_cg"])
def test_engines_and_layouts_agree(solver, dtype):
    rows = (X * (np.abs(X) > 0.3)).astype(dtype)
    best = train(rows).certificate.primal
    for layout in (rows, csr(rows)):
        s = train(layout, solver=solver, stop=Stop(gap_tol=1e-9))
        assert s.certificate.gap <= 1e-9
        assert s.stop_reason == "gap_tol"
        assert s.certificate.primal == pytest.approx(best, rel=2e-9)


def test_threads_change_nothing_but_rounding():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(40_000, 10))
    y = (many @ rng.normal(size=(10, 3)) + rng.gumbel(size=(40_000, 3))).argmax(axis=1)
    one, two = (train(many, y, n_threads=n) for n in (1, 2))
    np.testing.assert_allclose(two.w, one.w, rtol=1e-6, atol=1e-9)


def test_weights_of_classes_and_of_rows_are_the_same():
    of_class = {0: 0.5, 1: 3.0, 2: 1.0, 3: 0.1}
    by_class = LogisticRegression(class_weight=of_class).fit(X, Y)
    by_row = LogisticRegression().fit(X, Y, [of_class[y] for y in Y.tolist()])
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-9)
    repeated = LogisticRegression().fit(np.repeat(X, 3, axis=0), np.repeat(Y, 3))
    np.testing.assert_allclose(LogisticRegression(C=3.0).fit(X, Y).coef_, repeated.coef_, rtol=1e-7, atol=1e-9)


def test_a_class_without_weight_is_never_predicted():
    weights = np.where(Y == 2, 0.0, 1.0)
    model = LogisticRegression().fit(X, Y, weights)
    assert model.converged_
    assert np.isfinite(model.intercept_).all()
    assert model.predict_proba(X)[:, 2].max() == 0.0
    others = LogisticRegression().fit(X[Y != 2], Y[Y != 2])
    np.testing.assert_allclose(model.coef_[[0, 1, 3]], others.coef_, rtol=1e-7, atol=1e-9)


def test_warm_start_begins_at_the_weights():
    model = LogisticRegression(solver="newton", C=30.0, warm_start=True).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < cold
    assert model.fit(X[:80], Y[:80]).n_iter_ <= cold
    start = np.full((4, 7), np.nan)
    assert train(alpha0=start).converged  # a start that is no good is not used


def test_caps_leave_a_model_with_a_certificate():
    for stop in (Stop(max_iter=1), Stop(max_time=1e-9)):
        s = train(C=1e4, stop=stop)
        assert not s.converged
        assert s.stop_reason in ("max_iter", "max_time")
        assert 0.0 <= s.certificate.gap <= 1.0
        assert np.isfinite(s.w).all()


def test_callbacks_see_the_model_and_end_training():
    seen = []

    def callback(progress):
        seen.append(progress.look())
        return len(seen) == 2

    s = train(X + 100.0, C=1e4, callback=callback)
    assert s.stop_reason == "callback"
    np.testing.assert_allclose(seen[-1].w, s.w)
    np.testing.assert_allclose(seen[-1].intercept, s.intercept, rtol=1e-6)


@pytest.mark.parametrize(
    "hostile",
    [
        X * np.array([1e9, 1.0, 1.0, 1e-9, 1.0, 1.0]),
        np.column_stack([X, X[:, :3], X.sum(axis=1)]),
        np.column_stack([X, np.ones(90), np.zeros(90)]),
        X + 1e9,
        1e-200 * X,
    ],
    ids=["scales", "dependent", "constant", "far", "tiny"],
)
def test_hostile_columns(hostile):
    model = LogisticRegression().fit(hostile, Y)
    assert model.converged_
    assert model.duality_gap_ < 1e-3  # how much better depends on the last digits, and with them on the BLAS
    assert complaints(model, hostile, Y) == []
    assert np.isfinite(model.predict_log_proba(hostile)).all()


@pytest.mark.parametrize("solver", ["newton", "newton_cg"])
def test_weights_sum_to_zero_over_the_classes(solver):
    s = train(C=1e3, solver=solver)
    np.testing.assert_allclose(s.w.sum(axis=0), 0.0, atol=1e-12)
    assert s.intercept.sum() == pytest.approx(0.0, abs=1e-12)


def test_scores_that_overflow_exponentials():
    model = LogisticRegression(C=1e6).fit(X, Y)
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0)


def test_other_solvers_are_refused():
    with pytest.raises(ValueError, match="does not train multinomial"):
        train(solver="hybrid")


def test_a_warm_start_without_time_is_kept():
    X, y = classification(30, 4, n_classes=3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    with pytest.warns(match="max_time"):
        model.set_params(max_time=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-8)


def test_a_direction_that_overflows_warns_of_nothing():
    case = draw(5098047, any_layout=False)
    case.model.fit(case.X, case.y)
    assert complaints(case.model, case.X, case.y) == []
