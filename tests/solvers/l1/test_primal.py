"""Problems with an L1 penalty that coordinate descent and halved steps find hard."""

from itertools import pairwise

import numpy as np
import pytest
from problems import classification
from truth import complaints

from hingeline import LinearSVC, Logistic, LogisticRegression, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace, do_nothing
from hingeline.solvers.l1 import primal
from hingeline.solvers.l1.penalised import Penalised
from hingeline.solvers.l1.primal import train_primal
from hingeline.solvers.l1.proximal import ProximalNewton
from hingeline.solvers.shards.sample import chosen_rows, sample_of
from hingeline.solvers.stop import Stop


def test_nearly_unregularised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 10)), np.array([0, 1, 0, 1, 1])
    model = LinearSVC(penalty="l1", C=1e6, max_iter=200).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ < 1e-6
    assert np.count_nonzero(model.coef_) <= 6


def test_squares_that_underflow():
    X = 1e-310 * np.array([[1.0], [-1.8], [0.5], [0.3], [-0.7]])
    weights = np.array([1e-20, 1e300, 1e-300, 1e-100, 1.0])
    y = np.array([0, 1, 0, 1, 1])
    model = LinearSVC(penalty="l1", fit_intercept=False).fit(X, y, sample_weight=weights)
    assert not complaints(model, X, y, weights)


@pytest.mark.parametrize("model", [LinearSVC("l1", C=1e4), LogisticRegression("l1", C=1e4)])
def test_parallel_columns(model):
    rng = np.random.default_rng(1)
    X = np.column_stack([np.full(40, 1e3), rng.normal(size=40)])  # and the intercept's column
    X = np.column_stack([X, 2.0 * X[:, 1]])
    model.set_params(max_iter=200).fit(X, (X[:, 1] + rng.normal(size=40) > 0).astype(int))
    assert model.converged_
    assert model.duality_gap_ < 1e-3
    assert model.coef_[0, 1] == 0.0  # the longer of two parallel columns does it for less


def test_dual_variables_are_those_of_the_certificate():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 4)) + 3.0, np.where(rng.random(30) < 0.5, 1, -1)
    model = LinearSVC(penalty="l1", C=0.1, fit_intercept="free", tol=0.1, solver="hybrid").fit(X, y)
    beta = model.dual_coef_.ravel()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert np.abs(beta @ X).max() <= 1.0 + 1e-14
    assert model.dual_objective_ == pytest.approx(np.sum(np.abs(beta) - beta**2 / (4.0 * 0.1)), rel=1e-12)


def test_a_softened_problem_has_the_certificates_of_the_problem():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 3)), np.where(rng.random(20) < 0.5, 1.0, -1.0).astype(np.float32)
    problem = make_problem(read_data(X, 1.0), y, None, SquaredHinge(10.0))
    primal = Penalised(problem, None, np.ones(4), np.zeros(4), do_nothing)
    primal.w[:] = 0.1
    primal.refresh()
    before, losses = primal.certify(Pace()), primal.losses
    primal.soften(0.01)
    assert primal.losses == pytest.approx(0.01 * losses)
    after = primal.certify(Pace())
    assert after.primal == pytest.approx(before.primal)
    assert after.dual >= before.dual


def test_the_best_dual_point_is_kept():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 3)), np.where(rng.random(40) < 0.5, 1.0, -1.0).astype(np.float32)
    problem = make_problem(read_data(X, 1.0), y, None, SquaredHinge(1.0))
    primal = Penalised(problem, None, np.ones(4), np.zeros(4), do_nothing)
    duals, found = [], []
    for w in (0.0, 0.1, -0.5, 0.0):
        primal.w[:] = w
        primal.refresh()
        certificate = primal.certify(Pace())
        duals.append(certificate.dual)
        found.append(primal.dual_variables)
    assert all(after >= before * (1.0 - 1e-12) for before, after in pairwise(duals))
    assert found[2] is found[1] or found[2] is found[0]
    assert duals[-1] == pytest.approx(max(duals), rel=1e-12)


@pytest.mark.parametrize("warm", [False, True])
def test_no_time_at_all(warm):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 3)), rng.integers(2, size=20)
    model = LinearSVC("l1", warm_start=True)
    if warm:
        model.fit(X, y)
    with pytest.warns(match="max_time ended training"):
        model.set_params(max_time=1e-9).fit(X, y)
    assert np.isfinite([model.objective_, model.dual_objective_, model.duality_gap_]).all()
    assert (model.duality_gap_ < 1e-3) == warm


def test_dual_variables_that_certify_nothing_are_replaced():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)), np.where(rng.random(20) < 0.5, 1.0, -1.0).astype(np.float32)
    problem = make_problem(read_data(X, 1.0), y, None, SquaredHinge(1e4))
    primal = Penalised(problem, None, np.full(4, 0.1), np.full(4, 0.9), do_nothing)
    primal.refresh()
    certificate = primal.certify(Pace())
    assert certificate.dual == 0.0
    assert certificate.gap == pytest.approx(1.0)
    assert not primal.dual_variables.any()


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_a_free_intercept_for_one_label_alone(l1_ratio):
    """The logistic loss has no minimum, but one to rounding."""
    X, y = classification(30, 3)
    model = LogisticRegression(penalty="elasticnet", l1_ratio=l1_ratio, fit_intercept="free")
    model.fit(X, y, sample_weight=np.where(y > 0, 1.0, 0.0))
    assert model.converged_
    assert model.objective_ == model.duality_gap_ == 0.0
    assert set(model.predict(X)) == {1}


