"""Lines of svmlight text to labels and rows: a parser that can stop between two entries and continue from there.

    <label> [qid:<integer>] <index>:<value> <index>:<value> ... [# comment]

The text is whole lines: its last byte is a line feed, so that no run of bytes needs to look for the end, and SPARE more
bytes may be read behind it. At a malformed line the parser stops at the wrong byte and returns a code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import exact_kernel
from ...kernels.types import Counts, Matrix, Vector
from .bits import Byte, Flag, Integer, Memory, Position, Word, byte_at, memory
from .decimal import MOST_DIGITS, digits, nearest_double

SPARE = 16  # bytes behind the text that may be read

# What a call returns. Everything but DONE and FULL is about the text at state[POSITION].
DONE = 0  # the parser has passed `stop`, between two entries
FULL = 1  # there is no more room for numbers that only Python can read: read them, then continue
BAD_LABEL = 2
BAD_QUERY = 3
NO_QUERY = 4
BAD_INDEX = 5
OUT_OF_RANGE = 6
REPEATED = 7
BAD_VALUE = 8
TOO_LARGE_VALUE = 9

# The state with which the next call continues.
POSITION, LINES, ROWS, ENTRIES, PREVIOUS, INSIDE, HARD, UNSORTED, SIZE_OF_STATE = range(9)

NO_ENTRY = -1  # a number left to Python is recorded with its entry; NO_ENTRY - r stands for the label of row r

_1, _2 = np.uint64(1), np.uint64(2)
_TAB, _LINE_FEED, _CARRIAGE_RETURN, _SPACE, _HASH, _PLUS = 9, 10, 13, 32, 35, 43
_MINUS, _POINT, _ZERO, _NINE, _COLON, _LOWER_E, _Q = 45, 46, 48, 57, 58, 101, 113
_LOWER_CASE = 32
_HUGE_EXPONENT = 100_000
_MOST_QUERY_DIGITS = 18
_NOTHING = np.uint64(0)


class Parsed(NamedTuple):
    """Where the parser writes what it reads.

    Attributes
    ----------
    labels : one per row
    ends : one per row
        ``ends[r]`` is the number of entries up to the end of row r.
    queries : one per row, unless they are not needed
    indices, values : one per entry
    hard : ndarray of shape (most, 3)
        Entry, begin and end of each number that is left to Python.
    """

    labels: Vector
    ends: Counts
    queries: Counts
    indices: Counts
    values: Vector
    hard: Matrix


class Limits(NamedTuple):
    """What the text may hold."""

    smallest_index: int
    largest_index: int
    overflow: float  # values from here on are refused
    need_query: bool  # every row needs a ``qid:``


@exact_kernel
def _is_blank(byte: Byte) -> Flag:
    return byte == _SPACE or (_TAB <= byte <= _CARRIAGE_RETURN and byte != _LINE_FEED)


@exact_kernel
def _ends_token(byte: Byte) -> Flag:
    return _TAB <= byte <= _CARRIAGE_RETURN or byte in (_SPACE, _HASH)


@exact_kernel
def _number(text: Memory, i: Position) -> tuple[Position, Word, Integer, Flag]:
    """Read a decimal number; return where it ends, its mantissa, its power of ten, whether 64 bits held it.

    If there is none, it ends where it begins.
    """
    begin = i
    if byte_at(text, i) == _MINUS or byte_at(text, i) == _PLUS:
        i += _1
    first = i
    mantissa, i = digits(text, i, _NOTHING)
    count = np.int64(i - first)
    exponent = np.int64(0)
    if byte_at(text, i) == _POINT:
        fraction = i + _1
        mantissa, i = digits(text, fraction, mantissa)
        exponent = -np.int64(i - fraction)
        count -= exponent
    if count == 0:
        return begin, mantissa, exponent, True
    if count > MOST_DIGITS:
        while byte_at(text, first) == _ZERO or byte_at(text, first) == _POINT:
            count -= np.int64(byte_at(text, first) == _ZERO)
            first += _1
    if byte_at(text, i) | _LOWER_CASE == _LOWER_E:
        i += _1
        negative = byte_at(text, i) == _MINUS
        if negative or byte_at(text, i) == _PLUS:
            i += _1
        first = i
        word, i = digits(text, i, _NOTHING)
        if i == first:
            return begin, mantissa, exponent, True
        power = np.int64(word) if word < _HUGE_EXPONENT and i - first <= MOST_DIGITS else _HUGE_EXPONENT
        exponent += -power if negative else power
    return i, mantissa, exponent, count <= MOST_DIGITS


@exact_kernel
def _query(text: Memory, i: Position) -> tuple[Position, Integer]:
    """Read ``qid:<integer>``; return where it ends (where it begins, if it is wrong), and the integer."""
    begin = i
    if not (byte_at(text, i + _1) == 105 and byte_at(text, i + _2) == 100 and byte_at(text, i + _1 + _2) == _COLON):
        return begin, np.int64(0)
    i += _2 + _2
    negative = byte_at(text, i) == _MINUS
    if negative or byte_at(text, i) == _PLUS:
        i += _1
    first = i
    number, i = digits(text, i, _NOTHING)
    if i == first or i - first > _MOST_QUERY_DIGITS or not _ends_token(byte_at(text, i)):
        return begin, np.int64(0)
    return i, -np.int64(number) if negative else np.int64(number)


@exact_kernel
def parse_lines(text_bytes: Vector, stop: int, state: Counts, parsed: Parsed, limits: Limits) -> int:
    """Continue from ``state`` to the first entry or line that begins at ``stop`` or behind it; return a code."""
    labels, ends, queries, indices, values, hard = parsed
    smallest, largest, overflow, need_query = limits
    text = memory(text_bytes)
    i, last = np.uint64(state[POSITION]), np.uint64(stop)
    row, entry = np.uint64(state[ROWS]), np.uint64(state[ENTRIES])
    lines, n_hard = state[LINES], state[HARD]
    previous, inside, unsorted = state[PREVIOUS], state[INSIDE], state[UNSORTED]
    code = DONE
    while i < last:
        while _is_blank(byte_at(text, i)):
            i += _1
        byte = byte_at(text, i)
        if byte in (_LINE_FEED, _HASH):
            while byte_at(text, i) != _LINE_FEED:
                i += _1
            i += _1
            lines += 1
            if inside:
                ends[row] = entry
                row += _1
                inside = 0
            continue
        if n_hard == hard.shape[0]:
            code = FULL
            break
        if inside:
            first = i
            index_word, i = digits(text, i, _NOTHING)
            length = i - first
            index = np.int64(index_word)
            if byte_at(text, i) != _COLON or length == 0:
                i, code = first, BAD_INDEX
                break
            if index < smallest or index > largest or length >= MOST_DIGITS:
                # Leading zeros do not make a number large.
                while byte_at(text, first) == _ZERO and byte_at(text, first + _1) != _COLON:
                    first += _1
                if index < smallest or index > largest or i - first >= MOST_DIGITS:
                    i, code = first, OUT_OF_RANGE
                    break
            if index <= previous:
                if index == previous:
                    i, code = first, REPEATED
                    break
                unsorted = 1
            previous = index
            indices[entry] = index
            i += _1
            byte = byte_at(text, i)
            if _ZERO <= byte <= _NINE and _ends_token(byte_at(text, i + _1)):
                values[entry] = np.int64(byte) - _ZERO
                entry += _1
                i += _1
                continue
        begin = i
        i, mantissa, exponent, fits = _number(text, i)
        if i == begin or not _ends_token(byte_at(text, i)):
            i, code = begin, BAD_VALUE if inside else BAD_LABEL
            break
        value, exact = nearest_double(mantissa, exponent)
        if not (exact and fits):
            hard[n_hard, 0] = np.int64(entry) if inside else NO_ENTRY - np.int64(row)
            hard[n_hard, 1], hard[n_hard, 2] = begin, i
            n_hard += 1
        elif inside and value >= overflow:
            i, code = begin, TOO_LARGE_VALUE
            break
        if byte_at(text, begin) == _MINUS:
            value = -value
        if inside:
            values[entry] = value
            entry += _1
            continue
        labels[row] = value
        inside, previous = 1, np.int64(-1)
        while _is_blank(byte_at(text, i)):
            i += _1
        if byte_at(text, i) == _Q:
            begin = i
            i, query = _query(text, i)
            if i == begin:
                code = BAD_QUERY
                break
            if need_query:
                queries[row] = query
        elif need_query:
            code = NO_QUERY
            break
    state[POSITION], state[LINES], state[ROWS], state[ENTRIES] = i, lines, row, entry
    state[PREVIOUS], state[INSIDE], state[HARD], state[UNSORTED] = previous, inside, n_hard, unsorted
    return code
