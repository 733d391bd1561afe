"""Long calls on a separate thread: their results and errors arrive, and Ctrl-C does not wait for them."""

import os
import signal
import sys
from threading import Event, current_thread, main_thread

import pytest

from hingeline.runtime.aside import LONG, aside


def test_short_work_stays_and_long_work_goes():
    assert aside(current_thread, LONG - 1) is main_thread()
    assert aside(current_thread, LONG) is not main_thread()
    assert aside(lambda: aside(current_thread, LONG) is current_thread(), LONG)  # from another thread it stays


def test_errors_arrive():
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 // 0, LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
def test_ctrl_c_does_not_wait():
    over = Event()

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        assert over.wait(timeout=30)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            aside(work, LONG)
        assert not over.is_set()
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
