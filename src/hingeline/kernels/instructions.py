"""The one instruction of all kernels that numba does not offer; imported when one with it is compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@intrinsic
def llvm_prefetch(typingctx: Any, array: Any, i: Any) -> Any:
    """``llvm_prefetch(array, i)``: the cache line of ``array[i]``, for reading, into all caches."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type = signature.args[0]
        struct = make_array(array_type)(context, builder, args[0])
        index = context.cast(builder, args[1], signature.args[1], types.intp)
        address = cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)
        byte_pointer = ir.IntType(8).as_pointer()
        i32 = ir.IntType(32)
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte_pointer], ir.FunctionType(ir.VoidType(), [byte_pointer, i32, i32, i32])
        )
        read, keep_in_all_caches, data_cache = i32(0), i32(3), i32(1)
        builder.call(fetch, [builder.bitcast(address, byte_pointer), read, keep_in_all_caches, data_cache])
        return context.get_dummy_value()

    return types.void(array, i), codegen
