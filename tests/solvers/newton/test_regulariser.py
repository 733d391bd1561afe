"""The regulariser with and without the intercept's weight."""

from types import SimpleNamespace

import numpy as np
import pytest

from hingeline.solvers.newton.regulariser import Regulariser

SHARDS = SimpleNamespace(longest=6.0, bias=2.0)
W = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize("free", [False, True])
def test_the_weight_of_a_free_intercept_is_left_out(free):
    regulariser, diagonal = Regulariser.of(SHARDS, free), np.array([4.0, 0.0, 5.0])
    np.testing.assert_array_equal(regulariser.part(W), [1.0, -2.0, 0.0 if free else 3.0])
    regulariser.add_curvature(diagonal)
    np.testing.assert_array_equal(diagonal, [5.0, 1.0, 5.0 if free else 6.0])
    assert W[-1] == 3.0


def test_a_diagonal_stays_positive():
    diagonal = np.zeros(3)
    Regulariser.of(SHARDS, True).add_curvature(diagonal)
    assert (diagonal > 0.0).all()


def test_what_a_condition_lacks_counts_as_much_as_a_row_can_move_the_weights():
    plain, free = (Regulariser.of(SHARDS, is_free) for is_free in (False, True))
    assert plain.squared(W) == pytest.approx(14.0)
    assert free.squared(W) == pytest.approx(5.0 + (6.0 * 3.0 / 2.0) ** 2)
    assert plain.error(W, 0.5) == pytest.approx(6.0 * np.sqrt(14.0))
    assert free.error(W, 0.5) == pytest.approx(6.0 * np.sqrt(86.0) + 3.0 / (2.0 * 0.5))
    assert np.isfinite(free.error(W, 0.0))
