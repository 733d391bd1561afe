"""How kernels are compiled."""

import numba
import pytest

from hingeline.kernels.compile import kernel


@kernel
def scaled(x, times, negative):
    """Return x that many times, or the negative of it."""
    return -x * times if negative else x * times


@kernel
def both_signs(x):
    """Return the sum of two calls with different constants."""
    return scaled(x, 2, True) + scaled(x, 3, False)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_constants_do_not_have_a_kernel_compiled_again():
    assert both_signs(1.5) == 1.5
    assert scaled(1.5, 4, True) == -6.0
    assert len(scaled.signatures) == 1
