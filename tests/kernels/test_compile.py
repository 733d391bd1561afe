"""How kernels are compiled."""

import os
import pickle
import signal
import sys
from threading import Barrier, Thread

import numba
import numpy as np
import processes
import pytest

from hingeline.kernels import compiler
from hingeline.kernels.compile import array_kernel, exact_array_kernel, exact_kernel, in_kernels, kernel
from hingeline.runtime import training_clock

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def afresh(tmp_path, monkeypatch):
    """Find nothing that was compiled earlier."""
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))


def two_kernels():
    """Return a kernel and another one that calls it twice, with different constants."""

    @kernel
    def scaled(x, times, negative):
        return -x * times if negative else x * times

    @kernel
    def both_signs(x):
        return scaled(x, 2, True) + scaled(x, 3, False)

    return scaled, both_signs


@compiled
def test_constants_do_not_have_a_kernel_compiled_again(afresh):
    scaled, both_signs = two_kernels()
    assert both_signs(1.5) == 1.5
    assert scaled(1.5, 4, True) == -6.0
    assert len(scaled.inner().signatures) == len(scaled.signatures) == 1


@compiled
def test_what_only_kernels_call_has_no_machine_code(afresh):
    """Its code becomes a part of the kernel's, and is optimised and turned into machine code there."""
    scaled, both_signs = two_kernels()
    assert both_signs(2.5) == 2.5
    (signature,) = scaled.inner().signatures
    library = scaled.inner().overloads[signature].library
    assert not library._object_caching_enabled
    text = library.get_llvm_str()
    assert "cpython" not in text
    assert "NRT_incref" not in text
    own = both_signs.overloads[both_signs.signatures[0]].library.get_llvm_str()
    assert own.count("define ") <= 2  # the function and its wrapper for Python: everything else is inlined


@kernel
def total(x):
    """Return the sum of a vector."""
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


@exact_kernel
def exact_total(x):
    """Return the sum of a vector, from the first entry to the last."""
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


@pytest.mark.parametrize("make", [array_kernel, exact_array_kernel])
def test_kernels_that_make_arrays(make):
    part = exact_total if make is exact_array_kernel else total

    @make
    def total_of_squares(x):
        squares = np.empty(x.size)
        for i in range(x.size):
            squares[i] = x[i] * x[i]
        return part(squares)

    x = np.random.default_rng(0).normal(size=1000)
    for _ in range(3):
        assert total_of_squares(x) == pytest.approx(x @ x, rel=1e-12)
    assert part(x) == pytest.approx(x.sum(), rel=1e-12)


def test_arrays_outlive_kernels_that_do_not_count_references():
    """Kernels borrow the arrays of their callers: nothing is freed too soon, and nothing is kept."""
    x = np.random.default_rng(0).normal(size=100)
    total(x)
    before = sys.getrefcount(x)
    for _ in range(100):
        total(x)
        total(x[10:20])
        total(np.ones(7) * 2.0)
    assert sys.getrefcount(x) == before
    assert total(x) == pytest.approx(x.sum(), rel=1e-12)


@compiled
def test_kernels_that_may_not_make_arrays_say_so():
    @kernel
    def wrong(x):
        return np.empty(x.size)

    with pytest.raises(numba.TypingError, match="array"):
        wrong(np.ones(3))


def test_a_kernel_looks_like_its_function():
    assert total.__name__ == "total"
    assert total.__doc__ == "Return the sum of a vector."
    assert total.py_func(np.ones(3)) == 3.0
    assert not hasattr(total, "nonsense")


@compiled
def test_threads_share_what_the_first_of_them_makes(afresh):
    scaled, both_signs = two_kernels()
    together, results = Barrier(8), []

    def call():
        together.wait()
        results.append(both_signs(1.5))

    threads = [Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1.5] * 8
    assert sum(both_signs.stats.cache_misses.values()) == 1
    assert len(scaled.inner().signatures) == 1


@compiled
def test_other_functions_of_numbas_may_call_kernels():
    scaled, _ = two_kernels()

    @numba.njit
    def thrice(x):
        return scaled(x, 3, False)

    assert thrice(1.5) == 4.5


@compiled
def test_a_pickled_kernel_is_still_compiled():
    again = pickle.loads(pickle.dumps(total))
    assert again(np.ones(3)) == 3.0
    assert again.signatures


def test_kernels_use_what_stands_for_a_function():
    def where():
        return "Python"

    @in_kernels(where)
    def choose():
        return lambda: "a kernel"

    @kernel
    def ask():
        return where()

    assert where() == "Python"
    assert ask() == "Python" if numba.config.DISABLE_JIT else "a kernel"


def test_what_makes_a_kernel_is_not_interrupted_and_takes_no_time_of_training(monkeypatch):
    """It may import numba."""
    scaled, _ = two_kernels()
    make, seen = compiler.make_dispatcher, []

    def interrupted(kernel):
        signal.raise_signal(signal.SIGINT)
        seen.append(training_clock._state.depth)
        make(kernel)

    monkeypatch.setattr(compiler, "make_dispatcher", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scaled(1.5, 4, True)
    assert seen == [1]
    assert scaled(1.5, 4, True) == -6.0
    assert seen == [1]


UNCOMPILED = """
from hingeline.kernels.compile import kernel
def compiled(x): return "compiled"
def plain(x): return "plain"
print(kernel(plain)(1), kernel(compiled, uncompiled=plain)(1))
"""


def test_nothing_is_compiled_if_that_is_off():
    done = processes.run([sys.executable, "-c", UNCOMPILED], env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert done.stdout.split() == ["plain", "plain"], done.stderr
