"""Instructions that numba does not offer: loads from an address in memory, and counts of zero bits.

A function that takes an array and contains a branch costs numba's reference counting at every call, several times
what reading a digit costs. So text is passed on as the address where it begins, which is a number. Uncompiled,
``memory`` is the array itself; the other three instructions run in compiled code only, and their callers have twins in
plain Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

Memory: TypeAlias = Any  # where bytes begin: an address in compiled code, the array itself uncompiled
Position: TypeAlias = np.uint64  # of a byte
Byte: TypeAlias = np.uint8
Word: TypeAlias = np.uint64
Integer: TypeAlias = int | np.int64
Flag: TypeAlias = bool | np.bool_


def _load(bits: int) -> Callable[..., Any]:
    """Return the code generator that loads so many bits from base + i, which need not be aligned."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.inttoptr(builder.add(*args), ir.IntType(bits).as_pointer())
        loaded = builder.load(address, align=1)
        return loaded if bits == 8 or sys.byteorder == "little" else builder.bswap(loaded)

    return codegen


@intrinsic
def word_at(typingctx: Any, base: Any, i: Any) -> Any:
    """``word_at(base, i)``: the bytes i to i + 7 as one word, the first one lowest."""
    return types.uint64(types.uint64, types.uint64), _load(64)


@intrinsic
def _byte_at(typingctx: Any, base: Any, i: Any) -> Any:
    return types.uint8(types.uint64, types.uint64), _load(8)


def memory(text: np.ndarray) -> Memory:
    """Return where ``text``, an array of bytes, begins. The caller keeps the array alive, and stays within it."""
    return text


@overload(memory)
def _memory(text: Any) -> Callable[..., Any]:
    def compiled(text: Any) -> Any:
        return np.uint64(text.ctypes.data)

    return compiled


def byte_at(base: Memory, i: Position) -> Byte:
    """Return byte ``i`` of the bytes that begin at ``base``."""
    byte: Byte = base[i]
    return byte


@overload(byte_at)
def _overloaded_byte_at(base: Any, i: Any) -> Callable[..., Any]:
    def compiled(base: Any, i: Any) -> Any:
        return _byte_at(base, i)

    return compiled


@intrinsic
def leading_zeros(typingctx: Any, word: Any) -> Any:
    """``leading_zeros(word)``: zero bits above the highest one of a word that is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """``trailing_zeros(word)``: zero bits below the lowest one of a word that is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen
