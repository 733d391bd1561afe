"""Logistic and epsilon-insensitive losses: engines against each other, scikit-learn and LIBLINEAR, one optimum."""

import numpy as np
import pytest
from problems import (
    COORDINATE_ENGINES,
    EVERY_LOSS,
    MARGIN_LOSSES,
    SMOOTH_ENGINES,
    TARGET_LOSSES,
    classification,
    csr,
    regression,
)
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.svm import SVC, SVR
from sklearn.svm import LinearSVR as SklearnLinearSVR

from hingeline import LinearSVC, LinearSVR, Logistic, LogisticRegression, solve

GAP = 1e-9
REL = 1e-6
NEW = {name: EVERY_LOSS[name] for name in ("logistic", *TARGET_LOSSES)}
LABELLED = classification(80, 6, seed=3)
MEASURED = regression(80, 6, seed=4)
WEIGHTS = np.random.default_rng(6).choice([0.0, 0.5, 1.0, 2.5], size=80)


def data_of(name):
    return LABELLED if name in MARGIN_LOSSES else MEASURED


def losses_at(name, f, y):
    """The loss of each row by its definition, without C."""
    tube = np.maximum(0.0, np.abs(y - f) - 0.3)
    margin = np.maximum(0.0, 1.0 - y * f)
    return {
        "hinge": margin,
        "squared_hinge": margin**2,
        "logistic": np.logaddexp(0.0, -y * f),
        "epsilon_insensitive": tube,
        "squared_epsilon_insensitive": tube**2,
        "pinball": np.maximum(0.3 * (y - f), -0.7 * (y - f)),
    }[name]


def objective(name, X, y, w, b, C, *, weights=1.0, bias=None):
    """The primal by its definition; a ``bias`` of None leaves the intercept out of the regulariser."""
    regularised = w @ w + (0.0 if bias is None else (b / bias) ** 2)
    return 0.5 * regularised + C * np.sum(weights * losses_at(name, X @ w + b, y))


def engines_of(name):
    return (*COORDINATE_ENGINES, "newton", *(SMOOTH_ENGINES if EVERY_LOSS[name](1.0).is_smooth else ()))


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("name", NEW)
def test_engines_agree(name, C):
    X, y = data_of(name)
    values = []
    for engine, rows in [*((engine, X) for engine in engines_of(name)), ("hybrid", csr(X))]:
        s = solve(rows, y, NEW[name](C), solver=engine, gap_tol=GAP, random_state=0, bias=2.0)
        assert s.stop_reason == "gap_tol", engine
        value = objective(name, X, y, s.w, s.intercept, C, bias=2.0)
        assert s.certificate.primal == pytest.approx(value, rel=1e-12)
        assert 0.0 <= s.certificate.primal - s.certificate.dual <= 1.01 * GAP * value
        values.append(value)
    np.testing.assert_allclose(values, values[0], rtol=2 * GAP)


@pytest.mark.parametrize("engine", ["hybrid", "newton"])
@pytest.mark.parametrize("name", NEW)
def test_weights_and_rows_of_zeros(name, engine):
    """Weights count as repetitions; rows of zeros are part of the objective and nothing else."""
    X, y = data_of(name)
    X = X.copy()
    X[[1, 5]] = 0.0
    s = solve(X, y, NEW[name](0.7), solver=engine, gap_tol=GAP, sample_weight=WEIGHTS, random_state=0)
    assert s.certificate.primal == pytest.approx(objective(name, X, y, s.w, 0.0, 0.7, weights=WEIGHTS, bias=1.0))
    twice = np.repeat(np.arange(80), (2.0 * WEIGHTS).astype(int))
    repeated = solve(X[twice], y[twice], NEW[name](0.35), solver=engine, gap_tol=GAP, random_state=0)
    np.testing.assert_allclose(s.w, repeated.w, atol=1e-4)


