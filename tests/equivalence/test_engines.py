"""Engines against each other, against scikit-learn's LinearSVC, and across row views: one optimum."""

import numpy as np
import pytest
from problems import ENGINES, LOSSES, classification, every_layout, primal
from scipy import sparse
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC, SquaredHinge, solve

GAP = 1e-9
REL = 1e-6

X_DENSE, Y = classification(80, 6, seed=3)
X_SPARSE, Y_SPARSE = classification(80, 30, seed=4, density=0.15)
X_MANY, Y_MANY = classification(90, 6, seed=5, n_classes=4)
WEIGHTS = np.random.default_rng(6).uniform(0.2, 3.0, size=80)

INTERCEPTS = {
    "no-intercept": {"fit_intercept": False},
    "intercept": {},
    "scaled-intercept": {"intercept_scaling": 4.0},
}
# Layouts are compiled one by one: each engine with one loss is enough, and both losses with some engine.
LAYOUTS_OF = [(list(LOSSES)[k % 2], engine) for k, engine in enumerate(ENGINES)]


@pytest.mark.parametrize("bias", [0.0, 2.0])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("X", "y"), [(X_DENSE, Y), (X_SPARSE, Y_SPARSE)], ids=["dense", "sparse"])
def test_engines_agree(X, y, loss, C, bias):
    loss = LOSSES[loss](C)
    rows = sparse.csr_array(X) if X is X_SPARSE else X
    how = {"gap_tol": GAP, "random_state": 0, "bias": bias, "finish": False}
    solutions = [solve(rows, y, loss, solver=engine, **how) for engine in ENGINES]
    assert [s.solver for s in solutions] == list(ENGINES)
    assert [s.stop_reason for s in solutions] == ["gap_tol"] * len(ENGINES)
    values = [primal(X, y, s.w, loss, intercept=s.intercept, bias=bias or 1.0) for s in solutions]
    np.testing.assert_allclose(values, values[0], rtol=10 * GAP)
    for s in solutions[1:]:  # |w|^2/2 is strongly convex: a gap of G holds w to sqrt(2 G)
        np.testing.assert_allclose(s.w, solutions[0].w, rtol=0, atol=4.0 * np.sqrt(GAP * values[0]))
    if isinstance(loss, SquaredHinge):  # so is its dual, in alpha
        for s in solutions[1:]:
            np.testing.assert_allclose(s.alpha, solutions[0].alpha, rtol=0, atol=8.0 * np.sqrt(C * GAP * values[0]))


def objectives(model, X, y, loss, C, weights=None):
    """Return the objective of each binary problem of a fitted model, by its definition."""
    bias = model.intercept_scaling if model.fit_intercept else 1.0
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    weights = np.ones((len(labels), len(y))) if weights is None else np.broadcast_to(weights, (len(labels), len(y)))
    return [
        primal(X, np.where(y == c, 1, -1), w, LOSSES[loss](C), weights=k, intercept=b, bias=bias)
        for c, w, b, k in zip(labels, model.coef_, np.broadcast_to(model.intercept_, len(labels)), weights, strict=True)
    ]


def assert_equals_sklearn(X, y, loss, C, parameters, *, sample_weight=None, weights=None, class_weight=None, **ours):
    """Fit both, and compare the objectives; ``weights`` are the rows' weights that follow from the parameters.

    ``class_weight`` is what scikit-learn gets instead: before version 1.7 it balanced without a look at weights.
    """
    model = LinearSVC(loss=loss, C=C, gap_tol=GAP, random_state=0, **parameters, **ours)
    model.fit(X, y, sample_weight=sample_weight)
    theirs = {**parameters, **({} if class_weight is None else {"class_weight": class_weight})}
    peer = SklearnLinearSVC(loss=loss, C=C, dual=True, tol=1e-10, max_iter=10**6, random_state=0, **theirs)
    peer.fit(X, y, sample_weight=sample_weight)
    dense = X.toarray() if sparse.issparse(X) else X
    expected = objectives(peer, dense, y, loss, C, weights)
    np.testing.assert_allclose(objectives(model, dense, y, loss, C, weights), expected, rtol=REL)
    np.testing.assert_allclose(model.per_class_["objective"], expected, rtol=REL)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=0, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("solver", [*ENGINES, "auto"])
