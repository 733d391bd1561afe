"""Small problems in decimals: the same solution as Newton's method on easy data, and a good one if float64 gave up."""

import warnings
from dataclasses import replace
from decimal import localcontext

import numpy as np
import pytest
from fault_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import EVERY_LOSS, MARGIN_LOSSES, classification, regression
from random_cases import KINDS, draw
from truth import complaints

from hingeline import Hinge, LinearSVC, LinearSVR, Logistic, LogisticRegression, OneClassSVM, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.exact import last_resort
from hingeline.solvers.exact.classes import ExactClasses
from hingeline.solvers.exact.decimals import DIGITS, decimals
from hingeline.solvers.exact.one_class import ExactOneClass
from hingeline.solvers.exact.penalised import ExactPenalised
from hingeline.solvers.exact.rows import ExactRows, finished_rows, settled
from hingeline.solvers.exact.softmax import ExactSoftmax
from hingeline.solvers.one_class.dual_variables import OneClass
from hingeline.solvers.stop import GOOD_GAP, Stop


def do_nothing():
    pass


def solved(exact):
    with localcontext(DIGITS):
        return last_resort.best_model(exact, do_nothing)


def small(name):
    X, y = (classification if name in MARGIN_LOSSES else regression)(14, 3)
    return X, y.astype(np.float64)


def problem_of(X, y, loss, bias=2.0):
    return make_problem(read_data(X, bias, 1), y, None, loss)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_agrees_with_newton(name, free):
    (X, y), loss = small(name), EVERY_LOSS[name](0.7)
    found = solved(ExactRows(problem_of(X, y, loss), free))
    expected = solve(X, y, loss, bias=2.0, free_intercept=free, gap_tol=1e-12)
    assert found.certificate.gap <= 1e-13
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-11)
    np.testing.assert_allclose(found.w[:-1], expected.w, atol=1e-5)
    assert found.w[-1] == pytest.approx(expected.intercept, abs=1e-5)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("name", ["squared_hinge", "logistic"])
def test_penalties_agree_with_proximal_newton(name, l1_ratio):
    (X, y), loss = small(name), EVERY_LOSS[name](0.7)
    l1 = np.full(X.shape[1] + 1, l1_ratio)
    found = solved(ExactPenalised(problem_of(X, y, loss), l1, 1.0 - l1, 0.0 * l1))
    expected = solve(X, y, loss, bias=2.0, l1_ratio=l1_ratio, gap_tol=1e-10)
    assert found.certificate.gap <= 1e-12
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-9)
    np.testing.assert_array_equal(found.w[:-1] == 0.0, expected.w == 0.0)


def test_crammer_singer_agrees_with_its_engines():
    X, y = classification(12, 3, n_classes=3)
    found = solved(ExactClasses(problem_of(X, y.astype(np.uint32), Hinge(0.7)), 3))
    model = LinearSVC(multi_class="crammer_singer", C=0.7, intercept_scaling=2.0, gap_tol=1e-10).fit(X, y)
    assert found.certificate.gap <= 1e-13
    assert found.certificate.primal == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(found.w.reshape(4, 3).T[:, :-1], model.coef_, atol=1e-4)
    np.testing.assert_array_equal(found.alpha.sum(axis=1), 0.0)


def test_multinomial_regression_agrees_with_newton():
    X, y = classification(12, 3, n_classes=3)
    problem = problem_of(X, y.astype(np.uint32), Logistic(0.7), bias=1.0)
    found = solved(ExactSoftmax(problem, 3, is_free=True))
    model = LogisticRegression(C=0.7, gap_tol=1e-12).fit(X, y)
    assert found.certificate.gap <= 1e-13
    assert found.certificate.primal == pytest.approx(model.objective_, rel=1e-11)
    np.testing.assert_allclose(found.w.reshape(4, 3).T[:, :-1], model.coef_, atol=1e-5)


def test_one_class_agrees_with_its_engines():
    X = 3.0 + classification(12, 3)[0]
    state = OneClass(read_data(X, 0.0, 1), np.ones(12), 0.3 * 12, np.zeros(12), np.zeros(4))
    found = solved(ExactOneClass(state))
    model = OneClassSVM(nu=0.3, gap_tol=1e-10).fit(X)
    assert found.certificate.gap <= 1e-13
    assert found.certificate.primal == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(found.w[:-1], model.coef_[0], rtol=1e-4)


