"""What tests may rely on when they start processes."""

import signal
import sys

import processes
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
WAITS = """
import time
try:
    print("running", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_ctrl_c_reaches_a_process_whoever_started_the_tests(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        with processes.started([sys.executable, "-c", WAITS]) as process:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=30)[0] == "interrupted\n"
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_test_that_fails_leaves_no_process_behind():
    with pytest.raises(ZeroDivisionError), processes.started([sys.executable, "-c", WAITS]) as process:
        raise ZeroDivisionError
    assert process.returncode == -signal.SIGKILL


def test_time_is_up():
    with pytest.raises(processes.subprocess.TimeoutExpired):
        processes.run([sys.executable, "-c", WAITS], timeout=0.1)
    done = processes.run([sys.executable, "-c", "import sys; print(1); sys.exit(3)"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "1\n", "")
