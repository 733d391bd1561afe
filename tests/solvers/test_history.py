"""The history of a run: whole while it is short, evenly thinned when it is long."""

from math import inf, nan

import numpy as np
import pytest

from hingeline.solution import HISTORY, Certificate
from hingeline.solvers import history
from hingeline.solvers.history import Bounds, History, concluded

CERTIFICATE = Certificate(violation=0.1, primal=2.0, dual=1.0, gap=0.5)


def recorded(n_sweeps):
    found = History()
    for k in range(1, n_sweeps + 1):
        found.add((k, 0.5 * k, 10 * k, 1.0 / k, nan, 2.0 + 1.0 / k, 2.0 - 1.0 / k, k // 4))
    return found


def test_nothing():
    empty = History()
    empty.conclude(CERTIFICATE)
    assert empty.as_array().size == 0
    assert empty.as_array().dtype == HISTORY


def test_a_short_one_is_whole():
    found = recorded(7)
    found.conclude(CERTIFICATE)
    records = found.as_array()
    np.testing.assert_array_equal(records["sweep"], np.arange(1, 8))
    np.testing.assert_array_equal(records["steps"], 10 * np.arange(1, 8))
    np.testing.assert_array_equal(records["gap"], [nan] * 6 + [0.5])
    assert records["objective"][-2:].tolist() == [2.0 + 1.0 / 6, 2.0]
    assert records["lower_bound"][-2:].tolist() == [2.0 - 1.0 / 6, 1.0]
    assert records["phase"].tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("n_sweeps", [9, 10, 16, 17, 1000, 1001])
def test_a_long_one_is_thinned_evenly(monkeypatch, n_sweeps):
    monkeypatch.setattr(history, "MOST_RECORDS", 8)
    found = recorded(n_sweeps)
    found.conclude(CERTIFICATE)
    sweeps = found.as_array()["sweep"]
    assert sweeps.size <= 8 + 1
    assert (sweeps[0], sweeps[-1]) == (1, n_sweeps)
    gaps = np.diff(sweeps)
    assert (gaps[:-1] == gaps[0]).all()
    assert 0 < gaps[-1] <= gaps[0] < n_sweeps / 3
    assert found.as_array()["gap"][-1] == 0.5


def test_bounds_are_the_best_so_far():
    bounds = Bounds()
    seen = []
    for objective, lower in ((inf, nan), (9.0, -inf), (8.0, 1.0), (8.5, 3.0), (nan, 2.0), (5.0, 4.0)):
        bounds.see(objective, lower)
        seen.append((bounds.objective, bounds.lower))
    np.testing.assert_equal(seen, [(nan, nan), (9.0, nan), (8.0, 1.0), (8.0, 3.0), (8.0, 3.0), (5.0, 4.0)])


def test_an_estimate_that_turns_out_too_low_is_replaced():
    bounds = Bounds()
    bounds.see(5.0, 4.0)
    bounds.see(7.0, 6.0)
    assert (bounds.objective, bounds.lower) == (7.0, 6.0)


def test_another_certificate_concludes_it():
    before = recorded(3).as_array()
    after = concluded(before, CERTIFICATE)
    assert np.isnan(before["gap"][-1])
    assert (after["objective"][-1], after["lower_bound"][-1], after["gap"][-1]) == (2.0, 1.0, 0.5)
    assert (after[:-1]["objective"] == before[:-1]["objective"]).all()
    assert concluded(before[:0], CERTIFICATE).size == 0
