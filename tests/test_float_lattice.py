"""Proofs that float64 has no good weights: only if that is so."""

from decimal import localcontext

import numpy as np
import pytest
from float_lattice import are_beyond_float64, is_beyond_float64, watched
from random_cases import draw
from sklearn.exceptions import ConvergenceWarning

from hingeline import Pinball
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.exact.decimals import DIGITS
from hingeline.solvers.exact.rows import ExactRows


def is_beyond(X, y, C):
    with localcontext(DIGITS):
        pieces = ExactRows(make_problem(read_data(X, 0.0, 1), y, None, Pinball(C, 0.5)), False).pieces
        return is_beyond_float64(pieces, pieces.solved(lambda: None))


# w = 1/3 is missed by 2e-17. Its square is 0.1, and a margin that is missed costs C/2.
@pytest.mark.parametrize(("C", "expected"), [(1e16, True), (1e12, False)])
def test_one_weight_between_two_numbers(C, expected):
    assert is_beyond(np.array([[3.0]]), np.array([1.0]), C) == expected


def test_a_second_weight_makes_up_for_the_first():
    assert not is_beyond(np.array([[3.0, 3e-6]]), np.array([1.0]), 1e16)


def test_easy_problems_are_not_beyond():
    rng = np.random.default_rng(0)
    assert not is_beyond(rng.normal(size=(10, 3)), rng.normal(size=10), 1.0)


def test_collects_what_is_solved_in_decimals():
    case = draw(570999, any_layout=False)  # timestamps, and targets that are a multiple of them
    with watched() as collected, pytest.warns(ConvergenceWarning):
        case.model.fit(case.X, case.y, sample_weight=case.sample_weight)
    assert len(collected) == 1
    assert are_beyond_float64(collected)
    assert not are_beyond_float64([])
