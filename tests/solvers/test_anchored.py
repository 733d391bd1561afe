"""The chain of problems by which coordinate engines find an intercept that is not regularised."""

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, MARGIN_LOSSES, classification

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.solvers.anchored import train_anchored
from hingeline.solvers.clock import NEXT_PHASE
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train

X, Y = classification(60, 4, seed=8)


def problem_of(loss, X=X + 1.0):
    return make_problem(read_data(X, 1.0), Y.astype(np.float32), None, loss)


@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_the_same_optimum_as_newtons(name, engine):
    problem, stop = problem_of(MARGIN_LOSSES[name](1.0)), Stop(gap_tol=1e-6)
    chain = train_anchored(problem, engine, stop, seed=0)
    newton = train(problem, "newton", stop, seed=0, free=True)
    assert chain.stop_reason == newton.stop_reason == "gap_tol"
    assert chain.solver == engine
    assert chain.certificate.primal == pytest.approx(newton.certificate.primal, rel=2e-6)
    assert abs(np.sum(chain.alpha * Y)) <= 1e-14 * np.sum(np.abs(chain.alpha))


def test_a_budget_ends_it():
    chain = train_anchored(problem_of(Hinge(1e4), 100.0 + X), "hybrid", Stop(tol=1e-9), seed=0, most=1e4)
    assert chain.stop_reason == NEXT_PHASE
    assert not chain.converged
    assert np.isfinite(chain.certificate.gap)


def test_a_callback_ends_it_for_its_own_reason():
    how = {"seed": 0, "most": 1e4, "callback": lambda progress: True}
    assert train_anchored(problem_of(Hinge(1e4)), "hybrid", Stop(tol=1e-9), **how).stop_reason == "callback"


def test_the_first_anchor_may_be_the_solution():
    problem, stop = problem_of(Hinge(1.0)), Stop(gap_tol=1e-6)
    first = train_anchored(problem, "hybrid", stop, seed=0)
    again = train_anchored(problem, "hybrid", stop, seed=0, alpha0=first.alpha, intercept=first.intercept)
    assert again.n_iter < first.n_iter
