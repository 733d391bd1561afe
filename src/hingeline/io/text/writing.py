"""Rows to svmlight text: the shortest decimals that read back as the same numbers, and their digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import exact_array_kernel, exact_kernel
from ...kernels.types import Counts, Vector
from .bits import Integer, Position

MOST_DECIMALS = 17
HARD = -1  # decimals of a number that is left to Python

# Bytes at the most: "-0.12345678901234567", or what Python writes, and a blank; an index and its colon.
NUMBER_BYTES, INDEX_BYTES = 27, 21

_LARGEST_MANTISSA = 2.0**53
_EXACT_TENS = np.array([10.0**k for k in range(MOST_DECIMALS + 1)])
_TENS = np.array([10**k for k in range(MOST_DECIMALS + 1)], dtype=np.int64)
_1 = np.uint64(1)
_LINE_FEED, _SPACE, _COMMA, _MINUS, _POINT, _ZERO, _COLON = 10, 32, 44, 45, 46, 48, 58


class Decimals(NamedTuple):
    """Numbers, and the text that each of them becomes: its sign and mantissa / 10^decimals.

    ``text`` holds the numbers whose ``decimals`` are ``HARD``, as Python writes them, each followed by a comma.
    """

    numbers: Vector
    mantissas: Counts
    decimals: Counts
    text: Vector


@exact_array_kernel
def shortest_decimals(values: Vector, mantissas: Counts, decimals: Counts) -> int:
    """Find m and the least k with m / 10^k, rounded to the type of ``values``, equal to |value|.

    Both are doubles, so the quotient is what a correct reader makes of the text "m / 10^k". Returns how many values
    are ``HARD``: have no such m and k.
    """
    n_hard = 0
    probe = np.empty_like(values[:1])
    for i in range(values.shape[0]):
        value = abs(np.float64(values[i]))
        decimals[i] = HARD
        for k in range(MOST_DECIMALS + 1):
            mantissa = np.rint(value * _EXACT_TENS[k])
            if mantissa > _LARGEST_MANTISSA:
                break
            probe[0] = mantissa / _EXACT_TENS[k]
            if np.float64(probe[0]) == value:
                mantissas[i], decimals[i] = np.int64(mantissa), k
                break
        n_hard += decimals[i] == HARD
    return n_hard


@exact_kernel
def _write_integer(out: Vector, at: Position, number: Integer, width: Integer) -> Position:
    """Write ``number`` with at least ``width`` digits; return where the text ends."""
    count, rest = 1, number // 10
    while rest > 0 or count < width:
        rest //= 10
        count += 1
    end = at + np.uint64(count)
    place = end
    while place > at:
        place -= _1
        out[place] = _ZERO + number % 10
        number //= 10
    return end


@exact_kernel
def _write_number(out: Vector, at: Position, negative: bool, mantissa: Integer, decimals: Integer) -> Position:
    """Write mantissa / 10^decimals; return where the text ends."""
    if negative:
        out[at] = _MINUS
        at += _1
    ten = _TENS[decimals]
    at = _write_integer(out, at, mantissa // ten, 1)
    if decimals > 0:
        out[at] = _POINT
        at = _write_integer(out, at + _1, mantissa % ten, decimals)
    return at


@exact_kernel
def _copy_number(out: Vector, at: Position, text: Vector, i: Position) -> tuple[Position, Position]:
    """Copy what Python wrote, up to the next comma; return where both texts go on."""
    while text[i] != _COMMA:
        out[at] = text[i]
        at += _1
        i += _1
    return at, i + _1


@exact_kernel
def write_rows(
    out: Vector, labels: Decimals, queries: Counts, indptr: Counts, indices: Counts, base: int, values: Decimals
) -> Integer:
    """Write rows as text to ``out``; return its length.

    ``indices`` and ``values`` belong to these rows only, ``indptr`` to the whole matrix; ``queries`` is empty if there
    are none; ``base`` is the index of the first column.
    """
    label_numbers, label_mantissas, label_decimals, label_text = labels
    numbers, mantissas, decimals, value_text = values
    at = np.uint64(0)
    next_label = next_value = np.uint64(0)
    for r in range(label_numbers.shape[0]):
        if label_decimals[r] == HARD:
            at, next_label = _copy_number(out, at, label_text, next_label)
        else:
            at = _write_number(out, at, np.signbit(label_numbers[r]), label_mantissas[r], label_decimals[r])
        if queries.shape[0] > 0:
            for byte in (_SPACE, 113, 105, 100, _COLON):
                out[at] = byte
                at += _1
            at = _write_number(out, at, queries[r] < 0, abs(queries[r]), 0)
        for e in range(indptr[r] - indptr[0], indptr[r + 1] - indptr[0]):
            out[at] = _SPACE
            at = _write_integer(out, at + _1, np.int64(indices[e]) + base, 1)
            out[at] = _COLON
            at += _1
            if decimals[e] == HARD:
                at, next_value = _copy_number(out, at, value_text, next_value)
            else:
                at = _write_number(out, at, np.signbit(numbers[e]), mantissas[e], decimals[e])
        out[at] = _LINE_FEED
        at += _1
    return np.int64(at)
