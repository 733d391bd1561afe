"""Which C is chosen from a table of scores."""

import numpy as np
import pytest

from hingeline.selection.choice import choose, means_and_errors


def test_means_and_their_standard_errors():
    means, errors = means_and_errors(np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]]))
    assert means[0] == pytest.approx(2.0)
    assert errors[0] == pytest.approx(1.0 / np.sqrt(3.0))
    assert np.isnan(means[1])
    assert np.isnan(errors[1])
    mean, error = means_and_errors(np.array([0.5]))
    assert mean == 0.5
    assert np.isnan(error)


def test_the_best_and_the_smallest_within_one_standard_error():
    scores = np.array([[0.1, 0.2, 0.3], [0.79, 0.7, 0.88], [0.8, 0.7, 0.9], [0.8, 0.7, 0.9], [1.0, np.nan, 1.0]])
    choice = choose(scores)
    assert choice.best == 2  # of equal means the smallest C
    assert choice.one_se == 1
    assert choose(scores[:, :1]).one_se == choose(scores[:, :1]).best == 4  # one fold has no standard error


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="No C was scored in every fold"):
        choose(np.full((2, 3), np.nan))
