"""Kernels are compiled by one of the processes that need them at the same time."""

import os
import sys
from pathlib import Path

import processes
import pytest

import hingeline

pytest.importorskip("fcntl")
KERNEL = """
from hingeline.kernels.compile import kernel

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) + inner(x + 0.5)
"""
CALLS = """
import sys
import compile_once
compile_once.install()
import kernels_of_test
print("ready", flush=True)
sys.stdin.readline()
assert kernels_of_test.outer(1) == 4.5
assert kernels_of_test.inner(1) == 2
assert kernels_of_test.inner(1.5) == 2.5
print(sum(sum(f.stats.cache_misses.values()) for f in (kernels_of_test.outer, kernels_of_test.inner)))
"""


def test_two_processes_share_the_work(tmp_path):
    (tmp_path / "kernels_of_test.py").write_text(KERNEL)
    package = Path(hingeline.__file__).resolve().parent.parent
    paths = os.pathsep.join(map(str, (tmp_path, Path(__file__).resolve().parent, package)))
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    misses = [int(out) for out, _ in processes.two_at_once([sys.executable, "-c", CALLS], env=environment)]
    assert sum(misses) == 3  # outer of integers, inner of integers and of floats
