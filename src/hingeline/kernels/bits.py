"""Three instructions on 64-bit words that numba does not offer. Compiled code only: their callers have plain twins."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@intrinsic
def load_word(typingctx: Any, text: Any, i: Any) -> Any:
    """``load_word(text, i)``: the bytes i to i + 7 of an array of bytes as one word, the first one lowest."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type = signature.args[0]
        struct = make_array(array_type)(context, builder, args[0])
        index = context.cast(builder, args[1], signature.args[1], types.intp)
        address = cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)
        word = builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, i), codegen


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