@pytest.mark.parametrize("misleads", [False, True])
def test_a_sample_of_the_rows_is_only_a_start(misleads):
    """With many rows per column, steps over a sample come first; its labels may be all wrong."""
    X, y = classification(6000, 6, seed=6)
    if misleads:
        y[chosen_rows(6000, 16)] *= -1
    problem, stop = make_problem(read_data(X), y, None, SquaredHinge(0.1)), Stop(tol=1e-3, gap_tol=1e-8)
    how = {"columns": None, "seed": 0}
    sampled = train_primal(problem, "hybrid", stop, **how)
    plain = train_primal(problem, "hybrid", stop, **how, alpha0=np.zeros(7))
    for found in (sampled, plain):
        assert found.certificate.gap <= 1e-8
    np.testing.assert_allclose(sampled.w, plain.w, atol=1e-4)
    assert misleads or sampled.n_iter < plain.n_iter


@pytest.mark.parametrize(("C", "pays"), [(0.01, True), (1e3, False)])
def test_a_sample_serves_the_logistic_loss_only_at_small_c(C, pays, monkeypatch):
    """At a large C it separates rows, and its weights are much too large."""
    X, y = classification(6000, 6, seed=6)
    problem, calls = make_problem(read_data(X), y, None, Logistic(C)), []
    monkeypatch.setattr(primal, "sample_of", lambda *given: (calls.append(given), sample_of(*given))[1])
    how = {"columns": None, "seed": 0}
    found = train_primal(problem, "hybrid", Stop(gap_tol=1e-6), **how)
    assert len(calls) == pays
    assert found.certificate.gap <= 1e-6
    if pays:
        plain = train_primal(problem, "hybrid", Stop(gap_tol=1e-6), **how, alpha0=np.zeros(7))
        assert found.n_iter < plain.n_iter
        np.testing.assert_allclose(found.w, plain.w, atol=1e-3)


def rare_positives():
    """Return a problem over columns of zeros and ones in which few labels are positive: many steps lead away from 0."""
    rng = np.random.default_rng(8)
    X = (rng.random((3000, 20)) < 0.2).astype(np.float64)
    y = np.where(X[:, 0] * X[:, 1] * (rng.random(3000) < 0.9) > 0.0, 1.0, -1.0).astype(np.float32)
    return make_problem(read_data(X), y, None, Logistic(3.0))


def test_what_a_model_proposes_certifies_sooner_and_is_feasible(monkeypatch):
    problem, how = rare_positives(), {"columns": None, "seed": 0}
    found = train_primal(problem, "hybrid", Stop(gap_tol=1e-4), **how)
    alpha, X = found.alpha, problem.data.rows.X
    assert found.certificate.gap <= 1e-4
    assert 0.0 <= alpha.min()
    assert alpha.max() <= 3.0
    assert np.abs((alpha * problem.y) @ X).max() <= 1.0 + 1e-12
    share = alpha / 3.0
    entropy = -(share * np.log(share) + (1.0 - share) * np.log1p(-share))
    assert found.certificate.dual == pytest.approx(3.0 * entropy.sum(), rel=1e-9)
    monkeypatch.setattr(Penalised, "propose", lambda primal, u: None)
    assert found.n_iter < train_primal(problem, "hybrid", Stop(gap_tol=1e-4), **how).n_iter


def test_a_step_goes_on_where_the_loss_falls_like_an_exponential(monkeypatch):
    problem, how = rare_positives(), {"columns": None, "seed": 0}
    found = train_primal(problem, "hybrid", Stop(gap_tol=1e-3), **how)
    monkeypatch.setattr(ProximalNewton, "_longer", lambda newton, d, u, at, change, slope, caution: (1.0, change))
    assert found.n_iter < train_primal(problem, "hybrid", Stop(gap_tol=1e-3), **how).n_iter


def test_the_certificate_of_the_last_step_is_that_of_the_model(monkeypatch):
    """Scores are not computed again if rounding by so few steps cannot matter, and are if it might."""
    problem, how, calls = rare_positives(), {"columns": None, "seed": 0}, []
    refresh = Penalised.refresh
    monkeypatch.setattr(Penalised, "refresh", lambda primal: (calls.append(1), refresh(primal))[1])
    found = train_primal(problem, "hybrid", Stop(gap_tol=1e-3), **how)
    assert not calls
    X, y = problem.data.rows.X, problem.y
    objective = np.abs(found.w).sum() + 3.0 * np.logaddexp(0.0, -y * (X @ found.w)).sum()
    assert found.certificate.primal == pytest.approx(objective, rel=1e-13)
    train_primal(problem, "hybrid", Stop(gap_tol=1e-13), **how)
    assert calls
