"""Importing numba and compiling are no training."""

import gc

import pytest

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
