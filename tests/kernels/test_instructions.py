"""Functions of Python that become instructions of a kernel."""

import os
import sys
from itertools import product
from math import inf, nan

import numba
import numpy as np
import processes
import pytest
from numba.core import event

from hingeline.kernels.compile import exact_kernel, kernel

NUMBERS = (0.0, -0.0, 1.5, -2.5, inf, -inf, nan)


@exact_kernel
def extremes(a, b):
    """Return the smaller and the larger of two numbers."""
    return min(a, b), max(a, b)


@kernel
def extremes_of_three(a, b, c):
    """Return the smallest and the largest of three numbers."""
    return min(a, b, c), max(a, b, c)


def bits(numbers):
    """Return the bits of numbers, so that signs of zeros and NaN count."""
    return np.array(numbers, dtype=float).view(np.uint64).tolist()


@pytest.mark.parametrize(("a", "b"), list(product(NUMBERS, NUMBERS)))
def test_extremes_are_those_of_python(a, b):
    assert bits(extremes(a, b)) == bits((min(a, b), max(a, b)))


@pytest.mark.parametrize(
    ("a", "b"), [(1, 2.5), (3, 2), (np.uint64(7), np.uint64(9)), (np.float32(0.1), 0.2), (np.uint32(5), np.uint64(4))]
)
def test_extremes_of_other_types(a, b):
    assert extremes(a, b) == (min(a, b), max(a, b))


def test_extremes_of_three_numbers():
    for numbers in product((1.0, 2.0, 3.0), repeat=3):
        assert extremes_of_three(*numbers) == (min(numbers), max(numbers))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_numba_compiles_no_function_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))

    @kernel
    def clipped(x, low, high):
        return min(max(x, low), high)

    with event.install_recorder("numba:compile") as recorder:
        assert clipped(2.5, 0.0, 1.0) == 1.0
    compiled = [seen.data["dispatcher"].py_func.__name__ for _, seen in recorder.buffer if seen.is_start]
    assert compiled == ["clipped"]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_what_they_are_not_for_is_an_error():
    @kernel
    def wrong(x):
        return max(x, 1.0)

    with pytest.raises(numba.TypingError):
        wrong(np.ones(3))


LOADING = """
import sys
import numpy as np
from hingeline.kernels.passes import squared_length
print(squared_length(np.ones(3)), "hingeline.kernels.instructions" in sys.modules)
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_on_disk_are_loaded_without_them(tmp_path):
    """They import much of numba."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in ("True", "False"):
        done = processes.run([sys.executable, "-c", LOADING], env=environment)
        assert done.stdout.split() == ["3.0", expected], done.stderr
