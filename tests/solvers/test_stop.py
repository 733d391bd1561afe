"""The stop rule: what meets it, and what is made of the reason that ended a run."""

from math import isnan, nan

import pytest

from hingeline import Certificate, EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from hingeline.solvers.stop import GOOD_GAP, Stop


def at(violation=1.0, gap=1.0):
    return Certificate.of(violation, primal=2.0, difference=2.0 * gap)


def test_the_violation_must_be_below_tol():
    stop = Stop(tol=0.1)
    assert stop.rule == "tol"
    assert stop.met(at(violation=0.09, gap=1.0))
    assert not stop.met(at(violation=0.1, gap=0.0))


def test_a_gap_tol_alone_counts_if_given():
    stop = Stop(tol=0.1, gap_tol=0.25)
    assert stop.rule == "gap_tol"
    assert stop.met(at(violation=1.0, gap=0.25))
    assert not stop.met(at(violation=0.0, gap=0.26))


def test_a_gap_that_is_enough_counts_beside_tol():
    stop = Stop(tol=0.1).or_enough(SquaredHinge())
    assert stop.met_by(at(violation=0.09, gap=1.0)) == "tol"
    assert stop.met_by(at(violation=1.0, gap=1e-4)) == "gap_tol"
    assert stop.met_by(at(violation=0.1, gap=1.1e-4)) is None
    assert stop.outcome("rounding", at(violation=1.0, gap=1e-4)) == ("gap_tol", True)


def test_no_gap_is_enough_for_regressions_and_beside_gap_tol():
    assert Stop(tol=0.1).or_enough(EpsilonInsensitive()).met_by(at(violation=1.0, gap=0.0)) is None
    assert Stop(gap_tol=0.0).or_enough(SquaredHinge()).met_by(at(violation=1.0, gap=1e-9)) is None


def test_near_is_a_matter_of_the_length_of_w():
    stop = Stop(tol=1e-3).for_scores(Hinge())
    assert stop.gap_allowed(gap=1e-3, dual=1.0, half_square=lambda: 0.5) == pytest.approx(0.5 * stop.near)
    assert stop.gap_allowed(gap=1e-3, dual=1.0, half_square=lambda: 0.0) == pytest.approx(1.001 * stop.enough)


def test_the_length_of_w_is_asked_for_only_if_it_may_matter():
    def unasked():
        raise AssertionError

    stop = Stop(tol=1e-3).for_scores(Hinge())
    assert stop.gap_allowed(gap=0.5, dual=1.0, half_square=unasked) == pytest.approx(1.5 * stop.enough)
    assert stop.gap_allowed(gap=0.0, dual=1.0, half_square=unasked) == pytest.approx(stop.enough)
    assert Stop(tol=1e-3).for_scores(Logistic()).near == 0.0  # probabilities depend on the length of w
    assert Stop(tol=1e-3).for_scores(EpsilonInsensitive()).near == 0.0


def test_a_multiple_is_that_of_the_rule_which_is_nearer():
    stop = Stop(tol=0.1).or_enough(SquaredHinge())
    assert stop.multiple(violation=0.2, gap=1.0, dual=1.0) == pytest.approx(2.0)
    assert stop.multiple(violation=0.2, gap=1.5e-4, dual=1.0) == pytest.approx(1.5)


@pytest.mark.parametrize("stop", [Stop(), Stop(gap_tol=0.1)], ids=["tol", "gap_tol"])
def test_nan_meets_nothing(stop):
    assert not stop.met(at(nan, nan))
    assert stop.outcome("rounding", at(nan, nan)) == ("stalled", False)


@pytest.mark.parametrize(
    ("reason", "certificate", "outcome"),
    [
        ("tol", at(), ("tol", True)),
        ("max_iter", at(0.0, 0.0), ("max_iter", False)),
        ("rounding", at(0.0, GOOD_GAP), ("tol", True)),  # met after all
        ("rounding", at(0.0, 1.0), ("stalled", False)),  # a small violation that says nothing
        ("rounding", at(1.0, GOOD_GAP), ("rounding", True)),  # nothing left to gain
        ("rounding", at(1.0, 2.0 * GOOD_GAP), ("stalled", False)),
        ("stalled", at(0.0, GOOD_GAP), ("tol", True)),
        ("stalled", at(0.0, 1.0), ("stalled", False)),
        ("stalled", at(1.0, GOOD_GAP), ("stalled", False)),  # the rule is not met, and rounding is not to blame
    ],
)
def test_outcome(reason, certificate, outcome):
    assert Stop(tol=0.1).outcome(reason, certificate) == outcome


def test_what_is_left_of_the_time():
    assert Stop().after(5.0) == Stop()
    assert Stop(max_time=7.0).after(5.0) == Stop(max_time=2.0)
    assert 0.0 < Stop(max_time=7.0).after(8.0).max_time < 1e-6


def test_multiple_of_what_is_asked_for():
    assert Stop(tol=0.1).multiple(violation=0.2, gap=7.0, dual=5.0) == pytest.approx(2.0)
    assert Stop(gap_tol=0.1).multiple(violation=7.0, gap=1.5, dual=5.0) == pytest.approx(3.0)
    assert isnan(Stop(gap_tol=0.1).multiple(violation=7.0, gap=1.5, dual=0.0))
    assert isnan(Stop(tol=0.0).multiple(violation=7.0, gap=1.5, dual=5.0))
