"""Importing numba and compiling are no training."""

import gc

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
