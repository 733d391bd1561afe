"""The checker finds what is wrong, and nothing is wrong with any model: every estimator, engine, loss and penalty."""

import warnings
from copy import copy
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import classification, regression
from random_cases import draw
from truth import complaints

from hingeline import LinearSVC, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.solvers.engines import SOLVERS, STEPWISE_SOLVERS

X, Y = classification(40, 5, seed=1)
X3, Y3 = classification(40, 5, seed=2, n_classes=3)
XR, YR = regression(40, 5, seed=3)
WEIGHTS = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 3.0], size=40)
INTERCEPTS = (False, True, "free")


def wrong_with(model, X, y, sample_weight=None):
    return complaints(model.set_params(random_state=0).fit(X, y, sample_weight=sample_weight), X, y, sample_weight)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_svc(loss, intercept, solver):
    if loss == "hinge" and solver == "newton_cg":
        pytest.skip("needs a smooth loss")
    model = LinearSVC(loss=loss, fit_intercept=intercept, solver=solver, intercept_scaling=2.0)
    assert wrong_with(model, X, Y) == []
    assert wrong_with(model.set_params(class_weight="balanced", gap_tol=1e-5), X3, Y3, WEIGHTS) == []


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [False, True, "regularised"])
def test_logistic(intercept, solver):
    model = LogisticRegression(fit_intercept=intercept, solver=solver)
    assert wrong_with(model, X, Y) == []
    assert wrong_with(model.set_params(class_weight={0: 2.0}), X3, Y3, WEIGHTS) == []
    assert wrong_with(model.set_params(multi_class="ovr"), X3, Y3, WEIGHTS) == []


@pytest.mark.parametrize("solver", ["auto", "hybrid"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "pinball"])
def test_regression(loss, intercept, solver):
    model = LinearSVR(loss=loss, fit_intercept=intercept, solver=solver)
    model.set_params(**({"quantile": 0.3} if loss == "pinball" else {"epsilon": 0.2}))
    assert wrong_with(model, XR, YR, WEIGHTS) == []


@pytest.mark.parametrize("solver", STEPWISE_SOLVERS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_sparse_penalties(intercept, solver):
    how = {"fit_intercept": intercept, "solver": solver}
    assert wrong_with(LinearSVC(penalty="l1", **how), X, Y, WEIGHTS) == []
    assert wrong_with(LogisticRegression(penalty="l1", **how), X, Y) == []
    assert wrong_with(LogisticRegression(penalty="elasticnet", l1_ratio=0.3, **how), X, Y) == []


@pytest.mark.parametrize("solver", STEPWISE_SOLVERS)
def test_other_problems(solver):
    for intercept in (False, True):
        model = LinearSVC(multi_class="crammer_singer", fit_intercept=intercept, solver=solver)
        assert wrong_with(model, X3, Y3, WEIGHTS) == []
        assert wrong_with(model, X, Y) == []
    assert wrong_with(OneClassSVM(nu=0.2, solver=solver), X, None, WEIGHTS) == []


def test_sums_of_products_are_exact():
    A = np.array([[1e17, 1.0, -1e17], [0.1, 1e-300, 0.2], [3e300, 0.0, -3e300]])
    w = np.array([0.7, 1e-20, 0.7])
    exact = [sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), Fraction(0)) for row in A.tolist()]
    for found, value in zip(truth.Exact().times(A, w), exact, strict=True):
        assert abs(Fraction(found) - value) <= abs(value) / 10**27  # the default context keeps 28 digits


@pytest.mark.parametrize("alpha", [0, 1, -0.5, 1.5])
def test_dual_variables_at_their_bounds_have_no_entropy(alpha):
    row = truth._logistic(Decimal(2), Decimal(1), Decimal(3), Decimal(2) * Decimal(alpha), truth.Exact())
    assert row.dual == 0


def test_large_problems_are_summed_with_compensation(monkeypatch):
    model = LinearSVC(loss="hinge", random_state=0).fit(X, Y)
    exact = truth.truths(model, X, Y)[0]
    monkeypatch.setattr(truth, "LARGEST_EXACT", 0)
    (compensated,) = truth.truths(model, X, Y)
    assert complaints(model, X, Y) == []
    assert compensated.primal == pytest.approx(exact.primal, rel=1e-15)
    assert compensated.difference == pytest.approx(exact.difference, abs=1e-14 * exact.primal)


LIES = {
    "objective_": lambda model: {"objective_": model.objective_ * (1.0 + 1e-9)},
    "primal - dual": lambda model: {"dual_objective_": model.dual_objective_ - 1e-6 * model.objective_},
    "duality_gap_": lambda model: {"duality_gap_": model.duality_gap_ + 1e-6},
    "kkt_violation_": lambda model: {"kkt_violation_": model.kkt_violation_ + 1e-6},
    "feasible": lambda model: {"dual_coef_": model.dual_coef_ * (1.0 + 1e-6)},
    "finite": lambda model: {"coef_": np.full_like(model.coef_, np.nan)},
    "'tol'": lambda model: {"tol": 1e-30, "stop_reason_": "tol"},
    "stop_reason_": lambda model: {"stop_reason_": "luck"},
    "converged_": lambda model: {"stop_reason_": "max_iter"},
}


@pytest.mark.parametrize("what", LIES)
def test_a_lie_is_found(what):
    model = copy(LinearSVC(loss="hinge", C=0.1, random_state=0).fit(X, Y))
    model.__dict__.update(LIES[what](model))
    assert any(what in complaint for complaint in complaints(model, X, Y))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_random_problems(seed):
    case = draw(seed, any_layout=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.model.fit(case.X, case.y, sample_weight=case.sample_weight)
    assert complaints(case.model, case.X, case.y, case.sample_weight) == []
