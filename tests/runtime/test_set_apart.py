"""Importing numba and compiling are no training."""

import gc
import os
import sys
from threading import Event, Thread

import pytest

from hingeline.runtime import set_apart as module
from hingeline.runtime import training_clock
from hingeline.runtime.set_apart import set_apart


def test_the_clock_stands_still_and_no_garbage_is_collected():
    assert gc.isenabled()
    with set_apart():
        assert not gc.isenabled()
        before = training_clock.now()
        with set_apart():
            pass
        assert not gc.isenabled()
        assert training_clock.now() == before
    assert gc.isenabled()


def test_an_error_passes_and_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError), set_apart():
        raise ZeroDivisionError
    assert gc.isenabled()
    assert training_clock._state.depth == 0


def test_garbage_that_nobody_wants_collected_stays():
    gc.disable()
    try:
        with set_apart():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_garbage_is_collected_again_if_one_thread_leaves_while_another_enters(monkeypatch):
    first_is_in, first_may_leave, first_is_out = Event(), Event(), Event()

    def first():
        with set_apart():
            first_is_in.set()
            first_may_leave.wait()
        first_is_out.set()

    def second():
        first_is_in.wait()
        monkeypatch.setattr(sys.modules[set_apart.__module__], "gc", Asked)
        with set_apart():
            let_first_leave()

    def let_first_leave():
        first_may_leave.set()
        first_is_out.wait(timeout=10)

    class Asked:
        """The collector of garbage; between a question and what follows from the answer, the first thread leaves."""

        enable, disable = staticmethod(gc.enable), staticmethod(gc.disable)
        freeze, unfreeze = staticmethod(gc.freeze), staticmethod(gc.unfreeze)
        get_freeze_count = staticmethod(gc.get_freeze_count)

        @staticmethod
        def isenabled():
            answer = gc.isenabled()
            let_first_leave()
            return answer

    threads = [Thread(target=first), Thread(target=second)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_is_inside_leaves_nothing_behind():
    inside, leave = Event(), Event()

    def stay():
        with set_apart():
            inside.set()
            leave.wait()

    thread = Thread(target=stay)
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        with set_apart():
            inner = gc.isenabled()
        os._exit(0 if gc.isenabled() and not inner else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()


@pytest.fixture
def collections():
    """Return the generations that are collected in this thread, as it happens."""
    seen = []

    def note(phase, info):
        seen.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


@pytest.mark.parametrize("left", [0, 2])
def test_what_was_made_is_not_looked_through_at_once(monkeypatch, collections, left):
    monkeypatch.setattr(module, "_left", left)
    with set_apart():
        kept = [[] for _ in range(100_000)]
    kept.append([])
    assert bool(collections) == (left == 0)
    assert module._left == max(0, left - 1)


def test_what_the_program_has_frozen_stays_frozen(monkeypatch):
    monkeypatch.setattr(module, "_left", 2)
    gc.freeze()
    try:
        with set_apart():
            pass
        assert gc.get_freeze_count() > 0
        assert module._left == 2
    finally:
        gc.unfreeze()
