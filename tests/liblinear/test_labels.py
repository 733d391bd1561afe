"""Classes in LIBLINEAR's order, and their weights."""

import numpy as np
import pytest

from hingeline.liblinear.labels import class_weights_of, ordered_labels


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([1, -1, 1], (1, -1)),
        ([-1, 1, -1], (1, -1)),
        ([3, 2, 3], (3, 2)),
        ([2, 3, 2], (2, 3)),
        ([0, 1], (0, 1)),
        ([1, 2, -1, 2], (1, 2, -1)),
        ([-1, 1, 0], (-1, 1, 0)),
        ([4, 4], (4,)),
    ],
)
def test_the_order_of_labels(y, labels):
    found, codes = ordered_labels(np.array(y, dtype=float))
    assert found == labels
    assert [found[code] for code in codes] == y


def test_rows_that_do_not_count_have_no_say_in_the_order():
    y = np.array([9, 3, 7, 3, 9, 7])
    included = np.array([False, False, True, True, False, True])
    labels, codes = ordered_labels(y, included)
    assert labels == (7, 3)
    assert [labels[code] for code in codes[included]] == y[included].tolist()
    assert codes.max() < 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(0.5, r"Row 3 has the label 0\.5, but classes are whole"), (3e9, r"Row 3 has the label 3e\+09")],
)
def test_labels_that_are_no_classes(wrong, message):
    with pytest.raises(ValueError, match=message):
        ordered_labels(np.array([1.0, 2.0, wrong, 1.0]))


def test_factors_of_a_label_named_twice_are_multiplied_and_unknown_labels_are_warned_of():
    said = []
    weights = class_weights_of((7, 3), ((3, 2.0), (99, 5.0), (3, 0.25)), said.append)
    assert weights.tolist() == [1.0, 0.5]
    assert said == ["WARNING: class label 99 specified in weight is not found"]