def stalled(problem):
    s = solve(*small("hinge"), EVERY_LOSS["hinge"](0.7), bias=2.0)
    worse = s.certificate._replace(dual=0.0, gap=1.0)
    return replace(s, alpha=0.0 * s.alpha, certificate=worse, converged=False, stop_reason="stalled")


def test_takes_over_from_a_run_that_has_stalled():
    problem = problem_of(*small("hinge"), EVERY_LOSS["hinge"](0.7))
    before = stalled(problem)
    after = finished_rows(problem, before, Stop(), free=False)
    assert after.converged
    assert after.certificate.gap <= 1e-12
    assert after.solver == f"{before.solver}+exact"


def test_leaves_alone_what_has_converged_or_is_large(monkeypatch):
    problem = problem_of(*small("hinge"), EVERY_LOSS["hinge"](0.7))
    before = stalled(problem)
    good = replace(before, certificate=before.certificate._replace(gap=0.5 * GOOD_GAP))
    for solution in (good, replace(before, stop_reason="max_iter")):
        assert finished_rows(problem, solution, Stop(), free=False) is solution
    monkeypatch.setattr(last_resort, "LARGEST", 10)
    assert finished_rows(problem, before, Stop(), free=False).converged
    monkeypatch.setattr(last_resort, "LARGEST_TWICE", 10)
    assert finished_rows(problem, before, Stop(), free=False) is before


def test_obeys_max_time_and_cancellation():
    problem = problem_of(*small("hinge"), EVERY_LOSS["hinge"](0.7))
    before = stalled(problem)
    assert finished_rows(problem, before, Stop(max_time=1e-9), free=False) is before
    assert finished_rows(problem, before, Stop(), free=False, cancelled=lambda: True) is before


def fit(model, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, sample_weight=weights)
    assert complaints(model, X, y, weights) == []
    return model


# Problems that float64 gives up: empty bands, margins at the rounding of C, dual variables of zero, bounds |v_j| <= 1,
# dual variables and weights that are good only if they are rounded together.
@pytest.mark.parametrize(
    "number",
    [
        *(500146, 501271, 501889, 501217, 501853, 1000246, 4000097, 4003038, 565255, 590270, 568868, 513992, 5035959),
        *(30032396, 30087382),  # a second start of the interior-point method; more than ten expansions
    ],
)
def test_solves_what_float64_gives_up(number):
    case = draw(number, any_layout=False)
    model = fit(case.model, case.X, case.y, case.sample_weight)
    if case.then_C is not None:
        fit(model.set_params(C=case.then_C), case.X, case.y, case.sample_weight)
    assert model.converged_
    assert model.duality_gap_ <= GOOD_GAP


@row("x-cancels")
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_columns_of_timestamps(seed):
    rng = np.random.default_rng(seed)
    X = KINDS["timestamps"](rng, int(rng.integers(5, 20)), int(rng.integers(2, 6)))
    y = np.arange(len(X)) % 3
    how = {"C": 10.0 ** rng.uniform(-4, 4), "random_state": 0}
    models = [
        LinearSVC(loss="hinge", fit_intercept="free", **how),
        LinearSVC(penalty="l1", **how),
        LogisticRegression(**how),
        LinearSVR(loss="epsilon_insensitive", epsilon=0.1, fit_intercept="free", **how),
    ]
    model = models[seed % 4]
    fit(model, X, y if seed % 4 > 1 else (y > 0).astype(int))
    assert model.converged_
    assert model.duality_gap_ <= GOOD_GAP


def test_dual_variables_that_are_made_to_fit_stay_within_their_limits():
    rng = np.random.default_rng(0)
    with localcontext(DIGITS):
        for _ in range(20):
            Z, rounded = decimals(rng.normal(size=(24, 2)) * [1.0, 1e6]), rng.uniform(0.0, 1.0, 24)
            alpha = decimals(rounded + rng.normal(size=24) * 1e-3)
            limits = [(a - gap, a + gap) for a, gap in zip(rounded, 10.0 ** rng.uniform(-6, -2, 24), strict=True)]
            found = settled(rounded, alpha, Z, limits, np.ones(24))
            assert all(low <= a <= high for a, (low, high) in zip(found, limits, strict=True))
