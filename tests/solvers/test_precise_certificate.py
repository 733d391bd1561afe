"""Certificates at a large C, at which rounding of the margins is worth more than the rest of the objective."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from problems import csr
from random_cases import draw
from truth import complaints, truths

from hingeline import Hinge, LinearSVC, LinearSVR, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.exact.rows import ExactRows
from hingeline.solvers.precise_certificate import precise_certificate

MODELS = [
    LinearSVR(loss="pinball", quantile=0.3),
    LinearSVR(loss="epsilon_insensitive", epsilon=0.1),
    LinearSVC(loss="hinge"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.loss)
@pytest.mark.parametrize("fit_intercept", [True, False, "free"])
def test_the_gap_is_that_of_the_true_margins(model, fit_intercept):
    rng = np.random.default_rng(3)
    for n, C in ((2, 1e12), (2, 1e16), (3, 1e19), (2, 1e60)):
        X = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-1, 3)
        y = rng.normal(size=n) if isinstance(model, LinearSVR) else np.arange(n) % 2
        model.set_params(C=C, fit_intercept=fit_intercept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        assert not complaints(model, X, y)
        (true,) = truths(model, X, y)
        assert model.duality_gap_ * true.primal == pytest.approx(true.difference, rel=1e-3, abs=1e-6 * true.primal)
        assert not model.converged_ or model.duality_gap_ <= 1e-3


def test_a_row_and_a_huge_C():
    """The weights cannot be rounded so that the margin is exact, and what is left of it costs more than they do."""
    X, y = np.array([[0.1, 0.3]]), np.array([0.7])
    with pytest.warns(UserWarning, match="gap"):
        model = LinearSVR(C=1e60, fit_intercept=False).fit(X, y)
    assert model.duality_gap_ > 0.9
    assert model.stop_reason_ == "stalled"


def test_dual_variables_out_of_balance_cost_the_free_intercept():
    """What sum_i s_i alpha_i misses is worth the intercept each, in float64 as in decimals."""
    rng = np.random.default_rng(0)
    X, y, C = rng.normal(size=(6, 2)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0]), 2.0
    problem = make_problem(read_data(X, 1.0), y, None, Hinge(C))
    w, b, alpha = rng.normal(size=2), 3.0, rng.uniform(0.2, 0.8, 6)
    v = (alpha * y) @ X
    primal = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()
    difference = primal - (alpha.sum() - 0.5 * v @ v)
    ended = replace(solve(X, y, Hinge(C)), w=w, intercept=b, alpha=alpha)
    found = precise_certificate(problem, ended, free=True)
    exact = ExactRows(problem, True).model(np.append(w, b), alpha).certificate
    for certificate in (found, exact):
        assert certificate.primal == pytest.approx(primal, rel=1e-12)
        assert certificate.primal - certificate.dual == pytest.approx(difference, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_targets_hardly_outside_the_tube(seed):
    """The loss is what is left of a target less the tube's width: rounding of target less score counts."""
    rng = np.random.default_rng(seed)
    X, eps = rng.normal(size=(20, 2)) * 1e-7, 0.3
    y = rng.choice([-1.0, 1.0], 20) * (eps + 1e-14 * rng.uniform(size=20))
    model = LinearSVR(C=1.0, epsilon=eps, fit_intercept=False, gap_tol=1e-6).fit(X, y)
    assert not complaints(model, X, y)


def test_the_violation_is_that_of_the_variables_that_are_returned():
    case = draw(30020149, any_layout=False)  # ended by max_iter: the variables certify nothing, and zeros replace them
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        case.model.fit(case.X, case.y, sample_weight=case.sample_weight)
    assert complaints(case.model, case.X, case.y, case.sample_weight) == []


@pytest.mark.parametrize("number", [30038696, 30048284])
def test_a_free_intercept_of_few_variables_that_can_move(number):
    case = draw(number, any_layout=False)
    for C in (case.model.C, case.then_C or case.model.C):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            case.model.set_params(C=C).fit(case.X, case.y, sample_weight=case.sample_weight)
        assert complaints(case.model, case.X, case.y, case.sample_weight) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layout", [np.asarray, csr])
def test_classes_at_a_large_C(layout, seed):
    """Margins of all classes together, whose rounding would be worth more than a millionth of the objective."""
    rng = np.random.default_rng(seed)
    X, y = 100.0 + rng.normal(size=(10, 8)), np.arange(10) % 4
    model = LinearSVC(C=1e9, multi_class="crammer_singer", solver="baseline", gap_tol=1e-3, random_state=0)
    model.fit(layout(X), y)
    (true,) = truths(model, X, y)
    assert model.objective_ == pytest.approx(float(true.primal), rel=1e-10)
    assert complaints(model, X, y) == []
