"""Kernels are compiled by one of the processes that need them at the same time."""

import os
import sys
from pathlib import Path

import processes
import pytest

pytest.importorskip("fcntl")
KERNEL = """
import numba

@numba.njit(cache=True)
def inner(x):
    return x + 1

@numba.njit(cache=True)
def outer(x):
    return inner(x) + inner(x + 0.5)
"""
CALLS = """
import sys
import compile_once
compile_once.install()
import kernel
print("ready", flush=True)
sys.stdin.readline()
assert kernel.outer(1) == 4.5
print(sum(sum(f.stats.cache_misses.values()) for f in (kernel.outer, kernel.inner)))
"""


def test_two_processes_share_the_work(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parent)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    how = {"env": environment, "stdin": processes.subprocess.PIPE}
    command = [sys.executable, "-c", CALLS]
    with processes.started(command, **how) as one, processes.started(command, **how) as other:
        for process in (one, other):
            assert process.stdout.readline() == "ready\n"
        for process in (one, other):
            process.stdin.write("go\n")
            process.stdin.flush()
        misses = [int(process.communicate(timeout=120)[0]) for process in (one, other)]
    assert sum(misses) == 3  # outer of integers, inner of integers and of floats
