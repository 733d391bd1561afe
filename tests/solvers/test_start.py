"""Starting points: from dual variables and from weights."""

import numpy as np
import pytest
from problems import ENGINES, LOSSES, classification, dual

from hingeline import solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import upper
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.start import from_weights

X, Y = classification(60, 5, seed=81)


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_from_weights_is_feasible_and_no_worse_than_none(loss, bias):
    loss = LOSSES[loss](0.5)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=60)
    problem = make_problem(read_data(X, bias), Y.astype(np.float32), weights, loss)
    optimum = solve(X, Y, loss, sample_weight=weights, bias=bias, gap_tol=1e-9)
    best = np.append(optimum.w, optimum.intercept)
    for w in (best, 0.0 * best, -10.0 * best, np.full(6, 1e3)):
        alpha = starting_alpha(problem, from_weights(problem, w))
        assert (alpha >= 0.0).all()
        assert (alpha <= upper(loss, loss.C * weights)).all()
        value = dual(X, Y, alpha, loss, weights=weights, bias=bias)
        assert value >= -1e-12
    at_best = dual(X, Y, from_weights(problem, best), loss, weights=weights, bias=bias)
    assert at_best > 0.5 * optimum.certificate.dual  # and good where the weights are


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_at_the_optimum_ends_at_once(loss, engine):
    cold = solve(X, Y, LOSSES[loss](1.0), solver=engine, tol=1e-6, random_state=0)
    warm = solve(X, Y, LOSSES[loss](1.0), solver=engine, tol=1e-5, alpha0=cold.alpha, random_state=0)
    assert warm.n_iter <= 3
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-6)


def test_rows_that_no_engine_visits_are_solved_by_the_start():
    data = X.copy()
    data[[1, 2]] = 0.0
    weights = np.ones(60)
    weights[[2, 3]] = 0.0
    for name, at_zero in (("hinge", 0.5), ("squared_hinge", 1.0)):
        problem = make_problem(read_data(data), Y.astype(np.float32), weights, LOSSES[name](0.5))
        assert problem.n_variables == 57
        np.testing.assert_array_equal(problem.variables_in_order(), [0, *range(4, 60)])
        alpha = starting_alpha(problem, np.full(60, 0.25))
        np.testing.assert_array_equal(alpha, np.where(np.arange(60) == 1, at_zero, 0.25) * (weights > 0.0))
