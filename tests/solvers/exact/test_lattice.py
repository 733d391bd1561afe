"""Numbers of float64 that are rounded together: sums nearer to their targets than those of numbers rounded alone."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from hingeline import Pinball
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.exact.decimals import DIGITS, ZERO, decimals, floats
from hingeline.solvers.exact.interior import Point
from hingeline.solvers.exact.lattice import lattice, nearer
from hingeline.solvers.exact.rows import ExactRows
from hingeline.solvers.exact.weights_on_lattice import weights_on_lattice


def do_nothing():
    pass


@pytest.fixture(autouse=True)
def digits():
    with localcontext(DIGITS):
        yield


def test_a_reduced_basis_is_short_and_spans_the_same_lattice():
    vectors = np.array([[Decimal(10) ** 30, Decimal(1)], [Decimal(10) ** 30 + 3, Decimal(2)]])
    found = lattice(vectors, do_nothing)
    np.testing.assert_array_equal(found.units @ vectors, found.basis)
    assert abs(found.units[0, 0] * found.units[1, 1] - found.units[0, 1] * found.units[1, 0]) == 1
    assert np.abs(floats(found.basis)).min(axis=0).max() < 10.0


def test_finds_the_vector_that_is_nearest():
    found = lattice(decimals(np.array([[1000.0, 1.0], [1001.0, 0.0]])), do_nothing)
    target = decimals(np.array([7.0, -7.1]))
    np.testing.assert_array_equal(found.nearest(target), [-7, 7])


def test_leaves_what_is_not_finite_alone():
    broken = decimals(np.array([[np.inf, 1.0], [1.0, 2.0]]))
    np.testing.assert_array_equal(lattice(broken, do_nothing).nearest(decimals(np.ones(2))), 0)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_sums_come_nearer_by_orders_of_magnitude(d):
    rng = np.random.default_rng(d)
    n = 4 * d + 4
    Z, C = decimals(rng.normal(size=(n, d)) * 1e9), 1e5
    exact = decimals(rng.uniform(0.0, C, n)) + decimals(rng.uniform(0.0, 1e-12, n))
    exact[::3] = Decimal(C)  # at their limits
    target, alone = Z.T @ exact, floats(exact)
    limits = np.zeros(n), np.full(n, C)
    found = nearer(alone, target, Z, np.full(d, 1e-9), np.zeros(n), limits, 2.0**24, do_nothing)
    misses = [np.abs(floats(target - Z.T @ decimals(a))).max() for a in (alone, found)]
    assert misses[1] < 1e-3 * misses[0]
    assert (found >= 0.0).all()
    assert (found <= C).all()


def objective(pieces, w):
    margins = pieces.c - pieces.Z.times(decimals(w))
    return (pieces.R * decimals(w) ** 2).sum() / 2 + pieces.U @ np.maximum(margins, ZERO)


def test_more_weights_than_rows_make_margins_as_small_as_need_be():
    rng = np.random.default_rng(0)
    X = 1e6 * rng.normal(size=(3, 8))
    pieces = ExactRows(make_problem(read_data(X, 0.0, 1), rng.normal(size=3), None, Pinball(1e4, 0.5)), False).pieces
    at = pieces.solved(do_nothing)
    found = weights_on_lattice(pieces, at, do_nothing)
    excess = [float(objective(pieces, w) / at.value) - 1.0 for w in (found, floats(at.w))]
    assert excess[1] > 1e-2
    assert 0.0 <= excess[0] < 1e-4
    np.testing.assert_allclose(found, floats(at.w), rtol=1e-2)


def test_without_weights_there_is_nothing_to_round():
    pieces = ExactRows(make_problem(read_data(np.eye(3), 0.0, 1), np.ones(3), None, Pinball(1.0, 0.5)), False).pieces
    nothing = np.full(4, ZERO)
    assert weights_on_lattice(pieces, Point(nothing, nothing, Decimal(1)), do_nothing) is None
