"""What a sweep learns from the gains of its steps."""

import pytest

from hingeline.kernels.schedule import Learning, Preferences, adapted, learn


def test_the_first_sweep_only_gathers_the_average():
    assert learn(Learning(*Preferences(), 0.25, True, True), 2.0, 8.0, 1.0) == (2.0, 3.0)


def test_later_sweeps_adapt_by_the_old_average():
    p, D_ref = learn(Learning(*Preferences(), 0.25, True, False), 2.0, 8.0, 4.0)
    assert p == pytest.approx(adapted(Preferences(), 2.0, 8.0, 4.0))
    assert p > 2.0
    assert D_ref == pytest.approx(5.0)


def test_preferences_stay_if_visits_are_uniform():
    assert learn(Learning(*Preferences(), 0.5, False, False), 2.0, 8.0, 4.0) == (2.0, 6.0)
