"""Labels and weights on their way into a problem."""

import numpy as np
import pytest

from hingeline.estimators.labels import class_weights, encode_labels

TWO = np.array([3, 7, 7, 3, 7])


@pytest.mark.parametrize("dtype", [int, float, bool, np.int8, np.uint64, str, object])
def test_labels_are_numbered_in_order(dtype):
    """Two numeric labels take a short cut; the answer is that of np.unique."""
    y = (TWO == 7) if dtype is bool else TWO.astype(dtype)
    classes, codes = encode_labels(y)
    expected, expected_codes = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, expected_codes)
    assert classes.dtype == expected.dtype


def test_more_than_two_classes():
    classes, codes = encode_labels(["b", "c", "a", "b"])
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.tolist() == [1, 2, 0, 1]


def test_balanced_weights_follow_the_rows_that_count():
    classes, codes = encode_labels(TWO)
    assert class_weights("balanced", classes, codes, None).tolist() == [5 / 4, 5 / 6]
    weights = np.array([1.0, 0.0, 2.0, 0.0, 0.0])
    assert class_weights("balanced", classes, codes, weights).tolist() == [3 / 2, 3 / 4]
    only_one = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    assert np.isfinite(class_weights("balanced", classes, codes, only_one)).all()
