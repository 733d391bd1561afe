"""Exponentials and logarithms without branches and calls, so that loops over them use the vector units.

The functions of the C library are called number by number. A loop over these takes a seventh of the time (AVX-512; on a
CPU without wide vectors, about the same), and their results are wrong by two or three units of rounding at most.

    exp(-x) = 2^-n exp(r)                 n = x/log(2), rounded; |r| <= log(2)/2: a Taylor polynomial
    log(1 + f) = 2 artanh(f/(2 + f))      1 + f between 0.7 and 1.42: a series
"""

from __future__ import annotations

import math
from math import sqrt

import numpy as np

from .bits import bits_of, minus, number_of
from .compile import inlined_kernel

ROUNDING = 1.5 * 2.0**52  # adding it rounds a number to an integer, which the lowest bits of the sum hold
TO_BINARY = 1.0 / math.log(2.0)
LOG_2 = math.log(2.0)
LOG_2_HIGH = float.fromhex("0x1.62e42feep-1")  # few digits, so that multiples are exact
LOG_2_LOW = 1.9082149292705877e-10
VANISHING = 1000.0  # exp(-x) is zero from 746 on
ROOT_2 = sqrt(2.0)
LEAST_NORMAL, TO_NORMAL, DIGITS = 2.2250738585072014e-308, 2.0**54, 54.0
LEAST_NUMBER, TWO_TO_52 = 5e-324, 2.0**52

_ONE, _MANTISSA, _BIAS = np.uint64(1), np.uint64(52), np.uint64(1023)
_INTEGER = np.uint64(0x7FF)
_FRACTION, _OF_ONE, _OF_TWO_TO_52 = np.uint64(2**52 - 1), np.uint64(1023 << 52), np.uint64((1023 + 52) << 52)


def plain_decay(x: float) -> float:
    """Return exp(-x), in plain Python."""
    return math.exp(-x)


def plain_logarithm(x: float) -> float:
    """Return log(x), in plain Python; below the least number, that of the least number."""
    return math.log(max(x, LEAST_NUMBER))


def _decay(x: float) -> float:
    """Return exp(-x) for x >= 0."""
    x = min(x, VANISHING)
    rounded = x * TO_BINARY + ROUNDING
    n, integer = minus(rounded, ROUNDING), bits_of(rounded) & _INTEGER
    r = minus(minus(n * LOG_2_HIGH, x), n * -LOG_2_LOW)
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = 1.0 + (r + p * r * r)
    half = integer >> _ONE  # 2^-n in two factors, since it may be a denormal number
    return p * number_of((_BIAS - half) << _MANTISSA) * number_of((_BIAS - (integer - half)) << _MANTISSA)


def _rough_exp(x: float) -> float:
    """Return exp(x) to eight digits, for |x| up to 700."""
    rounded = x * TO_BINARY + ROUNDING
    r = x - minus(rounded, ROUNDING) * LOG_2
    p = 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    return (1.0 + (r + p * r * r)) * number_of((bits_of(rounded) + _BIAS) << _MANTISSA)


@inlined_kernel
def _log_near_one(f: float) -> float:
    """Return log(1 + f) for 1 + f between sqrt(1/2) and sqrt(2)."""
    s = f / (2.0 + f)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return 2.0 * (s + s * z * p)


def _log_one_plus(x: float) -> float:
    """Return log(1 + x) for x between 0 and 1."""
    is_large = x > ROOT_2 - 1.0
    return _log_near_one(0.5 * minus(x, 1.0) if is_large else x) + (LOG_2 if is_large else 0.0)


def _logarithm(x: float) -> float:
    """Return log(x) for a positive, finite number."""
    is_tiny = x < LEAST_NORMAL
    bits = bits_of(x * TO_NORMAL if is_tiny else x)
    n = minus(number_of((bits >> _MANTISSA) | _OF_TWO_TO_52), TWO_TO_52 + 1023.0)
    m = number_of((bits & _FRACTION) | _OF_ONE)
    is_large = m > ROOT_2
    n += (1.0 if is_large else 0.0) - (DIGITS if is_tiny else 0.0)
    return n * LOG_2_HIGH + (_log_near_one(minus(0.5 * m if is_large else m, 1.0)) + n * LOG_2_LOW)


decay = inlined_kernel(_decay, plain_decay)
log_one_plus = inlined_kernel(_log_one_plus, math.log1p)
logarithm = inlined_kernel(_logarithm, plain_logarithm)
rough_exp = inlined_kernel(_rough_exp, math.exp)
