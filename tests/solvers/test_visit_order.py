"""Who is visited, how often and in which order."""

import numpy as np
import pytest

from hingeline.kernels.random import seeded
from hingeline.runtime.pace import Pace
from hingeline.solvers.visit_order import new_accounts, order_visits, total_preference


def test_once_is_once_in_another_order():
    A, order = np.arange(3, 53, dtype=np.uint32), np.empty(100, dtype=np.uint32)
    p = np.ones(60, dtype=np.float32)
    I = order_visits(p, A, new_accounts(60), order, once=True, rng=seeded(1), pace=Pace())
    assert not np.array_equal(I, A)
    np.testing.assert_array_equal(np.sort(I), A)


def test_visits_follow_the_preferences_within_one_visit():
    rng = np.random.default_rng(0)
    p = np.exp(rng.normal(size=40)).astype(np.float32)
    A = np.flatnonzero(rng.random(40) < 0.7).astype(np.uint32)
    accounts, order, state = new_accounts(40), np.empty(80, dtype=np.uint32), seeded(2)
    counts, sweeps = np.zeros(40), 25
    for _ in range(sweeps):
        I = order_visits(p, A, accounts, order, once=False, rng=state, pace=Pace())
        counts += np.bincount(I, minlength=40)
    assert total_preference(p, A, Pace()) == pytest.approx(A.size, rel=1e-5)  # scaled to mean one
    assert not counts[np.setdiff1d(np.arange(40), A)].any()
    assert np.abs(counts[A] - sweeps * p[A]).max() < 1.01


def test_no_sweep_is_a_burst():
    """Accounts that began at zero would fall due together."""
    p, A, accounts = np.full(1000, 0.5, dtype=np.float32), np.arange(1000, dtype=np.uint32), new_accounts(1000)
    p[0] = 500.5  # so that the others are due every other sweep
    visits = [
        np.unique(order_visits(p, A, accounts, np.empty(2000, np.uint32), once=False, rng=seeded(0), pace=Pace())).size
        for _ in range(4)
    ]
    assert max(visits) < 1.2 * min(visits)
