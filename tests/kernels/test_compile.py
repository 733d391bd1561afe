"""How kernels are compiled."""

import sys

import numba
import numpy as np
import pytest

from hingeline.kernels.compile import array_kernel, exact_array_kernel, exact_kernel, kernel

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
