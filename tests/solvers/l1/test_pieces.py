"""Descent on a squared loss itself, against plain NumPy."""

import numpy as np
import pytest
from problems import classification
from solvers.l1.test_lasso import model_violation, penalised, set_weights, some_weights, with_bias

from hingeline import SquaredEpsilonInsensitive, SquaredHinge, solve
from hingeline.kernels.random import seeded
from hingeline.runtime.pace import Pace
from hingeline.solvers.frequencies import Frequencies
from hingeline.solvers.l1.columns import near_part
from hingeline.solvers.l1.one_weight import Seen
from hingeline.solvers.l1.pieces import descend

EVERYONE = np.inf  # margin


def objective(X, y, C, w, l2=0.1):
    return np.abs(w).sum() + 0.5 * l2 * w @ w + C * np.sum(np.maximum(0.0, 1.0 - y * (X @ w)) ** 2)


def descended(primal, run, S, sweeps, margin=EVERYONE):
    frequencies = Frequencies(np.arange(S.size, dtype=np.uint32), S.size, seeded(0), adapts=True, shrinks=True)
    z, seen = descend(primal, run, S, frequencies, Seen(), True, sweeps, margin)
    w = primal.w.copy()
    w[S] = z
    return w, seen


@pytest.mark.parametrize("sweeps", [1, 3, 100])
def test_the_objective_falls_to_its_minimum(sweeps):
    X, y = classification(60, 30, seed=3, density=0.4)
    primal, run = penalised("squared_hinge", X, y, 30.0)
    full, S = with_bias(X), np.arange(0, 31, 2)
    start = np.where(np.isin(np.arange(31), S), some_weights(31), 0.0)
    set_weights(primal, start)
    before = primal.violations[S].max()
    w, seen = descended(primal, run, S, sweeps)
    np.testing.assert_array_equal(primal.w, start)  # the line search moves them
    gain = objective(full, y, 30.0, start) - objective(full, y, 30.0, w)
    assert gain > 0.0
    assert seen.gain == pytest.approx(gain, rel=0.3)  # the area below the slopes at both ends of each step
    if sweeps == 100:
        set_weights(primal, w)
        assert primal.violations[S].max() <= 0.3 * before
        assert model_violation(primal, full, S, w[S]) == pytest.approx(primal.violations[S].max())


def test_a_step_that_meets_other_rows_is_shortened():
    """One row asks for a step of one; a tenth of the way there, a hundred others are beyond their bends."""
    X = np.column_stack([np.ones(101), np.full(101, -1.1)])
    X[0, 1] = 0.0
    y = np.append(1.0, np.full(100, -1.0))
    primal, run = penalised("squared_hinge", X, y, 10.0, l2=0.0)
    start = np.array([0.0, 1.0, 0.0])
    set_weights(primal, start)
    full = with_bias(X)
    w, _ = descended(primal, run, np.array([0]), 1)
    grid = [objective(full, y, 10.0, np.array([z, 1.0, 0.0]), 0.0) for z in (0.0, 1.0)]
    assert 0.0 < w[0] < 0.2
    assert objective(full, y, 10.0, w, 0.0) < grid[0] < grid[-1]


def test_rows_that_are_far_are_left_out():
    X, y = classification(200, 30, seed=4, density=0.4)
    primal, run = penalised("squared_hinge", X, y, 1.0)
    set_weights(primal, 3.0 * some_weights(31))
    m = 1.0 - y * (with_bias(X) @ primal.w)
    near = primal.near(0.5)
    np.testing.assert_array_equal(near, m > -0.5)
    assert 0.1 < near.mean() < 0.8
    S = np.array([3, 7, 8])
    sub = near_part(primal.columns, S.astype(np.uint64), np.flatnonzero(near), y, Pace())
    for k, j in enumerate(S):
        x = np.zeros(near.sum())
        entries = slice(int(sub.indptr[k]), int(sub.indptr[k + 1]))
        x[sub.indices[entries]] = sub.data[entries]
        np.testing.assert_array_equal(x, y[near] * X[near, j])
    everyone, _ = descended(primal, run, np.arange(31), 1)
    some, _ = descended(primal, run, np.arange(31), 1, margin=0.5)
    assert np.abs(everyone - some).max() > 1e-6  # rows that are far do not take part


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("loss", [SquaredHinge, lambda C: SquaredEpsilonInsensitive(C, 0.1)], ids=["hinge", "tube"])
def test_many_columns_have_the_optimum_of_few(loss, C):
    """With so few columns that the Hessian is at hand, and with empty ones that make them many."""
    X, y = classification(80, 30, seed=5, density=0.5)
    few = solve(X, y, loss(C), l1_ratio=1.0, bias=1.0, gap_tol=1e-6)
    many = solve(np.pad(X, ((0, 0), (0, 400))), y, loss(C), l1_ratio=1.0, bias=1.0, gap_tol=1e-6)
    assert few.certificate.gap <= 1e-6
    assert many.certificate.gap <= 1e-6
    assert many.certificate.primal == pytest.approx(few.certificate.primal, rel=2e-6)
