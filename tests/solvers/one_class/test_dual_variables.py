"""The dual variables of the one-class model are made feasible, and their conditions stay as they are."""

from fractions import Fraction

import numpy as np
import pytest

from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace
from hingeline.solvers.one_class.dual_variables import OneClass, excess, make_feasible


def exact_sum(alpha):
    return sum(map(Fraction, alpha.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_right_and_bounds_kept(seed):
    rng = np.random.default_rng(seed)
    C = 10.0 ** rng.uniform(-3.0, 3.0, size=40)
    alpha = np.where(rng.random(40) < 0.5, C, 0.0)
    inside = rng.permutation(40)[:3]
    alpha[inside] = 0.3 * C[inside]
    total = float(alpha.sum())
    given = alpha.copy()
    given[inside] *= 1.0 + 1e-13
    given[5] = C[5] * (1.0 + 1e-15) if given[5] > 0.0 else -1e-17
    fitted = given.copy()
    make_feasible(fitted, C, total, np.ones(40), lambda: np.zeros(40))
    assert (fitted >= 0.0).all()
    assert (fitted <= C).all()
    assert abs(exact_sum(fitted) - Fraction(total)) <= Fraction(np.spacing(total) / 2)
    outside = np.setdiff1d(np.arange(40), inside)
    np.testing.assert_array_equal(fitted[outside], np.clip(given, 0.0, C)[outside])
    np.testing.assert_allclose(fitted, alpha, atol=1e-9)


def test_the_shortest_row_takes_the_rest():
    alpha = np.array([0.5, 0.5, 0.5, 1.0])
    make_feasible(alpha, np.ones(4), 2.5 + 1e-9, np.array([9.0, 1.0, 4.0, 0.1]), lambda: np.zeros(4))
    np.testing.assert_array_equal(alpha[[0, 2, 3]], [0.5, 0.5, 1.0])
    assert alpha[1] == pytest.approx(0.5 + 1e-9, abs=1e-15)


def test_a_variable_at_its_bound_is_the_last_resort():
    alpha = np.array([1.0, 1.0, 0.0])
    make_feasible(alpha, np.ones(3), 1.75, np.ones(3), lambda: np.array([2.0, 0.1, 0.0]))
    np.testing.assert_array_equal(alpha, [1.0, 0.75, 0.0])


def test_excess_is_exact():
    alpha = np.array([1e16, 1.0, -1e16, 1e-3])
    assert excess(alpha, 1.0) == 1e-3


def test_a_small_objective_beside_a_large_gap():
    """P is as accurate as its own terms, however far D is below it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    model = OneClass(read_data(X, 0.0), np.ones(12), 6.0, np.full(12, 0.5), np.append(1e-25 * rng.normal(size=3), 0.0))
    model.has_own_weights = True
    certificate = model.refresh(Pace())
    w, rho = list(map(Fraction, model.w[:3])), Fraction(model.rho)
    scores = [sum(a * b for a, b in zip(map(Fraction, x), w, strict=True)) for x in X.tolist()]
    primal = float(sum(a * a for a in w) / 2 - 6 * rho + sum(max(rho - s, 0) for s in scores))
    assert certificate.dual < -0.01
    assert certificate.primal == pytest.approx(primal, rel=1e-12, abs=0.0)
