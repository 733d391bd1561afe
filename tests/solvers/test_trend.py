"""Extrapolating a run: exact if it converges geometrically, and a budget that follows it."""

from math import inf

import pytest

from hingeline.solvers.trend import FEWEST, HOPELESS, OPTIMISM, Account, Budget, Trend


def falling(n, start=1000.0, factor=0.5, steps=10.0):
    trend = Trend()
    for k in range(n):
        trend.add(steps * (k + 1), start * factor**k)
    return trend


@pytest.mark.parametrize("n", [4, 5, 8, 9])
def test_a_geometric_run_is_foreseen(n):
    # 1000 / 2^k = 1 at k = 9.966; the last sweep was number n - 1.
    assert falling(n).steps_left() == pytest.approx(10.0 * (9.96578 - (n - 1)), abs=1e-3)


def test_nothing_is_left_where_it_is_over():
    assert falling(12, start=2.0).steps_left() == 0.0


def test_no_promise_without_a_trend():
    assert falling(FEWEST - 1).steps_left() == inf
    assert falling(8, factor=1.0).steps_left() == inf
    assert falling(8, factor=1.1).steps_left() == inf


def test_early_speed_is_forgotten():
    trend = falling(8, factor=0.1)
    for k in range(24):
        trend.add(80.0 + 10.0 * (k + 1), 1e-4 * 0.99**k * 1e6)
    assert trend.steps_left() > 1000.0


def test_multiples_that_say_nothing_are_left_out():
    trend = falling(6)
    before = trend.steps_left()
    trend.add(70.0, inf)
    trend.add(80.0, 0.0)
    assert trend.steps_left() == before


def test_a_budget_is_reviewed():
    account = Account(Budget(review=20.0, rival=50.0, most=100.0))
    for k in range(10):
        account.trend.add(10.0 * (k + 1), 100.0 * 0.5**k)
        spent = account.is_spent(10.0 * (k + 1))
        assert spent == (k == 1 or k == 9)  # two sweeps show no trend yet; later ones do; in the end the cap decides


@pytest.mark.parametrize(("left", "given"), [(5.0, 100.0), (100.0, OPTIMISM * 100.0), (inf, HOPELESS * 100.0)])
def test_a_budget_is_not_below_what_the_phase_before_would_have_taken(left, given):
    budget = Budget(review=100.0, most=100.0).after(left)
    assert budget.review == budget.most == given
    assert not Account(budget).is_spent(given - 1.0)
    assert Account(budget).is_spent(given)


def test_a_phase_without_an_end_keeps_having_none():
    assert Budget().after(10.0) == Budget()


def test_a_long_trend_forgets_evenly():
    trend = Trend(most=64)
    for k in range(10_000):
        trend.add(10.0 * (k + 1), 1e9 * 0.999**k)
    # 1e9 * 0.999^k = 1 at k = 20712.9; the last sweep was number 9999.
    assert trend.steps_left() == pytest.approx(10.0 * (20712.9 - 9999), rel=1e-3)


@pytest.mark.parametrize(("objectives", "is_over"), [([9.0], False), ([9.0, 9.0], True), ([9.0, 2.0, 9.0], False)])
def test_an_objective_that_is_still_high_after_two_sweeps_is_hopeless(objectives, is_over):
    account = Account(Budget(hopeless=3.0))
    for objective in objectives:
        account.see(objective)
    assert account.is_spent(10.0) is is_over
