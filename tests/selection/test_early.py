"""When a path ends, and which C is chosen."""

import numpy as np
import pytest
from problems import classification

from hingeline import LinearSVCCV
from hingeline.selection.choice import choose
from hingeline.selection.early import EarlyEnd

NOISE = np.array([0.01, -0.01, 0.005, -0.005, 0.0])
FLAT = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
RULE = EarlyEnd()


def scores_of(means, spread=1.0):
    return np.array([mean + spread * np.roll(NOISE, k) for k, mean in enumerate(means)])


@pytest.mark.parametrize(
    ("means", "work", "ends"),
    [
        ([0.7, 0.8], FLAT[:2], False),
        ([0.7, 0.9, 0.8], FLAT[:3], False),  # one clear fall, and the rest is cheap
        ([0.7, 0.9, 0.8, 0.7], FLAT[:4], True),  # two of them
        ([0.7, 0.9, 0.7, 0.8], FLAT[:4], False),  # rising again
        ([0.7, 0.9, 0.88, 0.86], FLAT[:4], True),  # the first fall is probable, the second clear
        ([0.7, 0.9, 0.898, 0.88], FLAT[:4], False),  # the first is nothing
        ([0.7, 0.9, 0.899, 0.898], FLAT[:4], False),  # within the noise
        ([0.7, 0.9, 0.8], np.array([1.0, 1.0, 10.0]), True),  # the next C would cost 100, all so far was 12
        ([0.7, 0.9, 0.899], np.array([1.0, 1.0, 10.0]), False),
    ],
)
def test_when_a_path_ends(means, work, ends):
    assert RULE.ends(scores_of(means), work, 0.25) == ends


def test_overlapping_folds_make_the_rule_careful():
    scores = scores_of([0.9, 0.885, 0.88])
    fall = (scores[0] - scores[1]).mean() / ((scores[0] - scores[1]).std(ddof=1) / np.sqrt(5))
    assert fall > 2.0
    assert RULE.ends(scores, FLAT[:3], 0.0)
    assert not RULE.ends(scores, FLAT[:3], 1.0)


def test_a_few_folds_tell_less():
    scores = scores_of([0.7, 0.9, 0.88, 0.86])
    assert RULE.ends(scores, FLAT[:4], 0.25)
    assert RULE.ends(np.hstack([scores, scores]), FLAT[:4], 1 / 9)
    assert not RULE.ends(scores[:, :3], FLAT[:4], 0.5)


@pytest.mark.parametrize("n_folds", [3, 5, 10])
def test_a_path_on_which_scores_differ_by_chance_alone_hardly_ever_ends(n_folds):
    ended = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        right, flipped = rng.random((n_folds, 100)) < 0.8, rng.random((13, n_folds, 100)) < 0.05
        scores = (right ^ flipped).mean(axis=2)
        ended += any(RULE.ends(scores[:k], np.ones(k), 1 / (n_folds - 1)) for k in range(1, 13))
    assert ended <= 0.06 * 300


def test_two_folds_never_end_a_path_and_equal_scores_neither():
    assert not RULE.ends(scores_of([0.9, 0.5, 0.4])[:, :2], FLAT[:3], 0.25)
    assert not RULE.ends(np.full((4, 5), 0.5), FLAT[:4], 0.25)
    assert RULE.ends(np.outer([0.9, 0.8, 0.7], FLAT), FLAT[:3], 0.25)


def test_choice():
    scores = scores_of([0.7, 0.899, 0.9, 0.9, 0.8])
    scores[4, 3] = np.nan
    choice = choose(scores)
    assert (choice.best, choice.one_se) == (2, 1)
    assert np.isnan(choice.means[4])
    np.testing.assert_allclose(choice.std_errors[2], scores[2].std(ddof=1) / np.sqrt(5))
    assert choose(scores[:, :1])[:2] == (3, 3)  # one fold: no standard error
    with pytest.raises(ValueError, match="none can be chosen"):
        choose(np.full((2, 3), np.nan))


def peaked(model, rows, labels):
    """Score highest at C = 0.1, with some noise."""
    return -abs(np.log10(model.C) + 1.0) + 0.01 * rows[0, 0]


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_path_ends_early(n_jobs):
    X, y = classification(60, 4, seed=0)
    Cs = np.logspace(-3, 4, 8)
    ended = LinearSVCCV(Cs=Cs, n_jobs=n_jobs, random_state=0, scoring=peaked).fit(X, y)
    whole = LinearSVCCV(Cs=Cs, n_jobs=n_jobs, random_state=0, scoring=peaked, early_stopping=False).fit(X, y)
    done = ~np.isnan(ended.scores_).any(axis=1)
    np.testing.assert_array_equal(done, Cs < 50.0)  # falls at 1 and at 10
    assert np.isnan(ended.scores_[~done]).all()
    assert np.isnan(ended.fit_times_[~done]).all()
    assert np.isnan(ended.mean_scores_[~done]).all()
    assert not np.isnan(whole.scores_).any()
    np.testing.assert_array_equal(ended.scores_[done], whole.scores_[done])
    assert ended.C_ == whole.C_ == pytest.approx(0.1)


def test_separable_rows_cost_nothing_beyond_the_last_bound():
    X, y = classification(40, 80, seed=0)
    search = LinearSVCCV(Cs=[1.0, 10.0, 100.0, 1000.0], loss="hinge", early_stopping=False).fit(X, y)
    assert (search.scores_[0] == search.scores_[3]).all()
