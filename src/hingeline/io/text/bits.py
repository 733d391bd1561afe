"""Bytes and bits as the processor sees them: loads from memory, and counts of zeros, which numba does not offer.

Helpers that take an array and contain a branch cost numba's reference counting at every call, several times what
reading a digit costs. So text is handed on as the address where it begins, which is a number. Uncompiled, ``memory``
is the array itself; the other three instructions run in compiled code only, and their callers have plain twins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


def _load(bits: int) -> Callable[..., Any]:
    """Return the code generator of a load, which need not be aligned, of so many bits at base + i."""

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


def memory(text: Any) -> Any:
    """Return where ``text``, an array of bytes, begins. Who calls keeps the array alive, and within its bounds."""
    return text


@overload(memory)
def _memory(text: Any) -> Callable[..., Any]:
    def compiled(text: Any) -> Any:
        return np.uint64(text.ctypes.data)

    return compiled


def byte_at(base: Any, i: Any) -> Any:
    """Return the byte ``i`` of what begins at ``base``."""
    return base[i]


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
