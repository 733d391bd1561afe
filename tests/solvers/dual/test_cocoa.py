"""CoCoA+ on partitions in this process."""

import numpy as np
import pytest
from problems import EVERY_LOSS, classification, csr, regression

pytest.importorskip("distributed")

from dask_stand_in import partitioned

from hingeline import solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.random import seeded
from hingeline.solvers.certificate import refresh, rounding_floor
from hingeline.solvers.clock import Clock
from hingeline.solvers.driver import Run
from hingeline.solvers.dual.cocoa import best_share, next_pieces
from hingeline.solvers.select import Phase
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.state import State
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import Training

N = 400


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("bounds", [[0, 100, 250, N], [0, N]], ids=["two hosts", "one host"])
def test_the_optimum_and_a_dual_that_never_falls(name, bounds):
    loss = EVERY_LOSS[name](0.5)
    X, y = (regression if loss.is_regression else classification)(N, 30, seed=3, density=0.2)
    problem = make_problem(read_data(csr(X)), y.astype(np.float64 if loss.is_regression else np.float32), None, loss)
    shards = partitioned(problem, starting_alpha(problem), bounds)
    state = State(shards, problem, np.empty(0), np.zeros(31), seeded(1))
    stop, duals = Stop(gap_tol=1e-5), []
    run = Run(
        stop,
        Clock(None, None),
        lambda pace: refresh(state, 0),
        lambda: rounding_floor(state),
        callback=lambda progress: duals.append(run.dual),
    )
    solution = Training([Phase("cocoa", stop)], state, run).solution()
    assert solution.stop_reason == "gap_tol"
    alone = solve(csr(X), y, loss, gap_tol=1e-8).certificate
    assert alone.dual * (1.0 - 1e-9) <= solution.certificate.primal <= alone.primal * (1.0 + 2e-5)
    assert (np.diff(duals) >= -1e-6 * abs(duals[-1])).all()
    assert duals[-1] == pytest.approx(solution.certificate.dual, rel=1e-6)


def test_the_share_maximises_the_dual_along_the_change():
    def dual(t, a=3.0, b=-1.0, along=0.5, squared=4.0):
        return a * t + b * t * t - along * t - 0.5 * squared * t * t

    share, gain = best_share(0.0, 3.0 * 0.5 - 0.25, 2.0, 0.5, 4.0)
    assert gain == pytest.approx(dual(share))
    assert gain >= max(map(dual, np.linspace(0.0, 1.0, 101))) - 1e-12
    assert best_share(0.0, 5.0, 10.0, 0.5, 4.0)[0] == 1.0


def test_rounds_are_longer_if_communication_is_slow():
    assert next_pieces(4, (0.1, 1.0), 32) == 8
    assert next_pieces(4, (1.0, 0.01), 32) == 2
    assert next_pieces(4, (1.0, 2.0), 32) == 4
    assert next_pieces(32, (0.1, 1.0), 32) == 32
