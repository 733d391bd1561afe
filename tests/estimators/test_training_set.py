"""What ``fit`` is given, read once."""

import numpy as np
import pytest
from problems import classification, regression

from hingeline import Hinge, LinearSVC, LinearSVR, SquaredEpsilonInsensitive
from hingeline.estimators.training_set import read_classification, read_regression

X, Y = classification(60, 4, seed=61, n_classes=3)
X_REAL, Y_REAL = regression(60, 4, seed=62)
WEIGHTS = np.arange(60) % 3.0


def labelled(weights=WEIGHTS, class_weight=None):
    return read_classification(LinearSVC(), X, Y, weights, bias=1.0, class_weight=class_weight)


def test_a_classification():
    rows = labelled()
    assert rows.n_problems == 3
    assert rows.names == list(np.unique(Y))
    assert rows.known["n_features_in_"] == 4
    np.testing.assert_array_equal(rows.known["classes_"], np.unique(Y))
    np.testing.assert_array_equal(rows.truth, Y)
    problem = rows.problem(1, Hinge(C=2.0))
    assert problem.data is rows.data
    np.testing.assert_array_equal(problem.y > 0.0, np.unique(Y)[1] == Y)
    np.testing.assert_array_equal(problem.C, 2.0 * WEIGHTS)


def test_class_weights_are_balanced_among_the_rows_that_count():
    rows = labelled(weights=None, class_weight="balanced")
    n = [np.count_nonzero(np.unique(Y)[0] == Y), np.count_nonzero(np.unique(Y)[0] == Y[:30])]
    assert rows.problem(0, Hinge()).C.max() == pytest.approx(60 / (3 * n[0]))
    first_half = (np.arange(60) < 30).astype(float)
    assert rows.problem(0, Hinge(), first_half).C.max() == pytest.approx(30 / (3 * n[1]))


def test_classes_that_are_present():
    rows = labelled()
    second = np.unique(Y)[1] == Y
    assert rows.are_present(second).tolist() == [False, True, False]
    assert not rows.are_present(second & (WEIGHTS == 0.0)).any()


def test_a_regression():
    rows = read_regression(LinearSVR(), X_REAL, Y_REAL, None, bias=0.0)
    assert rows.n_problems == 1
    assert "classes_" not in rows.known
    np.testing.assert_array_equal(rows.truth, Y_REAL)
    assert rows.problem(0, SquaredEpsilonInsensitive(C=3.0)).C == 3.0
    np.testing.assert_array_equal(rows.problem(0, SquaredEpsilonInsensitive(C=3.0), WEIGHTS).C, 3.0 * WEIGHTS)


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (None, None, "LinearSVC estimator requires y"),
        (Y[:5], None, "inconsistent numbers of samples"),
        (Y, np.zeros(len(Y)), "sample_weight is zero"),
    ],
    ids=["none", "short", "weightless"],
)
def test_refusals(y, weights, message):
    with pytest.raises(ValueError, match=message):
        read_classification(LinearSVC(), X, y, weights, bias=0.0, class_weight=None)
