"""Ctrl-C that waits."""

import signal
import threading

import pytest
from fault_rows import row

from hingeline.kernels import compile as compiling
from hingeline.runtime.interrupt import ends_training, held_back


def test_ctrl_c_waits_for_the_end():
    reached = []
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012 (the point is what comes first)
        signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_is_not_swallowed():
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_and_foreign_handlers_stay():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for waits in (held_back, ends_training):
            with waits():
                assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_the_handler_alone():
    seen = []

    def enter():
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@row("interrupt-compile")
def test_a_kernel_is_compiled_whole():
    """An exception in the midst of compiling has crashed the next call."""

    @compiling.kernel
    def twice(x):
        return 2.0 * x

    twice._cache.load_overload = lambda *args: None  # compiled by an earlier run, it would not be compiled again
    started, original = [], twice._compiler.compile

    def interrupted(*args):
        started.append(signal.raise_signal(signal.SIGINT))
        return original(*args)

    twice._compiler.compile = interrupted
    with pytest.raises(KeyboardInterrupt):
        twice(1.0)
    assert started
    twice._compiler.compile = original
    assert len(twice.signatures) == 1  # it is there, although the call was interrupted
    assert twice(1.5) == 3.0
