"""What lives on a worker."""

import gc
import threading
from types import SimpleNamespace

import numpy as np
from problems import classification

from hingeline import Hinge, SquaredHinge
from hingeline.dask import host
from hingeline.dask.resident import Resident
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import ALONE


def test_room_that_a_problem_leaves_changes_nothing_for_the_next_one():
    X, y = classification(300, 5, seed=2)
    data, w, room = read_data(X, 0.0), np.full(6, 0.1), {}
    for loss, delta in ((SquaredHinge(1.0), 0.0), (Hinge(1.0), 0.5), (Hinge(3.0), 0.5), (SquaredHinge(2.0), 0.0)):
        problem = make_problem(data, y.astype(np.float32), None, loss)
        fresh, second = Resident({0: problem}, ALONE, do_nothing), Resident({0: problem}, ALONE, do_nothing, room)
        for left, right in zip(fresh.begin(w, delta), second.begin(w, delta), strict=True):
            np.testing.assert_array_equal(left, right)
        np.testing.assert_array_equal(fresh.gram(), second.gram())
        assert not room
        second.leave_room()
        assert set(room) == {0}


def test_a_host_that_is_gone_leaves_its_threads_to_others(monkeypatch):
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=3))
    monkeypatch.setattr(host, "get_worker", lambda: worker)
    for _ in range(4):
        host.Host(())
        gc.collect()
    before = threading.active_count()
    for _ in range(4):
        host.Host(())
        gc.collect()
    assert threading.active_count() == before


def test_dual_variables_of_rows_that_were_lost_fit_w():
    """Those of Newton's method are smoothed: a row near its kink is between its bounds, the others are at one."""
    X, y = classification(300, 5, seed=2)
    data, w, C, delta = read_data(X, 0.0), np.full(6, 0.1), 2.0, 0.5
    missing = 1.0 - y * (X @ w[:5])
    hard, smoothed = (C * (missing > 0.0), C * np.clip(0.5 + missing / (2.0 * delta), 0.0, 1.0))
    assert ((smoothed > 0.0) & (smoothed < C)).any()
    for width, expected in ((None, hard), (delta, smoothed)):
        resident = Resident({0: make_problem(data, y.astype(np.float32), None, Hinge(C))}, ALONE, do_nothing)
        resident.revive(w, width)
        np.testing.assert_allclose(resident.shards[0].alpha, expected, atol=1e-6)
