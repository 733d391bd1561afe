"""How far, and how long still."""

from math import inf, nan

import pytest

from hingeline import Progress
from hingeline.progress.course import MOST_SAMPLES, Course
from hingeline.progress.text import duration, short, times


def add(course, n, seconds, times_tol):
    course.add(seconds, Progress(n, n, nan, 1.0, nan, times_tol))


def test_linear_convergence_moves_evenly_and_its_end_is_foreseen():
    course = Course()
    for n in range(61):  # 1e6 times tol at first, ten times less every 10 sweeps of half a second
        add(course, n, 0.5 * n, 10.0 ** (6 - n / 10))
        assert course.fraction == pytest.approx(n / 60, abs=1e-12)
        if n >= 4:
            assert course.seconds_left(0.5 * n) == pytest.approx(0.5 * (60 - n), abs=1e-6)


def test_a_cap_may_come_first():
    course = Course(max_iter=20, max_time=1000.0)
    for n in range(1, 11):
        add(course, n, 2.0 * n, 1e6)  # no progress at all
    assert course.fraction == 0.5
    assert course.seconds_left(20.0) == pytest.approx(20.0)
    assert course.seconds_left(25.0) == pytest.approx(15.0)  # the next sweep is not over yet
    assert course.seconds_left(50.0) == 0.0


def test_nothing_is_promised_before_a_trend_shows():
    course = Course()
    assert course.seconds_left(5.0) == inf
    for n, multiple in enumerate([nan, inf, 100.0, 50.0]):
        add(course, n, float(n), multiple)
    assert course.seconds_left(5.0) == inf
    for n in range(4, 20):
        add(course, n, float(n), 100.0 + n)  # grows
    assert course.seconds_left(5.0) == inf
    assert 0.0 <= course.fraction < 1.0


def test_the_bar_never_goes_back_and_is_full_at_the_goal():
    course = Course()
    seen = []
    for n, multiple in enumerate([1000.0, 10.0, 100.0, 5.0, 0.5]):
        add(course, n, float(n), multiple)
        seen.append(course.fraction)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_sweep_is_sampled_once_and_long_fits_do_not_grow():
    course = Course()
    same = Progress(1, 1, 1.0, 1.0, nan, 10.0)
    for now in range(10):
        course.add(float(now), same)
    assert len(course._trend) == 1
    for n in range(2, 5000):
        add(course, n, float(n), 10.0 ** (8 - n / 1000))
    assert len(course._trend) <= MOST_SAMPLES + 1
    assert course.seconds_left(4999.0) == pytest.approx(8000 - 4999, rel=0.01)


def test_numbers_as_people_read_them():
    assert [duration(s) for s in (0.2, 59.4, 200, 3723)] == ["0 s", "59 s", "3:20", "1:02:03"]
    assert times(5.0, inf) == "5 s"
    assert times(5.0, 1e9) == "5 s"
    assert times(5.0, 70.0) == "5 s, 1:10 left"
    assert [short(n, "B") for n in (5, 1500, 2e13)] == ["5 B", "1.5 kB", "20 TB"]