def test_logistic_equals_a_general_minimiser():
    X, y = LABELLED
    best = minimize(lambda w: objective("logistic", X, y, w, 0.0, 3.0, bias=1.0), np.zeros(6), tol=1e-10)
    s = solve(X, y, Logistic(3.0), solver="hybrid", gap_tol=1e-10, random_state=0)
    assert s.certificate.primal <= best.fun * (1.0 + 1e-9)
    np.testing.assert_allclose(s.w, best.x, atol=1e-4)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_logistic_regression_equals_sklearn(C, class_weight):
    X, y = LABELLED
    how = {"fit_intercept": "regularised", "intercept_scaling": 2.0}
    ours = LogisticRegression(C=C, gap_tol=1e-12, class_weight=class_weight, **how).fit(X, y, WEIGHTS)
    balanced = {c: WEIGHTS.sum() / (2.0 * WEIGHTS[y == c].sum()) for c in (-1, 1)}  # as scikit-learn does since 1.7
    factor = balanced if class_weight else None
    theirs = SklearnLogisticRegression(
        C=C, solver="liblinear", tol=1e-10, max_iter=10_000, class_weight=factor, intercept_scaling=2.0
    ).fit(X, y, WEIGHTS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr_equals_sklearn(loss):
    X, y = MEASURED
    ours = LinearSVR(epsilon=0.3, loss=loss, gap_tol=1e-9).fit(X, y, WEIGHTS)
    theirs = SklearnLinearSVR(epsilon=0.3, loss=loss, tol=1e-9, max_iter=1_000_000, random_state=0).fit(X, y, WEIGHTS)
    values = [objective(loss, X, y, m.coef_, m.intercept_[0], 1.0, weights=WEIGHTS, bias=1.0) for m in (ours, theirs)]
    assert ours.objective_ == pytest.approx(values[0], rel=1e-12)
    assert values[0] == pytest.approx(values[1], rel=REL)
    assert values[0] <= values[1] * (1.0 + 1e-8)


LIBLINEAR_TYPES = {"logistic": (0, 7), "epsilon_insensitive": (13,), "squared_epsilon_insensitive": (11, 12)}


@pytest.mark.parametrize("name", LIBLINEAR_TYPES)
def test_equals_liblinear(name):
    liblinear = pytest.importorskip("liblinear.liblinearutil", reason="liblinear-official is not installed")
    X, y = data_of(name)
    ours = solve(X, y, NEW[name](1.0), gap_tol=1e-10, random_state=0).certificate.primal
    for code in LIBLINEAR_TYPES[name]:
        options = f"-s {code} -c 1 -e 1e-9 -p 0.3 -B -1 -q"
        model = liblinear.train(liblinear.problem(y, X), liblinear.parameter(options))
        w = np.array(model.w[: X.shape[1]]) * (1.0 if name not in MARGIN_LOSSES else model.label[0])
        assert ours == pytest.approx(objective(name, X, y, w, 0.0, 1.0, bias=1.0), rel=REL)


@pytest.mark.parametrize("engine", ["hybrid", "newton"])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_free_intercept(name, engine):
    """The certificate holds for the problem whose intercept costs nothing: its dual bounds every other solution."""
    X, y = data_of(name)
    X = X + 3.0  # the intercept matters
    s = solve(X, y, EVERY_LOSS[name](0.5), solver=engine, gap_tol=1e-7, random_state=0, free_intercept=True)
    assert s.stop_reason == "gap_tol"
    value = objective(name, X, y, s.w, s.intercept, 0.5)
    assert s.certificate.primal == pytest.approx(value, rel=1e-12)
    assert -1e-12 * value <= value - s.certificate.dual <= 1.01e-7 * value  # solved to rounding, it may be below
    signs = y if name in MARGIN_LOSSES else 1.0
    assert abs(np.sum(s.alpha * signs)) <= 1e-12 * np.sum(np.abs(s.alpha))
    for b in (s.intercept - 0.01, s.intercept + 0.01):
        assert objective(name, X, y, s.w, b, 0.5) >= s.certificate.dual * (1.0 - 1e-12)
    regularised = solve(X, y, EVERY_LOSS[name](0.5), solver=engine, gap_tol=1e-7, random_state=0, bias=1.0)
    assert objective(name, X, y, regularised.w, regularised.intercept, 0.5) > value


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_free_intercept_equals_sklearn(C):
    X, y = LABELLED[0] + 2.0, LABELLED[1]
    ours, theirs = LinearSVC(loss="hinge", C=C, fit_intercept="free").fit(X, y), SVC(kernel="linear", C=C, tol=1e-9)
    theirs.fit(X, y)
    values = [objective("hinge", X, y, m.coef_[0], m.intercept_[0], C) for m in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-4)  # libsvm stops short of its tol on some problems
    assert values[0] <= values[1] * (1.0 + 1e-9)
    assert ours.objective_ == pytest.approx(values[0], rel=1e-12)
    ours = LogisticRegression(C=C, fit_intercept="free").fit(X, y)
    theirs = SklearnLogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-5)
    X, y = MEASURED[0] + 2.0, MEASURED[1]
    ours = LinearSVR(C=C, epsilon=0.3, fit_intercept="free").fit(X, y)
    theirs = SVR(kernel="linear", C=C, epsilon=0.3, tol=1e-9).fit(X, y)
    values = [
        objective("epsilon_insensitive", X, y, w, b, C)
        for w, b in ((ours.coef_, ours.intercept_[0]), (theirs.coef_[0], theirs.intercept_[0]))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    assert values[0] <= values[1] * (1.0 + 1e-9)
