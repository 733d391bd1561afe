"""Rounding is told from slow progress by the age of the best violation and by the floor, which is rarely computed."""

import pytest

from hingeline.solvers.rounding import NEAR_FLOOR, STALLED, STALLED_NEAR_FLOOR, RoundingCheck, Stall


def test_ages_are_told_at_powers_of_two():
    stall = Stall()
    told = [age for sweep in range(1, 100) if (age := stall.age(1.0, sweep))]
    assert told == [STALLED, 2 * STALLED, 4 * STALLED, 8 * STALLED]


def test_progress_makes_young_again():
    stall = Stall()
    assert not any(stall.age(0.5**sweep, sweep) for sweep in range(1, 100))


def check(floor, exact=1.0):
    asked = []

    def counted():
        asked.append(None)
        return floor

    return RoundingCheck(lambda: exact, counted), asked


def first_rounding(rounding, violation, n_sweeps, complete=True):
    found = (k for k in range(1, n_sweeps + 1) if rounding.is_rounding(k, violation, gain=1e-20, complete=complete))
    return next(found, None)


def test_a_stall_below_the_floor_ends_soon():
    rounding, asked = check(floor=1e-9)
    assert first_rounding(rounding, violation=1e-10, n_sweeps=100) == 1 + STALLED
    assert len(asked) == 1


def test_a_stall_near_the_floor_ends_late():
    rounding, asked = check(floor=1e-9)
    ended = first_rounding(rounding, violation=0.5 * NEAR_FLOOR * 1e-9, n_sweeps=2000)
    assert STALLED_NEAR_FLOOR <= ended <= 4 * STALLED_NEAR_FLOOR
    assert len(asked) < 10


def test_a_stall_far_from_the_floor_does_not_end():
    rounding, asked = check(floor=1e-9)
    assert first_rounding(rounding, violation=1e-3, n_sweeps=2000) is None
    assert len(asked) < 10


@pytest.mark.parametrize(("exact", "is_rounding"), [(1e-12, True), (1e-3, False)])
def test_a_complete_sweep_that_gains_nothing_is_judged_by_the_exact_violation(exact, is_rounding):
    rounding, _ = check(floor=1e-12, exact=exact)
    assert rounding.is_rounding(1, violation=1.0, gain=0.0, complete=True) == is_rounding
