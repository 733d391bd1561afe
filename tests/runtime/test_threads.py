"""Threads that share a pass: every slice once, sums in order, and nothing left running when one of them fails."""

from queue import SimpleQueue
from threading import Event, get_ident
from time import sleep

import numpy as np
import pytest
from problems import LOSSES, classification, csr

from hingeline import LinearSVC, solve
from hingeline.data import read
from hingeline.runtime import threads
from hingeline.runtime.threads import Team
from hingeline.solvers import train
from hingeline.solvers.shards import in_memory


@pytest.fixture
def every_problem_is_shared(monkeypatch):
    monkeypatch.setattr(train, "WORTH_SHARING", 0)
    monkeypatch.setattr(read, "WORTH_SHARING", 0)
    monkeypatch.setattr(in_memory, "WORTH_SHARING", 0)
    monkeypatch.setattr(in_memory, "LEAST_STORED", 1)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 100])
def test_every_unit_is_worked_on_once_and_in_order(n_threads, n):
    with Team(n_threads) as team:
        pace = team.pace(first=7)
        assert pace.n_parts == n_threads
        done = pace.each(n, lambda part, begin, end: list(range(begin, end)))
    assert [unit for slice_ in done for unit in slice_] == list(range(n))


def test_each_part_has_a_thread_and_an_accumulator_of_its_own():
    with Team(3) as team:
        met = [Event() for _ in range(3)]

        def work(part, begin, end):
            met[part].set()
            assert met[(part + 1) % 3].wait(timeout=30)  # only where all of them work at the same time
            return part, begin, end, get_ident()

        done = team.pace().each(10, work)
    assert [slice_[:3] for slice_ in done] == [(0, 0, 3), (1, 3, 6), (2, 6, 10)]
    assert len({slice_[3] for slice_ in done}) == 3
    assert done[0][3] == get_ident()  # the caller works too


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_ends_the_pass_for_all(failing):
    with Team(2) as team:
        pace, started = team.pace(first=1), Event()

        def work(part, begin, end):
            if part == failing:
                assert started.wait(timeout=30)
                raise KeyboardInterrupt if part == 0 else ZeroDivisionError
            started.set()

        with pytest.raises(KeyboardInterrupt if failing == 0 else ZeroDivisionError):
            pace.each(10**4, work)
        assert pace.each(4, lambda part, begin, end: part)[0] == 0  # and the next one begins afresh


class InterruptedAfterwards(SimpleQueue):
    """A queue whose first item is taken, and then Ctrl-C comes; asked for more than there will be, it fails."""

    interrupted = False

    def get(self):
        item = super().get(timeout=30)
        if not self.interrupted:
            self.interrupted = True
            raise KeyboardInterrupt
        return item


def test_ctrl_c_right_after_a_part_has_ended(monkeypatch):
    with Team(3) as team:
        monkeypatch.setattr(threads, "SimpleQueue", InterruptedAfterwards)
        with pytest.raises(KeyboardInterrupt):
            team.each(3, lambda part: sleep(0.02 * (part > 0)))  # the caller waits for the others


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("engine", ["newton", "hybrid"])
def test_threads_change_nothing_but_roundings(engine, loss, every_problem_is_shared):
    X, y = classification(n=800, d=5)
    alone, *shared = (
        solve(csr(X), y, LOSSES[loss](1.0), solver=engine, tol=1e-8, random_state=0, n_jobs=n, bias=1.0)
        for n in (1, 2, 3, 3)
    )
    for one in shared:
        assert one.converged
        np.testing.assert_allclose(one.w, alone.w, rtol=1e-6)
        np.testing.assert_allclose(one.certificate.primal, alone.certificate.primal, rtol=1e-9)
    np.testing.assert_array_equal(shared[1].w, shared[2].w)
    assert shared[1].n_steps == shared[2].n_steps


@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimators_share_what_classes_leave(n_classes, every_problem_is_shared):
    X, y = classification(n=200, d=4, n_classes=n_classes)
    one, many = (LinearSVC(tol=1e-8, random_state=0, n_jobs=n).fit(X, y) for n in (1, 7))
    np.testing.assert_allclose(one.coef_, many.coef_, rtol=1e-6)


@pytest.mark.parametrize("distinct", [True, False])
def test_rows_are_checked_by_all(every_problem_is_shared, distinct):
    X = csr(classification(50, 6, seed=1)[0])
    if not distinct:
        X.indices[1] = X.indices[0]
    alone, shared = read.read_data(X, 0.5), read.read_data(X, 0.5, n_threads=3)
    np.testing.assert_array_equal(alone.q, shared.q)
    assert shared.distinct is alone.distinct is distinct


def test_the_first_of_several_broken_rows_is_named(every_problem_is_shared):
    X = csr(classification(50, 6, seed=1)[0])
    X.indices[[X.indptr[11], X.indptr[40]]] = 77
    with pytest.raises(ValueError, match="column index 77 in row 11"):
        read.read_data(X, n_threads=3)
    X = csr(classification(50, 6, seed=1)[0])
    X.data[[X.indptr[7], X.indptr[41]]] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 7"):
        read.read_data(X, n_threads=3)
