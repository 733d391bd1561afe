"""Binary problems of a classification, and their training on threads."""

from threading import Barrier, Event
from time import sleep

import numpy as np
import pytest

from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.solvers.one_versus_rest import OneVersusRest, train_each

CODES = np.array([0, 2, 1, 2])


def test_more_than_two_classes_are_one_problem_each():
    classes = OneVersusRest(CODES, 3)
    assert len(classes) == 3
    assert [classes.labels(k).tolist() for k in range(3)] == [[1, -1, -1, -1], [-1, -1, 1, -1], [-1, 1, -1, 1]]
    assert classes.labels(0).dtype == np.float32
    assert classes.labels(0, np.float64).dtype == np.float64


@pytest.mark.parametrize("positive", [0, 1])
def test_two_classes_are_one_problem(positive):
    classes = OneVersusRest(np.array([0, 1, 1]), 2, positive_of_two=positive)
    assert len(classes) == 1
    assert classes.is_positive(0).tolist() == [positive == 0, positive == 1, positive == 1]


def test_weights_of_the_rest():
    two, three = OneVersusRest(np.array([1, 0]), 2), OneVersusRest(np.array([1, 0]), 3)
    assert two.row_weights(0, None) is None
    assert two.row_weights(0, np.array([2.0, 3.0])).tolist() == [3.0, 2.0]
    assert three.row_weights(1, np.array([2.0, 3.0, 4.0])).tolist() == [3.0, 1.0]
    assert two.row_weights(0, np.array([2.0, 3.0]), np.array([10.0, 5.0])).tolist() == [30.0, 10.0]
    first = OneVersusRest(np.array([1, 0]), 2, positive_of_two=0)
    assert first.row_weights(0, np.array([2.0, 3.0])).tolist() == [3.0, 2.0]


def test_weights_of_one_are_no_weights():
    three = OneVersusRest(CODES, 3)
    assert three.row_weights(0, np.array([1.0, 2.0, 3.0])) is None
    weights = np.ones(4)
    assert three.row_weights(0, np.array([1.0, 2.0, 3.0]), weights) is weights
    assert three.row_weights(1, np.array([1.0, 2.0, 3.0])).tolist() == [1.0, 1.0, 2.0, 1.0]


def test_problems_share_their_rows():
    data = read_data(np.arange(8.0).reshape(4, 2) + 1.0)
    classes = OneVersusRest(CODES, 3)
    problem = classes.problem(2, data, Hinge(C=2.0), np.array([1.0, 1.0, 3.0]))
    assert problem.data is data
    assert problem.y.tolist() == [-1, 1, -1, 1]
    assert problem.C.tolist() == [2.0, 6.0, 2.0, 6.0]


@pytest.mark.parametrize(("n_threads", "each"), [(1, 1), (2, 1), (3, 1), (7, 2)])
def test_threads_are_shared_out(n_threads, each):
    at_once = min(n_threads, 3)
    together = Barrier(at_once)

    def one(k, *, n_threads, cancelled):
        if k < 3 // at_once * at_once:  # full turns only: a barrier waits for all
            together.wait(timeout=20.0)
        assert not cancelled()
        return k, n_threads

    assert train_each(one, 3, n_threads) == [(0, each), (1, each), (2, each)]


def test_a_failure_cancels_the_others():
    begun, seen = Event(), []

    def one(k, *, n_threads, cancelled):
        if k == 0:
            begun.wait(timeout=20.0)
            raise KeyboardInterrupt
        begun.set()
        while not cancelled():
            sleep(0.001)
        seen.append(k)

    with pytest.raises(KeyboardInterrupt):
        train_each(one, 5, 2)
    assert 1 in seen
