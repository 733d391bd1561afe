"""Processes that tests start: Ctrl-C reaches them, whoever started the tests, and none is left behind."""

import signal
import subprocess
from contextlib import contextmanager

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@contextmanager
def started(command, **options):
    """Start a process with the usual answer to Ctrl-C; it is ended at the end of the ``with`` statement, if not before.

    A shell that ignores Ctrl-C hands that down to all its children; what Python itself does about it is not inherited.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([str(word) for word in command], **{**PIPES, **options})
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    try:
        yield process
    finally:
        process.kill()
        with process:  # waits for it, and closes its pipes
            pass


def run(command, *, timeout=120, **options):
    """Run a process of ``started`` to its end, and return its status and what it wrote."""
    with started(command, **options) as process:
        out, err = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def two_at_once(command, *, timeout=120, **options):
    """Start a process twice, let both go on when each has said that it is ready; return what each has written."""
    how = {"stdin": subprocess.PIPE, **options}
    with started(command, **how) as one, started(command, **how) as other:
        for process in (one, other):
            assert process.stdout.readline() == "ready\n"
        for process in (one, other):
            process.stdin.write("go\n")
            process.stdin.flush()
        return [process.communicate(timeout=timeout) for process in (one, other)]
