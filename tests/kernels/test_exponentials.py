"""Exponentials and logarithms that use the vector units, against decimals of forty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from hingeline import Logistic
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.bits import bits_of, minus, number_of
from hingeline.kernels.cache import needed
from hingeline.kernels.compile import kernel
from hingeline.kernels.exponentials import decay, log_one_plus, logarithm, plain_decay, plain_logarithm, rough_exp
from hingeline.solvers.shards.sample import losses_at_zero

ULPS = 6 * 2.0**-53


@kernel
def decays(x):
    """Replace numbers by their exponentials, in a loop that the compiler may turn into vector instructions."""
    for i in range(np.uint64(x.size)):
        x[i] = decay(x[i])


@kernel
def logs_of_sums(x):
    """Replace numbers by the logarithms of 1 + x."""
    for i in range(np.uint64(x.size)):
        x[i] = log_one_plus(x[i])


@kernel
def logarithms(x):
    """Replace numbers by their logarithms."""
    for i in range(np.uint64(x.size)):
        x[i] = logarithm(x[i])


EXACT = {
    decays: lambda x: (-x).exp(),
    logs_of_sums: lambda x: (1 + x).ln(),
    logarithms: lambda x: x.ln(),
}


def of(function, *numbers):
    """Return what a kernel makes of some numbers."""
    out = np.array(numbers)
    function(out)
    return out if len(numbers) > 1 else float(out[0])


def numbers(function, rng):
    """Return numbers of all sizes that the function is made for."""
    if function is decays:
        return np.r_[3.0 * rng.random(200), 700.0 * rng.random(200), 10.0 ** -rng.uniform(0.0, 300.0, 50)]
    if function is logs_of_sums:
        return np.r_[rng.random(300), 10.0 ** -rng.uniform(0.0, 15.0, 100), math.sqrt(2.0) - 1.0, 1.0]
    return np.r_[3.0 * rng.random(200), 1.0 + 1e-8 * rng.normal(size=100), 10.0 ** rng.uniform(-307.0, 308.0, 100)]


@pytest.mark.parametrize("function", EXACT, ids=lambda function: function.__name__)
def test_right_to_the_last_digits(function):
    with localcontext() as context:
        context.prec = 40
        x = numbers(function, np.random.default_rng(0)).tolist()
        for number, found in zip(x, of(function, *x).tolist(), strict=True):
            exact = EXACT[function](Decimal(number))
            assert abs(Decimal(found) - exact) <= Decimal(ULPS) * abs(exact), number


def test_ends():
    assert of(decays, 0.0) == 1.0
    assert of(decays, math.inf) == of(decays, 1e308) == of(decays, 746.0) == 0.0
    assert math.isnan(of(decays, math.nan))
    assert of(decays, 720.0) == pytest.approx(math.exp(-720.0), abs=1e-323)  # a denormal number
    assert of(logs_of_sums, 0.0) == 0.0
    assert of(logs_of_sums, 1e-300) == 1e-300
    assert of(logarithms, 1.0) == 0.0
    for x in (5e-324, 1e-310, 2.3e-308, 1.7e308):
        assert of(logarithms, x) == pytest.approx(math.log(x), rel=1e-15)


@kernel
def rough_exps(x):
    """Replace numbers by their exponentials, roughly."""
    for i in range(np.uint64(x.size)):
        x[i] = rough_exp(x[i])


def test_rough():
    x = np.r_[0.0, -0.2, 30.0, np.random.default_rng(3).uniform(-700.0, 700.0, 500)]
    np.testing.assert_allclose(of(rough_exps, *x), np.exp(x), rtol=2e-8)
    assert of(rough_exps, 0.0) == 1.0
    assert rough_exp(0.3) == math.exp(0.3)  # in plain Python


def test_python_calls_the_plain_functions():
    """So do kernels if compilation is off. A single number is not worth compiling for."""
    assert decay(0.5) == plain_decay(0.5) == math.exp(-0.5)
    assert log_one_plus(0.5) == math.log1p(0.5)
    assert logarithm(0.7) == plain_logarithm(0.7) == math.log(0.7)
    assert plain_logarithm(0.0) == plain_logarithm(-1.0) == math.log(5e-324)
    before = len(needed)
    assert losses_at_zero(make_problem(read_data(np.ones((2, 1))), np.array([1.0, -1.0]), None, Logistic(1.0)))
    assert not [name for name, _ in needed[before:] if name.startswith(("exponentials", "logistic"))]


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
