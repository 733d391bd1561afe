"""Labels and weights on their way into a problem."""

import numpy as np
import pytest

from hingeline.estimators.labels import class_weights, encode_labels

TWO = np.array([3, 7, 7, 3, 7])


@pytest.mark.parametrize("dtype", [int, float, bool, np.int8, np.uint64, str, object])
def test_labels_are_numbered_in_order(dtype):
    """Two numeric labels take a short cut; the answer is that of np.unique."""
    y = (TWO == 7) if dtype is bool else TWO.astype(str if dtype is object else dtype).astype(dtype)
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


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9, 40])
@pytest.mark.parametrize("dtype", [int, str, object])
def test_any_number_of_classes(n_classes, dtype):
    """A few classes are found without sorting; the answer is that of np.unique."""
    y = np.random.default_rng(n_classes).permutation(np.arange(200) % n_classes * 3 - 5)
    y = y.astype(str if dtype is object else dtype).astype(dtype)
    if n_classes == 1:
        with pytest.raises(ValueError, match="at least two classes"):
            encode_labels(y)
        return
    classes, codes = encode_labels(y)
    expected, expected_codes = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, expected_codes)
    assert classes.dtype == expected.dtype


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_labels_are_finite(value):
    with pytest.raises(ValueError, match=r"y\[1\] is"):
        encode_labels(np.array([0.0, value, 1.0, 0.0]))
