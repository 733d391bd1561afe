"""Decimal text to numbers: runs of digits eight at a time, and mantissa x 10^exponent to the nearest double.

A double is found exactly, as Python's ``float`` finds it, in two ways: one correctly rounded operation if mantissa
and power of ten are doubles themselves (Clinger, 1990), else one or two 64 x 64 bit products with a table of powers of
five (Lemire, *Number parsing at a gigabyte per second*, 2021). What neither decides (more than 19 digits, results that
overflow or are subnormal) is left to the caller, who asks Python.

Words of 64 bits wrap around here; NumPy scalars warn about that when they run uncompiled, hence the twins in plain
Python.
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import exact_kernel
from .bits import Integer, Memory, Position, Word, leading_zeros, trailing_zeros, word_at

MOST_DIGITS = 19  # any number of so many digits is below 2^64
SMALLEST_EXPONENT, LARGEST_EXPONENT = -342, 308

EIGHT = np.uint64(8)
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)  # added to a byte, sets its high bit if the byte is 10 or more
_HIGH_BITS = np.uint64(0x8080808080808080)
_WHOLE_BYTES = np.uint64(56)  # mask: the multiples of 8 below 64
_PAIR, _TEN, _TEN_TO_8 = np.uint64(0x000000FF000000FF), np.uint64(10), np.uint64(10**8)
_EVEN_PAIRS, _ODD_PAIRS = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))
_16, _32 = np.uint64(16), np.uint64(32)
_TENS = np.array([10**k for k in range(8)], dtype=np.uint64)

_TWO_TO_53 = np.uint64(2**53)
_EXACT_TENS = np.array([10.0**k for k in range(23)])
_TWOS = np.array([2.0**k for k in range(-1074, 972)])
_0, _1, _2, _3, _9 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(9)
_63 = np.uint64(63)
_LOW_HALF, _ALL_ONES, _LOW_NINE = np.uint64(2**32 - 1), np.uint64(2**64 - 1), np.uint64(0x1FF)


def _powers_of_five() -> np.ndarray:
    """The 128 leading bits of 5^q, upper word first: truncated, but rounded up if q is in [-27, -1]."""
    words = np.empty((LARGEST_EXPONENT - SMALLEST_EXPONENT + 1, 2), dtype=np.uint64)
    for q in range(SMALLEST_EXPONENT, LARGEST_EXPONENT + 1):
        power = 5 ** abs(q)
        if q < 0:
            room = (power - 1).bit_length()
            power = (1 << (room + 127 if q >= -27 else 2 * room + 128)) // power + 1
        surplus = power.bit_length() - 128
        power = power >> surplus if surplus > 0 else power << -surplus
        words[q - SMALLEST_EXPONENT] = power >> 64, power & (2**64 - 1)
    return words


_FIVES = _powers_of_five()


def _digits(text: Memory, i: Position, value: Word) -> tuple[Word, Position]:
    while True:
        word = word_at(text, i) ^ _ASCII_ZEROS
        others = ((word + _ABOVE_NINE) | word) & _HIGH_BITS
        if others == _0:
            value = value * _TEN_TO_8 + _eight_digits(word)
            i += EIGHT
            continue
        bits = trailing_zeros(others) & _WHOLE_BYTES
        count = bits >> _3
        value = value * _TENS[count] + _eight_digits((word << (_WHOLE_BYTES - bits)) << EIGHT)
        return value, i + count


@exact_kernel
def _eight_digits(word: Word) -> Word:
    """The number whose digits are the bytes of ``word``, the lowest byte being the first digit."""
    word = word * _TEN + (word >> EIGHT)
    return ((word & _PAIR) * _EVEN_PAIRS + ((word >> _16) & _PAIR) * _ODD_PAIRS) >> _32


def plain_digits(text: Memory, i: Position, value: Word) -> tuple[Word, Position]:
    """Append the run of digits at byte i of ``text``, a ``memory``, to ``value``; return that and where the run ends.

    The compiled twin reads up to 8 bytes past the run and computes modulo 2^64.
    """
    total = int(value)
    while 48 <= text[i] <= 57:
        total = total * 10 + int(text[i]) - 48
        i += _1
    return np.uint64(total & (2**64 - 1)), i


def _nearest_double(mantissa: Word, exponent: Integer) -> tuple[float, bool]:
    if mantissa <= _TWO_TO_53:
        if 0 <= exponent <= 22:
            return np.float64(mantissa) * _EXACT_TENS[np.uint64(exponent)], True
        if -22 <= exponent < 0:
            return np.float64(mantissa) / _EXACT_TENS[np.uint64(-exponent)], True
    if mantissa == _0:
        return 0.0, True
    if exponent < SMALLEST_EXPONENT or exponent > LARGEST_EXPONENT:
        return 0.0, False
    return _lemire(mantissa, exponent)


@exact_kernel
def _lemire(mantissa: Word, exponent: Integer) -> tuple[float, bool]:
    zeros = leading_zeros(mantissa)
    w = mantissa << zeros
    q = np.uint64(exponent - SMALLEST_EXPONENT)
    high, low = _product(w, _FIVES[q, 0])
    if high & _LOW_NINE == _LOW_NINE:  # the table's lower word may still change the bits that are kept
        more, _ = _product(w, _FIVES[q, 1])
        low = low + more
        if low < more:
            high += _1
    if low == _ALL_ONES and not -27 <= exponent <= 55:
        return 0.0, False
    top = high >> _63
    shift = top + _9
    kept = high >> shift  # 54 bits: one more than a double has
    if low <= _1 and -4 <= exponent <= 23 and kept & _3 == _1 and kept << shift == high:
        kept -= _1  # halfway between two doubles: to the even one
    kept = (kept + (kept & _1)) >> _1
    # 10^q = 5^q 2^q; 217706 / 2^16 = log2(10), exact enough for every q in the table.
    power = ((217706 * exponent) >> 16) + np.int64(top) - np.int64(zeros) + 11
    if power <= -1074 or power > 970:  # subnormal, or at the edge of overflow
        return 0.0, False
    return np.float64(kept) * _TWOS[np.uint64(power + 1074)], True


@exact_kernel
def _product(a: Word, b: Word) -> tuple[Word, Word]:
    """Upper and lower word of a b."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _32, b & _LOW_HALF, b >> _32
    low, high = a_low * b_low, a_high * b_high
    cross = a_high * b_low + (low >> _32)
    middle = a_low * b_high + (cross & _LOW_HALF)
    return high + (cross >> _32) + (middle >> _32), (middle << _32) | (low & _LOW_HALF)


def plain_nearest_double(mantissa: Word, exponent: Integer) -> tuple[float, bool]:
    """Return the double nearest to mantissa x 10^exponent, and whether it could be decided."""
    value = float(f"{int(mantissa)}e{int(exponent)}")
    return value, 1e-300 < value < 1e300 or int(mantissa) == 0


digits = exact_kernel(_digits, uncompiled=plain_digits)
nearest_double = exact_kernel(_nearest_double, uncompiled=plain_nearest_double)
