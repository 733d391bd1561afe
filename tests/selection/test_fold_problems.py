"""The problems of folds: rows that are held out count for nothing."""

import numpy as np
import pytest
from problems import classification

from hingeline import Hinge, LinearSVC
from hingeline.estimators.training_set import read_classification
from hingeline.selection.fold_problems import FoldProblems
from hingeline.selection.folds import Fold

X, Y = classification(60, 4, seed=71, n_classes=3)
CLASSES = np.unique(Y)


def fold_without(held_out):
    return Fold((~held_out).astype(np.uint8), np.flatnonzero(held_out))


def make(*folds, weights=None):
    rows = read_classification(LinearSVC(), X, Y, weights, bias=0.0, class_weight=None)
    return FoldProblems(rows, list(folds), Hinge())


def test_rows_that_are_held_out_have_no_weight():
    held_out = np.arange(60) % 3 == 0
    problems = make(fold_without(held_out), weights=np.full(60, 2.0))
    problem = problems.problem_at(0, 1, C=5.0)
    np.testing.assert_array_equal(problem.C, np.where(held_out, 0.0, 10.0))
    np.testing.assert_array_equal(problem.y > 0.0, CLASSES[1] == Y)


def test_a_class_without_training_rows_is_not_trained():
    problems = make(fold_without(CLASSES[2] == Y), fold_without(np.arange(60) < 5))
    assert [problems.is_trainable(0, k) for k in range(3)] == [True, True, False]
    assert [problems.is_trainable(1, k) for k in range(3)] == [True, True, True]
    with pytest.raises(ValueError, match="fold 1 are all of one class"):
        make(fold_without(np.arange(60) < 5), fold_without(CLASSES[0] != Y))
