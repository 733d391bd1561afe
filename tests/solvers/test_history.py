"""The history of a run: whole while it is short, evenly thinned when it is long."""

from math import nan

import numpy as np
import pytest

from hingeline.solution import HISTORY
from hingeline.solvers import history
from hingeline.solvers.history import History


def recorded(n_sweeps):
    found = History()
    for k in range(1, n_sweeps + 1):
        found.add((k, 0.5 * k, 10 * k, 1.0 / k, nan))
    return found


def test_nothing():
    empty = History()
    empty.set_last_gap(0.5)
    assert empty.as_array().size == 0
    assert empty.as_array().dtype == HISTORY


def test_a_short_one_is_whole():
    found = recorded(7)
    found.set_last_gap(0.5)
    records = found.as_array()
    np.testing.assert_array_equal(records["sweep"], np.arange(1, 8))
    np.testing.assert_array_equal(records["steps"], 10 * np.arange(1, 8))
    np.testing.assert_array_equal(records["gap"], [nan] * 6 + [0.5])


@pytest.mark.parametrize("n_sweeps", [9, 10, 16, 17, 1000, 1001])
def test_a_long_one_is_thinned_evenly(monkeypatch, n_sweeps):
    monkeypatch.setattr(history, "MOST_RECORDS", 8)
    found = recorded(n_sweeps)
    found.set_last_gap(0.5)
    sweeps = found.as_array()["sweep"]
    assert sweeps.size <= 8 + 1
    assert (sweeps[0], sweeps[-1]) == (1, n_sweeps)
    gaps = np.diff(sweeps)
    assert (gaps[:-1] == gaps[0]).all()
    assert 0 < gaps[-1] <= gaps[0] < n_sweeps / 3
    assert found.as_array()["gap"][-1] == 0.5
