"""``-e`` in terms of ``tol``: as the table of the module says, and so that LIBLINEAR's own stop rule holds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from svmlight_files import make_rows

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import EpsilonInsensitive, Hinge, Logistic, SquaredEpsilonInsensitive, SquaredHinge
from hingeline.liblinear.fit import fit
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.tolerance import PrimalRule, tol_of

C, P, EPS = 0.7, 0.2, 0.03
LOSSES = {
    **{0: Logistic(C), 1: SquaredHinge(C), 2: SquaredHinge(C), 3: Hinge(C), 5: SquaredHinge(C), 6: Logistic(C)},
    **{7: Logistic(C), 11: SquaredEpsilonInsensitive(C, P), 12: SquaredEpsilonInsensitive(C, P)},
    13: EpsilonInsensitive(C, P),
}


def data_of(solver_type):
    X, y = make_rows("targets" if solver_type > 10 else "signs")
    if solver_type <= 10:
        y = np.where(np.arange(80) % 4 == 0, y, -1)  # one label is rare
    return X, y


def gradient(solver_type, X, y, w):
    """Return f'(w) of the smooth part of the objective: |w|^2/2 (not for the L1 norm) and the losses."""
    f = X @ w
    if solver_type in (0, 6):
        slope = -C * y / (1.0 + np.exp(y * f))
    elif solver_type == 11:
        slope = -2.0 * C * np.sign(y - f) * np.maximum(np.abs(y - f) - P, 0.0)
    else:
        slope = -2.0 * C * y * np.maximum(1.0 - y * f, 0.0)
    return X.T @ slope + (0.0 if solver_type in (5, 6) else w)


def share(y):
    positive = np.sum(y > 0)
    return min(positive, y.size - positive) / y.size


@pytest.mark.parametrize("solver_type", LOSSES)
def test_as_the_table_says(solver_type):
    X, y = data_of(solver_type)
    problem = make_problem(
        read_data(X), y.astype(np.float32 if solver_type < 10 else np.float64), None, LOSSES[solver_type]
    )
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).sum()
    slope = gradient(solver_type, X, y, np.zeros(12)) if solver_type not in (1, 3, 7, 12, 13) else None
    expected = {
        0: lambda: EPS * share(y) * np.linalg.norm(slope) / (C * lengths),
        2: lambda: EPS * share(y) * np.linalg.norm(slope) / (2.0 * C * lengths),
        5: lambda: EPS * share(y) * np.maximum(np.abs(slope) - 1.0, 0.0).sum() / 13,  # the constant feature is a column
        7: lambda: EPS / 4.0,
        11: lambda: EPS * np.linalg.norm(slope) / (2.0 * C * lengths),
        12: lambda: EPS * np.maximum(np.abs(y) - P, 0.0).mean(),
    }
    expected |= {6: expected[5], 13: expected[12]}
    tol = tol_of(problem, Settings(type=solver_type, C=C, p=P, tolerance=EPS))
    assert tol == pytest.approx(expected.get(solver_type, lambda: EPS)(), rel=1e-6)


@pytest.mark.parametrize("solver_type", [0, 2, 11])
@pytest.mark.parametrize("eps", [0.1, 1e-3])
def test_liblinears_rule_holds_when_training_ends(solver_type, eps):
    X, y = data_of(solver_type)
    settings = Settings(type=solver_type, C=C, p=P, tolerance=eps, solver="hybrid")
    w = fit(X, y, settings).model.w[:, 0]
    at_zero = np.linalg.norm(gradient(solver_type, X, y, np.zeros(12)))
    bound = eps * at_zero * (share(y) if solver_type != 11 else 1.0)
    assert np.linalg.norm(gradient(solver_type, X, y, w)) <= bound


@pytest.mark.parametrize("solver_type", [0, 2, 11])
@pytest.mark.parametrize("bias", [-1.0, 2.0])
def test_the_rule_itself(solver_type, bias):
    X, y = data_of(solver_type)
    settings = Settings(type=solver_type, C=C, p=P, tolerance=EPS, bias=bias)
    data = read_data(X, max(bias, 0.0))
    problem = make_problem(data, y.astype(np.float32 if solver_type < 10 else np.float64), None, LOSSES[solver_type])
    assert PrimalRule.applies_to(settings)
    rule = PrimalRule(problem, settings, None)
    assert rule.tol == pytest.approx(tol_of(problem, settings))
    full = X if bias < 0.0 else sparse.hstack((X, np.full((80, 1), bias))).tocsr()
    at_zero = np.linalg.norm(gradient(solver_type, full, y, np.zeros(full.shape[1])))
    goal = EPS * (share(y) if solver_type < 10 else 1.0) * at_zero
    solution = fit(X, y, replace(settings, tolerance=1e-9)).solutions[0]
    for part in (0.5, 0.9, 0.99, 0.999, 1.0):  # of the way from zero to the optimum
        at = replace(solution, w=part * solution.w, intercept=part * solution.intercept)
        w = at.w if bias < 0.0 else np.append(at.w, at.intercept / bias)
        assert rule.holds(at) == (np.linalg.norm(gradient(solver_type, full, y, w)) <= goal)


def test_where_liblinear_takes_no_step_the_rule_holds():
    X, y = data_of(2)
    settings = Settings(type=2, C=1e-12)
    problem = make_problem(read_data(X), y.astype(np.float32), None, SquaredHinge(1e-12))
    solution = fit(X, y, settings).solutions[0]
    assert PrimalRule(problem, settings, None).holds(replace(solution, w=0.0 * solution.w))


def test_other_types_have_other_rules():
    assert not any(PrimalRule.applies_to(Settings(type=number)) for number in (1, 3, 4, 5, 6, 7, 12, 13, 21))
    assert not PrimalRule.applies_to(Settings(type=2, gap=1e-3))
