"""Input that is refused: with a message, and by an estimator that stays as it was."""

import pytest
from problems import classification

from hingeline import LinearSVC

X, Y = classification(12, 4, seed=41)


def state_of(estimator):
    """Return what an estimator knows, in a form that can be compared."""
    return {name: repr(value) for name, value in vars(estimator).items()}


def assert_refused(message, *data, error=ValueError, **parameters):
    """Fit must raise, with the message, an estimator that is fresh and one that is trained; neither may change."""
    for trained in (False, True):
        estimator = LinearSVC(random_state=0)
        if trained:
            estimator.fit(X, Y)
        estimator.set_params(**parameters)
        before = state_of(estimator)
        with pytest.raises(error, match=message):
            estimator.fit(*data)
        assert state_of(estimator) == before
