"""Where problems with a free intercept are measured from: nothing but rounding depends on it."""

from dataclasses import replace

import numpy as np
import pytest
from problems import TARGET_LOSSES, classification, csr, regression
from truth import complaints

from hingeline import EpsilonInsensitive, Hinge, LinearSVR, Pinball, SquaredEpsilonInsensitive, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.origin import best_level, origin_of
from hingeline.solvers.stop import Stop

Y = np.array([3.0, -1.0, 7.0, 100.0, 4.0])


def problem_of(X, y, loss, weights=None):
    return make_problem(read_data(X, 1.0), y, weights, loss)


@pytest.mark.parametrize(
    ("loss", "weights", "level"),
    [
        (EpsilonInsensitive(), None, 4.0),
        (SquaredEpsilonInsensitive(), None, Y.mean()),
        (Pinball(1.0, 0.1), None, -1.0),
        (EpsilonInsensitive(), np.array([1.0, 1.0, 1.0, 0.0, 5.0]), 4.0),
        (SquaredEpsilonInsensitive(), np.array([0.0, 0.0, 2.0, 0.0, 1.0]), 6.0),
    ],
)
def test_the_level_is_the_best_constant(loss, weights, level):
    assert best_level(problem_of(np.ones((5, 1)), Y, loss, weights)) == pytest.approx(level, abs=1e-4)


def test_equal_targets_are_their_own_level():
    assert best_level(problem_of(np.ones((3, 1)), np.full(3, 1e9 + 0.1), EpsilonInsensitive())) == 1e9 + 0.1


@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_columns_are_centred_only_if_they_are_far_from_zero(layout):
    X, y = classification(30, 3)
    problem = problem_of(layout(X), y.astype(np.float32), Hinge())
    assert origin_of(problem).is_zero
    assert origin_of(problem).problem.data is problem.data
    X[:, 1] += 100.0
    origin = origin_of(problem_of(layout(X), y.astype(np.float32), Hinge()))
    np.testing.assert_allclose(origin.mean, X.mean(axis=0))
    np.testing.assert_allclose(origin.problem.data.rows.X, X - X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("name", TARGET_LOSSES)
def test_targets_and_columns_may_be_anywhere(name):
    X, y = regression(40, 3, seed=1)
    far = np.array([0.0, 50.0, -1000.0])
    near, shifted = (
        solve(A, b, TARGET_LOSSES[name](1.0), free_intercept=True) for A, b in ((X, y), (X + far, y + 1e6))
    )
    assert shifted.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-5)
    assert shifted.certificate.gap <= 1e-5
    np.testing.assert_allclose(shifted.w, near.w, rtol=1e-3, atol=1e-3)
    assert shifted.intercept == pytest.approx(near.intercept + 1e6 - far @ near.w, rel=1e-6)


def test_callbacks_see_the_intercept_of_the_original_problem():
    X, y = regression(40, 3, seed=1)
    seen = []
    s = solve(X, y + 1e6, EpsilonInsensitive(), free_intercept=True, callback=lambda p: seen.append(p.look().intercept))
    assert abs(seen[-1] - s.intercept) < 10.0


def test_a_start_nearby_is_moved_too():
    origin = origin_of(problem_of(np.ones((5, 1)) * 3.0, Y + 1e6, EpsilonInsensitive()))
    w = np.array([2.0, 1e6])
    moved = origin.moved(w)
    assert moved[0] == 2.0
    assert moved[1] == pytest.approx(1e6 - origin.level + 2.0 * 3.0)
    np.testing.assert_array_equal(w, [2.0, 1e6])


@pytest.mark.parametrize("seed", range(6))
def test_a_small_target_beside_large_ones_is_certified_as_accurately_as_by_itself(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 10)) * 10.0 ** rng.uniform(-5.0, 3.0, (9, 1))
    y = X @ rng.standard_normal(10) * 1e4 + rng.standard_normal(9)
    model = LinearSVR(loss="squared_epsilon_insensitive", fit_intercept="free", C=1e6, random_state=0).fit(X, y)
    assert complaints(model, X, y) == []


def test_without_dual_variables_margins_are_those_of_the_original_problem():
    """A run that is cut off has none, and its objective must be accurate all the same."""
    X, y, loss = np.array([[0.0], [0.0], [3e9]]), np.array([0.1, 0.2, 3e9]), EpsilonInsensitive(1e9, 0.0)
    weights = np.array([1.0, 1.0, 4.0])  # the level is 3e9
    origin = origin_of(problem_of(X, y, loss, weights))
    found = solve(X, y, loss, bias=1.0, free_intercept=True, sample_weight=weights)
    cut_off = replace(found, w=np.ones(1), intercept=-origin.level, alpha=np.zeros(3), stop_reason="max_time")
    restored = origin.restored(cut_off, Stop())
    assert restored.intercept == 0.0
    assert restored.certificate.primal == pytest.approx(0.5 + 1e9 * (0.1 + 0.2), rel=1e-14)


@pytest.mark.parametrize("scaling", [1.0, 0.01])
def test_targets_that_are_all_the_same_are_met_exactly(scaling):
    how = {"loss": "squared_epsilon_insensitive", "fit_intercept": "free", "intercept_scaling": scaling}
    for target in np.random.default_rng(0).normal(0.0, 3e3, 60):
        model = LinearSVR(**how, C=274.8, random_state=0).fit(np.full((28, 10), 0.001), np.full(28, target))
        assert model.objective_ == model.duality_gap_ == 0.0
        assert model.intercept_ == target
