"""The one-class model: against scikit-learn, and its own definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_problems import one_class_primal, two_layouts
from problems import csr
from sklearn.svm import OneClassSVM as SklearnOneClassSVM

from hingeline import OneClassSVM
from hingeline.data.read import read_data
from hingeline.solvers.one_class.dual_variables import around_total, quantile
from hingeline.solvers.one_class.one_class import train_one_class
from hingeline.solvers.stop import Stop

examples = settings(max_examples=30)


def cloud(n=100, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + 1.0


@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_same_optimum_as_scikit_learn(nu):
    X = cloud()
    ours = OneClassSVM(nu=nu, tol=1e-9, random_state=0).fit(X)
    peer = SklearnOneClassSVM(kernel="linear", nu=nu, tol=1e-9).fit(X)
    value = one_class_primal(X, ours.coef_[0], ours.offset_[0], nu, np.ones(100))
    other = one_class_primal(X, peer.coef_[0], peer.offset_[0], nu, np.ones(100))
    assert ours.objective_ == pytest.approx(value, rel=1e-9)
    assert value <= other + 1e-9 * abs(other)
    assert value == pytest.approx(other, rel=1e-5)  # its rho is not the best for its weights
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4)
    assert ours.offset_ == pytest.approx(peer.offset_[0], rel=1e-5)
    clear = np.abs(ours.decision_function(X)) > 1e-4 * abs(ours.offset_)
    np.testing.assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])
    np.testing.assert_allclose(ours.score_samples(X) - ours.offset_, ours.decision_function(X))


@pytest.mark.parametrize("solver", ["baseline", "avsf", "hybrid"])
def test_engines_and_layouts_agree(solver):
    X = cloud(60, 4, seed=1) * (np.random.default_rng(2).random((60, 4)) < 0.7)
    values = [OneClassSVM(solver=solver, gap_tol=1e-9).fit(rows).objective_ for _, rows in two_layouts(X)]
    np.testing.assert_allclose(values, values[0], rtol=1e-7)
    ones = (X != 0.0).astype(float)
    a, b = (OneClassSVM(solver=solver, gap_tol=1e-9).fit(rows).objective_ for rows in (ones, csr(ones)))
    assert a == pytest.approx(b, rel=1e-8)


@given(seed=st.integers(0, 10**6), nu=st.sampled_from([0.01, 0.2, 0.5, 1.0]), size=st.sampled_from([0.0, 0.3, 3.0]))
@examples
def test_any_start_is_made_feasible(seed, nu, size):
    rng = np.random.default_rng(seed)
    data = read_data(cloud(40, 3, seed), 0.0, 1)
    weights = rng.choice([0.0, 0.5, 2.0], size=40)
    weights[0] = 1.0
    stop = Stop(tol=1e-3, max_time=1e-9)  # no sweep: what it starts from is what it returns
    s = train_one_class(data, weights, nu, "hybrid", stop, seed=0, alpha0=size * rng.normal(size=40))
    assert (s.alpha >= 0.0).all()
    assert (s.alpha <= weights).all()
    assert s.alpha.sum() == pytest.approx(nu * weights.sum(), rel=1e-12)
    end = train_one_class(data, weights, nu, "hybrid", Stop(gap_tol=1e-6), seed=0, alpha0=s.alpha)
    again = train_one_class(data, weights, nu, "hybrid", Stop(gap_tol=1e-6), seed=0, alpha0=end.alpha)
    assert again.certificate.dual >= end.certificate.dual - 1e-9 * abs(end.certificate.dual)
    assert again.n_steps <= end.n_steps


@given(seed=st.integers(0, 10**6), nu=st.sampled_from([0.01, 0.2, 0.5, 1.0]), max_iter=st.sampled_from([1, 4, 1000]))
@examples
def test_feasible_consistent_and_certified(seed, nu, max_iter):
    rng = np.random.default_rng(seed)
    X = cloud(40, 3, seed)
    X[5] = 0.0
    X[6] = X[7]
    weights = rng.choice([0.0, 0.5, 2.0], size=40)
    weights[0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OneClassSVM(nu=nu, max_iter=max_iter, solver="hybrid", tol=1e-6).fit(X, sample_weight=weights)
    alpha = model.dual_coef_
    assert (alpha >= 0.0).all()
    assert (alpha <= weights).all()
    assert alpha.sum() == pytest.approx(nu * weights.sum(), rel=1e-12)
    np.testing.assert_allclose(model.coef_[0], alpha @ X, atol=1e-11)
    w, rho = model.coef_[0], model.offset_[0]
    size = 1e-10 * (1.0 + w @ w)
    assert model.objective_ == pytest.approx(one_class_primal(X, w, rho, nu, weights), rel=1e-10, abs=size)
    v = alpha @ X
    assert model.dual_objective_ == pytest.approx(-0.5 * v @ v, rel=1e-10)
    assert model.duality_gap_ >= 0.0
    for other in rho + np.array([-1.0, -1e-3, 1e-3, 1.0]) * (1.0 + abs(rho)):  # rho is the best for these weights
        assert one_class_primal(X, w, other, nu, weights) >= model.objective_ - size
    if max_iter == 1000:
        assert model.converged_
        # Rows that nearly surround the origin leave an optimum near zero, where a relative gap says little.
        assert model.duality_gap_ < 1e-4 or abs(model.objective_) < 1e-6


@pytest.mark.parametrize("total", [0.3, 1.0, 4.0, 4.5, 12.0, 12.0 - 1e-14])
def test_rho_by_selection_is_rho_by_sorting(total):
    s = np.random.default_rng(1).choice([0.5, 1.0, 1.5, 2.5, 7.0, 8.0], size=12)  # ties
    below = np.arange(1.0, 13.0)
    at = min(int(np.searchsorted(below, total - 1e-11)), 11)
    after = min(at + 1, 11) if abs(below[at] - total) < 1e-11 else at
    expected = np.sort(s)[at], np.sort(s)[after]
    assert around_total(s, np.ones(12), total) == expected
    assert around_total(s, np.full(12, 0.1), 0.1 * total) == expected
    nearly_equal = 1.0 + 1e-15 * np.arange(12)  # sorted, since they are not all the same
    assert around_total(s, nearly_equal, total) == expected
    left_out = np.append(s, [-9.0, 9.0]), np.append(np.ones(12), [0.0, 0.0])
    assert quantile(*left_out, total) == 0.5 * sum(expected)


@pytest.mark.parametrize("nu", [0.1, 0.37, 0.5])
def test_equal_rows_share_what_is_left(nu):
    X = np.repeat(cloud(7, 3, seed=8), 10, axis=0)
    model = OneClassSVM(nu=nu, gap_tol=1e-7, solver="hybrid").fit(X)
    assert model.dual_coef_.sum() == pytest.approx(70 * nu, rel=1e-12)
    once = OneClassSVM(nu=nu, gap_tol=1e-7, solver="hybrid").fit(X[::10], sample_weight=np.full(7, 10.0))
    assert model.objective_ == pytest.approx(once.objective_, rel=1e-6)
    w, rho = model.coef_[0], model.offset_[0]
    assert model.objective_ == pytest.approx(one_class_primal(X, w, rho, nu, np.ones(70)), rel=1e-9)


def test_every_row_counts_where_nu_is_one():
    X = cloud(30, 3, seed=6)
    np.testing.assert_array_equal(OneClassSVM(nu=1.0).fit(X).dual_coef_, np.ones(30))


def test_nu_is_the_share_outside():
    X = cloud(400, 6, seed=3)
    for nu in (0.1, 0.4):
        outside = np.mean(OneClassSVM(nu=nu).fit(X).decision_function(X) < -1e-6)
        assert outside <= nu
        assert outside == pytest.approx(nu, abs=0.03)


def test_weights_are_repetitions():
    X = cloud(50, 3, seed=4)
    times = np.random.default_rng(0).integers(0, 3, size=50)
    a = OneClassSVM(nu=0.3).fit(X, sample_weight=times)
    b = OneClassSVM(nu=0.3).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)
    assert a.offset_ == pytest.approx(b.offset_, rel=1e-6)


def test_cap_warns_and_seed_decides():
    X = cloud(300, 8, seed=5)
    with pytest.warns(match="max_iter ended training"):
        OneClassSVM(max_iter=1, tol=1e-9, solver="hybrid").fit(X)
    a, b = (OneClassSVM(solver="hybrid", random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)


def test_bad_parameters():
    X = cloud(20)
    with pytest.raises(ValueError, match="nu"):
        OneClassSVM(nu=0.0).fit(X)
    with pytest.raises(ValueError, match="solver"):
        OneClassSVM(solver="newton").fit(X)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row 3"):
        OneClassSVM().fit(X)
