"""Thresholds of hard shrinking: from the last sweep, and more cautious later on."""

from math import inf

from hingeline.kernels.shrink import EARLY_SWEEPS, Thresholds, cautious_thresholds, is_shrunk, next_thresholds


def test_a_side_without_violations_drops_nothing():
    assert next_thresholds(-2.0, 3.0) == Thresholds(-2.0, 3.0)
    assert next_thresholds(0.5, -0.5) == Thresholds(-inf, inf)


def test_later_sweeps_drop_what_the_last_two_agree_on():
    last, before = Thresholds(-1.0, 5.0), Thresholds(-3.0, 2.0)
    assert cautious_thresholds(EARLY_SWEEPS - 1, last, before) == last
    later = cautious_thresholds(EARLY_SWEEPS, last, before)
    assert later == Thresholds(-3.0, 5.0)
    assert is_shrunk(last, -2.0)
    assert not is_shrunk(later, -2.0)
    assert is_shrunk(later, 6.0)
