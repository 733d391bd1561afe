"""Where a model starts from when C grows."""

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, dual, regression

from hingeline import Pinball, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import lower, upper
from hingeline.selection.start import Reached, at_bound, best_start, is_any_at_bound, start_from
from hingeline.selection.variables import packed, unpacked
from hingeline.solvers.certificate import weights
from hingeline.solvers.stop import Stop

WEIGHTS = np.random.default_rng(1).uniform(0.5, 2.0, 60)


@pytest.mark.parametrize("loss", EVERY_LOSS)
@pytest.mark.parametrize("growth", [1.5, 10.0])
@pytest.mark.parametrize(("bias", "n_empty"), [(1.0, 0), (0.0, 0), (0.0, 20)])
def test_a_start_is_in_the_box_and_never_worse_than_the_last_solution(loss, growth, bias, n_empty):
    X, y = (regression if loss in TARGET_LOSSES else classification)(60, 4, seed=2)
    X[:n_empty] = 0.0
    old = solve(X, y, EVERY_LOSS[loss](0.3), sample_weight=WEIGHTS, bias=bias)
    new = EVERY_LOSS[loss](0.3 * growth)
    problem = make_problem(read_data(X, bias), y.astype(np.float64), WEIGHTS, new)
    start, known = best_start(problem, old.alpha, growth)
    assert np.all((start >= lower(new, problem.C)) & (start <= upper(new, problem.C)))
    how = {"sample_weight": WEIGHTS, "bias": bias, "max_time": 1e-9}  # ends where it begins
    value = [solve(X, y, new, alpha0=a, **how).certificate.dual for a in (start, old.alpha, growth * old.alpha)]
    assert value[0] >= max(value[1:]) - 1e-9 * abs(value[0])
    assert known.dual == pytest.approx(value[0], rel=1e-9)
    np.testing.assert_allclose(known.w, weights(problem, start), rtol=1e-9, atol=1e-9 * np.abs(known.w).max())


def test_the_better_of_scaling_and_moving_by_a_plain_search():
    X, y = classification(60, 4, seed=2)
    old = solve(X, y, EVERY_LOSS["hinge"](0.3))
    problem = make_problem(read_data(X), y.astype(np.float32), None, EVERY_LOSS["hinge"](3.0))
    bounded = np.where(old.alpha == 0.3, old.alpha, 0.0)
    factors = np.linspace(1.0, 10.0, 2001)
    tried = [t * old.alpha for t in factors] + [old.alpha + (s - 1.0) * bounded for s in factors]
    best = max(dual(X, y, a, problem.loss) for a in tried)
    assert dual(X, y, best_start(problem, old.alpha, 10.0)[0], problem.loss) == pytest.approx(best, rel=1e-6)
    assert dual(X, y, old.alpha, problem.loss) < 0.9 * best


def test_bounds_are_recognised_in_spite_of_rounding():
    X, y = classification(60, 4, seed=2)
    problem = make_problem(read_data(X), y.astype(np.float32), WEIGHTS, EVERY_LOSS["hinge"](0.7))
    alpha = 0.1 * WEIGHTS
    assert at_bound(problem, alpha, 0.7 / 0.1).all()
    assert is_any_at_bound(problem, alpha, 0.7 / 0.1)
    assert not at_bound(problem, 0.999 * alpha, 0.7 / 0.1).any()
    assert not is_any_at_bound(problem, 0.999 * alpha, 0.7 / 0.1)


def test_each_side_has_its_own_bound():
    X, y = regression(3, 2, seed=2)
    problem = make_problem(read_data(X), y, None, Pinball(0.7, 0.2))
    assert at_bound(problem, np.array([0.02, -0.08, 0.0]), 7.0).tolist() == [True, True, False]
    assert at_bound(problem, np.array([0.019, -0.079, -0.02]), 7.0).tolist() == [False, False, False]


@pytest.mark.parametrize(("n_rows", "n_cols", "sampled"), [(60_000, 4, True), (1000, 200, False)])
def test_newton_begins_with_a_sample_rather_than_far_away(n_rows, n_cols, sampled):
    X, y = classification(n_rows, n_cols, seed=2)
    problem = make_problem(read_data(X), y.astype(np.float32), None, EVERY_LOSS["hinge"](100.0))
    by_sweeps = Reached(10.0, np.zeros(n_cols + 1), np.inf, "hybrid", *packed(np.zeros(n_rows)))
    start = start_from(by_sweeps, problem, "newton", Stop())
    assert ("alpha0" in start) != sampled
    by_newton = by_sweeps._replace(engine="newton")
    assert ("near" in start_from(by_newton, problem, "newton", Stop())) != sampled  # it may be far away
    assert start_from(by_newton._replace(shift=0.1), problem, "newton", Stop())["near"].w is by_newton.w


@pytest.mark.parametrize(
    "alpha",
    [
        [],
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5],
        [0.0, 0.5, 0.5, -0.5, 0.0, 0.1],
        [0.1, 0.2, 0.3, 0.4],
        [-0.25, 0.0, 0.0, 0.25, 5e-324, -0.125],
    ],
)
def test_packed_variables_come_back_as_they_were(alpha):
    np.testing.assert_array_equal(unpacked(*packed(np.array(alpha))), alpha)


@pytest.mark.parametrize("seed", range(20))
def test_variables_at_bounds_take_a_byte(seed):
    rng = np.random.default_rng(seed)
    free = rng.uniform(0.0, 1.0)
    alpha = np.where(rng.random(1000) < free, rng.normal(size=1000), rng.choice([0.0, 7.0, -7.0], size=1000))
    codes, numbers = packed(alpha)
    np.testing.assert_array_equal(unpacked(codes, numbers), alpha)
    assert codes.nbytes + numbers.nbytes <= max(8000, 1000 + 8 * (1 + 1000 * free * 1.3))
    assert free > 0.4 or codes.nbytes + numbers.nbytes < 5500
