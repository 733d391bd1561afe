"""The last fit of a search starts from what the folds have reached."""

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, regression

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.selection.folds import Fold
from hingeline.selection.refit import from_folds
from hingeline.selection.start import start_from
from hingeline.selection.walk import Walk
from hingeline.solvers.certificate import weights
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train

N, N_FOLDS = 2000, 5
STOP = Stop(tol=1e-2)  # with a tight tolerance the last digits take longest, wherever sweeps start from


def folds(n=N):
    for k in range(N_FOLDS):
        counts = np.ones(n, dtype=np.uint8)
        counts[k::N_FOLDS] = 0
        yield Fold(counts, np.arange(k, n, N_FOLDS))


FOLDS = list(folds())


def search(loss, solver, C=1.0):
    """Return the problem of all rows, and what every fold has reached."""
    data, y = regression(N, 20, seed=1) if loss in TARGET_LOSSES else classification(N, 20, seed=1)
    data, y = read_data(data, 1.0), y.astype(np.float64 if loss in TARGET_LOSSES else np.float32)

    def reached(fold):
        counts = fold.counts.astype(np.float64)
        walk = Walk(lambda C: make_problem(data, y, counts, EVERY_LOSS[loss](C=C)), solver, STOP, seed=0)
        walk.advance(C)
        return walk.reached

    return make_problem(data, y, None, EVERY_LOSS[loss](C=C)), [reached(fold) for fold in FOLDS]


@pytest.mark.parametrize("loss", EVERY_LOSS)
def test_the_mean_has_the_weights_of_its_dual_variables(loss):
    problem, reached = search(loss, "hybrid")
    mean = from_folds(problem, reached, FOLDS)
    assert mean.C == pytest.approx(0.8 * reached[0].C)
    np.testing.assert_allclose(weights(problem, mean.alpha), mean.w, atol=1e-6 * np.abs(mean.w).max())


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("solver", ["hybrid", "newton"])
def test_the_refit_is_shorter_and_ends_at_the_same_optimum(loss, solver):
    problem, reached = search(loss, solver)
    cold = train(problem, solver, STOP, seed=0)
    start = start_from(from_folds(problem, reached, FOLDS), problem, solver, STOP)
    warm = train(problem, stop=STOP, seed=0, **start)
    assert warm.converged
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-3)
    if solver == "hybrid":
        assert warm.n_steps < 0.9 * cold.n_steps
    else:
        assert warm.n_iter < cold.n_iter


def test_rows_that_no_fold_trains_with_and_rows_that_come_twice():
    problem, _ = search("hinge", "hybrid")
    counts = np.ones(N, dtype=np.uint8)
    counts[:10], counts[10:20] = 0, 2
    fold = Fold(counts, np.arange(10))
    data, y = problem.data, problem.y
    walk = Walk(lambda C: make_problem(data, y, counts.astype(float), problem.loss), "hybrid", STOP, seed=0)
    walk.advance(1.0)
    mean = from_folds(problem, [walk.reached], [fold])
    assert mean.C == 1.0  # as many rows as there are, if each is counted as often as it comes
    assert not mean.alpha[:10].any()
    np.testing.assert_allclose(mean.alpha[10:20], walk.reached.alpha[10:20] / 2.0)
    assert 0.0 <= mean.alpha.min() <= mean.alpha.max() <= 1.0
