"""Instructions that numba does not offer: loads from an address in memory, and counts of zero bits.

A function that takes an array and contains a branch costs numba's reference counting at every call, several times
what reading a digit costs. So text is passed on as the address where it begins, which is a number. Uncompiled,
``memory`` is the array itself; ``word_at`` and the counts run in compiled code only (``instructions.py``), and their
callers have twins in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...kernels.compile import in_kernels

Memory: TypeAlias = Any  # where bytes begin: an address in compiled code, the array itself uncompiled
Position: TypeAlias = np.uint64  # of a byte
Byte: TypeAlias = np.uint8
Word: TypeAlias = np.uint64
Integer: TypeAlias = int | np.int64
Flag: TypeAlias = bool | np.bool_


def memory(text: np.ndarray) -> Memory:
    """Return where ``text``, an array of bytes, begins. The caller keeps the array alive, and stays within it."""
    return text


def byte_at(base: Memory, i: Position) -> Byte:
    """Return byte ``i`` of the bytes that begin at ``base``."""
    byte: Byte = base[i]
    return byte


def word_at(base: Memory, i: Position) -> Word:
    """Return the bytes i to i + 7 as one word, the first one lowest."""
    raise NotImplementedError


def leading_zeros(word: Word) -> Word:
    """Return the number of zero bits above the highest one of a word that is not 0."""
    raise NotImplementedError


def trailing_zeros(word: Word) -> Word:
    """Return the number of zero bits below the lowest one of a word that is not 0."""
    raise NotImplementedError


@in_kernels(memory)
def _memory(text: Any) -> Callable[..., Any]:
    return lambda text: np.uint64(text.ctypes.data)


@in_kernels(byte_at)
def _byte_at(base: Any, i: Any) -> Callable[..., Any]:
    from .instructions import load_byte

    return lambda base, i: load_byte(base, i)


@in_kernels(word_at)
def _word_at(base: Any, i: Any) -> Callable[..., Any]:
    from .instructions import load_word

    return lambda base, i: load_word(base, i)


@in_kernels(leading_zeros)
def _leading_zeros(word: Any) -> Callable[..., Any]:
    from .instructions import count_leading_zeros

    return lambda word: count_leading_zeros(word)


@in_kernels(trailing_zeros)
def _trailing_zeros(word: Any) -> Callable[..., Any]:
    from .instructions import count_trailing_zeros

    return lambda word: count_trailing_zeros(word)
