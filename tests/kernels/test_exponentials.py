"""Exponentials and logarithms that use the vector units, against decimals of forty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from hingeline.kernels.bits import bits_of, minus, number_of
from hingeline.kernels.compile import kernel
from hingeline.kernels.exponentials import decay, log_one_plus, logarithm, plain_decay, plain_logarithm

ULPS = 6 * 2.0**-53
EXACT = {
    decay: lambda x: (-x).exp(),
    log_one_plus: lambda x: (1 + x).ln(),
    logarithm: lambda x: x.ln(),
}


def numbers(function, rng):
    """Return numbers of all sizes that the function is made for."""
    if function is decay:
        return np.r_[3.0 * rng.random(200), 700.0 * rng.random(200), 10.0 ** -rng.uniform(0.0, 300.0, 50)]
    if function is log_one_plus:
        return np.r_[rng.random(300), 10.0 ** -rng.uniform(0.0, 15.0, 100), math.sqrt(2.0) - 1.0, 1.0]
    return np.r_[3.0 * rng.random(200), 1.0 + 1e-8 * rng.normal(size=100), 10.0 ** rng.uniform(-307.0, 308.0, 100)]


@pytest.mark.parametrize("function", EXACT, ids=["decay", "log_one_plus", "logarithm"])
def test_right_to_the_last_digits(function):
    with localcontext() as context:
        context.prec = 40
        for x in numbers(function, np.random.default_rng(0)).tolist():
            exact = EXACT[function](Decimal(x))
            assert abs(Decimal(float(function(x))) - exact) <= Decimal(ULPS) * abs(exact), x


def test_ends():
    assert decay(0.0) == 1.0
    assert decay(math.inf) == decay(1e308) == decay(746.0) == 0.0
    assert math.isnan(decay(math.nan))
    assert decay(720.0) == pytest.approx(math.exp(-720.0), abs=1e-323)  # a denormal number
    assert log_one_plus(0.0) == 0.0
    assert log_one_plus(1e-300) == 1e-300
    assert logarithm(1.0) == 0.0
    for x in (5e-324, 1e-310, 2.3e-308, 1.7e308):
        assert logarithm(x) == pytest.approx(math.log(x), rel=1e-15)


def test_plain_twins():
    """What runs if compilation is off."""
    for x in (0.0, 1e-9, 0.5, 40.0, 800.0):
        assert decay(x) == pytest.approx(plain_decay(x), rel=1e-15)
    for x in (5e-324, 0.7, 1e300):
        assert logarithm(x) == pytest.approx(plain_logarithm(x), rel=1e-15)
    assert plain_logarithm(0.0) == plain_logarithm(-1.0) == math.log(5e-324)


@kernel
def sum_over(x, of_log):
    """Sum exponentials or logarithms, in a loop that the compiler may turn into vector instructions."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += logarithm(x[i]) if of_log else decay(x[i])
    return total


def test_loops():
    x = np.random.default_rng(1).random(1003) * 5.0
    assert sum_over(x, False) == pytest.approx(np.exp(-x).sum(), rel=1e-14)
    assert sum_over(x, True) == pytest.approx(np.log(x).sum(), rel=1e-13)


@kernel
def rounded(x):
    """Round to an integer by adding and taking away a large number, which the compiler must not cancel."""
    return minus(x + 1.5 * 2.0**52, 1.5 * 2.0**52)


@kernel
def there_and_back(x):
    """Return the number whose bits are those of x."""
    return number_of(bits_of(x))


def test_bits_and_differences_as_written():
    for x in (0.3, 2.6, -7.4, 1e9 + 0.25):
        assert rounded(x) == float(round(x))
    for x in (0.0, -1.5, 5e-324, 1e308, math.inf):
        assert there_and_back(x) == x
        assert number_of(bits_of(x)) == x  # in plain Python
    assert bits_of(1.0) == 1023 << 52
    assert minus(3.0, 1.0) == 2.0
