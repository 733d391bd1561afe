"""The instructions behind ``bits.py``; imported when a kernel that uses them is compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _load(bits: int) -> Callable[..., Any]:
    """Return the code generator that loads so many bits from base + i, which need not be aligned."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.inttoptr(builder.add(*args), ir.IntType(bits).as_pointer())
        loaded = builder.load(address, align=1)
        return loaded if bits == 8 or sys.byteorder == "little" else builder.bswap(loaded)

    return codegen


@intrinsic
def load_word(typingctx: Any, base: Any, i: Any) -> Any:
    """``load_word(base, i)``: see ``bits.word_at``."""
    return types.uint64(types.uint64, types.uint64), _load(64)


@intrinsic
def load_byte(typingctx: Any, base: Any, i: Any) -> Any:
    """``load_byte(base, i)``: see ``bits.byte_at``."""
    return types.uint8(types.uint64, types.uint64), _load(8)


@intrinsic
def count_leading_zeros(typingctx: Any, word: Any) -> Any:
    """``count_leading_zeros(word)``: see ``bits.leading_zeros``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen


@intrinsic
def count_trailing_zeros(typingctx: Any, word: Any) -> Any:
    """``count_trailing_zeros(word)``: see ``bits.trailing_zeros``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen
