"""The direction of Newton's method, however it is found: against the same equation in NumPy."""

import numpy as np
import pytest
from problems import classification, csr

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge, SquaredHinge
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import ALONE
from hingeline.solvers.newton import directions as module
from hingeline.solvers.newton.directions import Curved
from hingeline.solvers.newton.smoothed import Smoothed
from hingeline.solvers.shards.in_memory import InMemoryShards
from hingeline.solvers.stop import Stop

BIAS = 0.5


class Run:
    """As much of a run as the smoothed problem asks for."""

    team, effort = ALONE, 0.0


def smoothed_at(X, y, w, loss, free, delta=1.0):
    problem = make_problem(read_data(X, BIAS), y.astype(np.float32), None, loss)
    shards = InMemoryShards(problem, np.zeros(X.shape[0]), ALONE, do_nothing)
    return Smoothed(shards, Run(), w.copy(), delta, free)


def expected(point, X, y, free):
    """Return the direction and the residual, from the responses."""
    Z = y[:, None] * np.column_stack([X, np.full(len(X), BIAS)])
    shard, band = point.shards._shards[0], np.zeros(len(X))
    which, entries = shard.curved()
    band[which] = entries
    one = np.ones(Z.shape[1])
    one[-1] = 0.0 if free else 1.0
    residual = one * point.w - Z.T @ shard.responses(np.zeros(len(X)))
    H = np.diag(one) + point.scale * Z.T @ (band[:, None] * Z)
    return np.linalg.solve(H, -residual), residual


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "way"), [(60, 6, "hessian"), (30, 80, "block"), (30, 80, "weights"), (60, 6, "products")]
)
def test_direction(n, d, way, free, monkeypatch):
    X, y = classification(n, d, seed=4)
    w = 0.3 * np.random.default_rng(1).normal(size=d + 1)
    point = smoothed_at(X, y, w, Hinge(1.5), free)
    assert 0 < point.band_size < n
    if way == "products":
        monkeypatch.setattr(module, "LARGEST_FACTOR", 1)
        monkeypatch.setattr(module, "FORCING", 1e-9)
    if way == "weights":
        monkeypatch.setattr(module.Directions, "_by_weights_is_cheaper", lambda *_: True)
    p, residual = expected(point, X, y, free)
    np.testing.assert_allclose(point.residual, residual, atol=1e-10)
    found, left = point._directions.find(point.curved)
    assert (left is None) == (way != "products")
    np.testing.assert_allclose(found, p, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dense", [False, True])
def test_the_smaller_factor_is_not_always_the_cheaper_one(dense):
    """If few rows of the band have moved, the Gram matrix over the weights is nearly free."""
    X, y = classification(700, 600, seed=4, density=1.0 if dense else 0.02)
    point = smoothed_at(X if dense else csr(X), y, np.zeros(601), Hinge(1.5), False)
    directions = point._directions
    directions._G = np.zeros((601, 601))
    known = Curved(point.residual, 1.0, 1.0, band_size=500, moved=0, is_flat=False)
    assert directions._by_weights_is_cheaper(known)
    assert not directions._by_weights_is_cheaper(known._replace(band_size=100))
    assert directions._by_weights_is_cheaper(known._replace(moved=500)) == (not dense)


@pytest.mark.parametrize("free", [False, True])
def test_a_new_stage_begins_with_a_step_to_where_the_same_variables_are_free(free, monkeypatch):
    """That brings w nearer to the stage's minimum than a step that knows only the variables left in the band."""
    plain, predicted = [], []
    for seed in range(5):
        X, y = classification(300, 70, seed=seed)
        for left in (plain, predicted):
            point = smoothed_at(X, y, np.zeros(71), Hinge(0.3), free, delta=0.5)
            for _ in range(20):
                point.step()
            size = point.band_size
            point.next_stage(0.5)
            assert point.band_size < size
            if left is plain:
                monkeypatch.setattr(point.shards, "extend", lambda: None)
            point.step()
            left.append(np.linalg.norm(point.residual))
            for _ in range(20):
                point.step()
            assert point.error < 1e-9
    assert sum(predicted) < 0.7 * sum(plain)


def test_the_last_stage_is_the_one_that_may_bring_w_near_enough():
    X, y = classification(300, 70, seed=4)
    point = smoothed_at(X, y, np.zeros(71), Hinge(0.3), False, delta=0.5)
    for _ in range(20):
        point.step()
    near = point.gap / (0.5 * point.length)
    assert point.is_within(Stop(tol=0.0, near=1.01 * near))
    assert not point.is_within(Stop(tol=0.0, near=0.99 * near))
    assert point.is_within(Stop(tol=0.0, near=0.26 * near), times=4.0)


def test_a_prediction_that_leads_upwards_is_not_taken(monkeypatch):
    X, y = classification(300, 70, seed=4)
    point = smoothed_at(X, y, np.zeros(71), Hinge(0.3), False, delta=0.5)
    for _ in range(20):
        point.step()
    point.next_stage(0.5)
    find, asked = point._directions.find, []

    def upwards_at_first(at):
        asked.append(at)
        p, left = find(at)
        return (-p if len(asked) == 1 else p), left

    monkeypatch.setattr(point._directions, "find", upwards_at_first)
    before = point.primal
    point.step()
    assert len(asked) == 2
    assert asked[1].band_size < asked[0].band_size
    assert point.primal < before


def test_steps_reach_the_minimum_in_the_intercept_too():
    X, y = classification(60, 6, seed=4)
    point = smoothed_at(X + 3.0, y, np.zeros(7), SquaredHinge(1.5), True)
    for _ in range(20):
        point.step()
    assert abs(point.residual[-1]) < 1e-10
    assert np.linalg.norm(point.residual) < 1e-9


def test_an_intercept_moves_even_if_nothing_is_curved():
    """All margins are far outside of the band, at C: the objective is straight in the intercept."""
    X = np.zeros((10, 2))
    y = np.repeat([1.0, -1.0], [7, 3])
    point = smoothed_at(X, y, np.array([0.0, 0.0, -40.0]), Hinge(1.0), True, delta=1e-3)
    assert point.curved.is_flat
    before = point.primal
    point.step()
    assert point.primal < before
    assert point.w[-1] * BIAS == pytest.approx(1.0, abs=0.1)  # where the seven are satisfied
