"""An intercept that is not regularised: by Newton's method, on every back end, whatever the scale of the problem."""

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, EVERY_LOSS, TARGET_LOSSES, classification, csr, regression
from sklearn.linear_model import Ridge
from truth import complaints

from hingeline import (
    EpsilonInsensitive,
    Hinge,
    LinearSVC,
    LinearSVR,
    Logistic,
    LogisticRegression,
    SquaredEpsilonInsensitive,
    c_path,
    solve,
)
from hingeline.solvers import free_intercept


def data_of(name, n=60, d=4):
    return regression(n, d, seed=5) if name in TARGET_LOSSES else classification(n, d, seed=5)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_ten_rows_with_targets_near_ten_thousand(C):
    """What the chain of anchored problems gave up on."""
    X, y = regression(10, 3, seed=0)
    model = LinearSVR(C=C, fit_intercept="free").fit(X, y + 1e4)
    assert model.duality_gap_ <= 1e-9
    assert model.intercept_[0] == pytest.approx(1e4, rel=1e-2)
    assert complaints(model, X, y + 1e4) == []


@pytest.mark.parametrize("C", [1e-8, 3e-4, 1e6])
@pytest.mark.parametrize("kind", ["hinge", "squared_hinge", "logistic"])
def test_labels_of_which_few_are_positive(kind, C):
    X, _ = classification(50, 3, seed=1)
    y = np.where(np.arange(50) == 7, 1, -1)
    how = {"C": C, "fit_intercept": "free"}
    model = (LogisticRegression(**how) if kind == "logistic" else LinearSVC(loss=kind, **how)).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-6
    assert complaints(model, X, y) == []


def test_ridge_regression_has_a_formula():
    X, y = regression(30, 4, seed=2)
    ours = solve(X + 5.0, y + 100.0, SquaredEpsilonInsensitive(0.3), free_intercept=True)
    theirs = Ridge(alpha=0.5 / 0.3, solver="cholesky").fit(X + 5.0, y + 100.0)
    np.testing.assert_allclose(ours.w, theirs.coef_, rtol=1e-9)
    assert ours.intercept == pytest.approx(theirs.intercept_, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("name", TARGET_LOSSES)
def test_the_scale_of_the_targets_does_not_matter(name, scale):
    X, y = regression(30, 3, seed=3)
    kind = {"pinball": {"loss": "pinball", "quantile": 0.3}}.get(name, {"loss": name, "epsilon": 0.3 * scale})
    C = 1.0 if name.startswith("squared") else scale
    model = LinearSVR(C=C, fit_intercept="free", **kind).fit(X, scale * y)
    reference = LinearSVR(C=1.0, fit_intercept="free", **{**kind, **({"epsilon": 0.3} if "epsilon" in kind else {})})
    reference.fit(X, y)
    np.testing.assert_allclose(model.coef_ / scale, reference.coef_, rtol=1e-6, atol=1e-8)
    assert model.intercept_[0] / scale == pytest.approx(reference.intercept_[0], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(1.0), SquaredEpsilonInsensitive(1.0)])
def test_equal_targets_are_met(loss):
    s = solve(classification(20, 3)[0], np.full(20, 1e9), loss, free_intercept=True)
    assert (s.intercept, s.certificate.primal, s.converged) == (1e9, 0.0, True)
    assert (s.w == 0.0).all()


def test_repetitions_weights_and_a_constant_column():
    X, y = classification(40, 3, seed=6)
    X[:, 2] = 7.0
    counts = np.random.default_rng(0).integers(0, 3, 40)
    counts[:2] = 1
    weighted = solve(X, y, Hinge(0.7), sample_weight=counts.astype(float), free_intercept=True)
    repeated = solve(np.repeat(X, counts, axis=0), np.repeat(y, counts), Hinge(0.7), free_intercept=True)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-9)
    assert weighted.w[2] == pytest.approx(0.0, abs=1e-9)  # the intercept costs nothing


@pytest.mark.parametrize("solver", ["newton", "newton_cg"])
@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_threads_find_the_same(layout, solver):
    X, y = classification(16_000, 20, seed=4)
    one, two = (
        solve(layout(X + 1.0), y, Logistic(1e-3), solver=solver, gap_tol=1e-9, free_intercept=True, n_jobs=n)
        for n in (1, 2)
    )
    assert one.certificate.gap <= 1e-9
    assert two.certificate.gap <= 1e-9
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=2e-9)
    np.testing.assert_allclose(one.w, two.w, atol=1e-3)
    assert one.intercept == pytest.approx(two.intercept, abs=1e-3)


@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
@pytest.mark.parametrize("name", ["hinge", "logistic", "epsilon_insensitive"])
def test_engines_that_are_too_slow_are_finished_by_newtons_method(name, engine, monkeypatch):
    monkeypatch.setattr(free_intercept, "LEAST_EFFORT", 1e5)
    X, y = data_of(name)
    s = solve(X * [1.0, 1e3, 1.0, 1e-3] + 30.0, y, EVERY_LOSS[name](10.0), solver=engine, free_intercept=True)
    assert s.solver == f"{engine}+newton"
    assert s.converged
    assert s.certificate.gap <= 1e-3
    assert s.history["sweep"][-1] == s.n_iter
    assert (np.diff(s.history["seconds"]) >= 0.0).all()


@pytest.mark.parametrize("solver", ["newton", "hybrid"])
def test_a_small_violation_is_not_enough_if_the_gap_is_large(solver):
    """Of targets that differ by less than tol, every constant between them meets it."""
    X, y = regression(30, 3, seed=3)
    s = solve(X, 1e-5 * y, EpsilonInsensitive(10.0), solver=solver, tol=1e-2, free_intercept=True)
    assert (s.stop_reason, s.converged) == ("tol", True)
    assert s.certificate.gap <= 1e-3
    assert s.history["sweep"][-1] == s.n_iter


def test_caps_end_it():
    X, y = data_of("hinge")
    how = {"free_intercept": True, "tol": 1e-12}
    assert solve(X, y, Hinge(1e3), solver="newton", max_iter=2, **how).n_iter == 2
    s = solve(X, y, Hinge(1e3), solver="hybrid", max_iter=3, **how)
    assert (s.stop_reason, s.n_iter) == ("max_iter", 3)


@pytest.mark.parametrize("name", ["hinge", "logistic"])
def test_paths_begin_at_the_solution_before(name):
    X, y = data_of(name, n=3000, d=40)
    Cs = [0.1, 0.2, 0.4]
    path = c_path(X + 1.0, y, Cs, EVERY_LOSS[name](1.0), free_intercept=True, gap_tol=1e-6, solver="newton")
    for C, found in zip(Cs, path.solutions, strict=True):
        alone = solve(X + 1.0, y, EVERY_LOSS[name](C), free_intercept=True, gap_tol=1e-6, solver="newton")
        assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=3e-6)
    assert found.n_iter < alone.n_iter