@pytest.mark.parametrize("loss", LOSSES)
def test_binary(loss, solver, intercept):
    assert_equals_sklearn(X_DENSE, Y, loss, 0.5, INTERCEPTS[intercept], solver=solver)


@pytest.mark.parametrize("solver", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_sparse(loss, solver):
    assert_equals_sklearn(sparse.csr_array(X_SPARSE), Y_SPARSE, loss, 0.5, {}, solver=solver)


@pytest.mark.parametrize("class_weight", [None, {-1: 0.3, 1: 2.0}, "balanced"], ids=["none", "dict", "balanced"])
@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights(loss, sample_weight, class_weight):
    y = np.where(np.arange(80) % 5 == 0, 1, Y)  # unbalanced
    rows = np.ones(80) if sample_weight is None else sample_weight
    balanced = {c: rows.sum() / (2.0 * rows[y == c].sum()) for c in (-1, 1)}
    factor = class_weight if isinstance(class_weight, dict) else balanced if class_weight else {-1: 1.0, 1: 1.0}
    weights = rows * np.where(y == 1, factor[1], factor[-1])
    parameters = {"class_weight": class_weight}
    how = {"sample_weight": sample_weight, "weights": weights, "class_weight": factor}
    assert_equals_sklearn(X_DENSE, y, loss, 0.5, parameters, **how)


@pytest.mark.parametrize("class_weight", [None, {0: 0.5, 2: 3.0}, "balanced"], ids=["none", "dict", "balanced"])
@pytest.mark.parametrize("solver", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_one_versus_rest(loss, solver, class_weight):
    counts = np.bincount(Y_MANY)
    per_class = {"balanced": 90 / (4 * counts), None: np.ones(4)}
    factor = per_class[class_weight] if not isinstance(class_weight, dict) else [0.5, 1.0, 3.0, 1.0]
    weights = [np.where(Y_MANY == k, factor[k], 1.0) for k in range(4)]  # as in LIBLINEAR the rest keeps weight 1
    assert_equals_sklearn(
        X_MANY, Y_MANY, loss, 0.5, {"class_weight": class_weight}, weights=weights, solver=solver, n_jobs=2
    )


@pytest.mark.parametrize(("loss", "engine"), LAYOUTS_OF)
def test_layouts_agree(loss, engine):
    X, y = classification(70, 12, seed=8, density=0.3)
    loss = LOSSES[loss](1.0)
    found = {name: solve(rows, y, loss, solver=engine, gap_tol=GAP, random_state=0) for name, rows in every_layout(X)}
    assert len(found) == 6
    expected = found["dense-float64"]
    for name, solution in found.items():
        np.testing.assert_allclose(
            solution.certificate.primal, expected.certificate.primal, rtol=10 * GAP, err_msg=name
        )
        np.testing.assert_allclose(solution.w, expected.w, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(("loss", "engine"), LAYOUTS_OF)
def test_layouts_of_ones_agree(loss, engine):
    X, y = classification(70, 12, seed=9, density=0.3, ones=True)
    loss = LOSSES[loss](1.0)
    expected = solve(X, y, loss, solver=engine, gap_tol=GAP, random_state=0, bias=1.0)
    for name, rows in every_layout(X):
        solution = solve(rows, y, loss, solver=engine, gap_tol=GAP, random_state=0, bias=1.0)
        np.testing.assert_allclose(
            solution.certificate.primal, expected.certificate.primal, rtol=10 * GAP, err_msg=name
        )
        np.testing.assert_allclose(solution.w, expected.w, rtol=0, atol=1e-6, err_msg=name)
