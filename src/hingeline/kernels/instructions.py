"""What becomes a few instructions of the kernel that asks for it, where numba would compile a function first.

``prefetch`` is not in numba at all, nor are numbers as bits (``bits.py``). ``min`` and ``max`` are, but each pair of
types costs a function of numba's own, with everything that Python would need to call it: a tenth of the first fit's
compiling. ``inner.py`` has kernels call ``least`` and ``largest`` instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array

from .bits import bits_of, minus, number_of
from .prefetch import prefetch


def least(*numbers: Any) -> Any:
    """``min`` of two numbers or more, in kernels."""


def largest(*numbers: Any) -> Any:
    """``max`` of two numbers or more, in kernels."""


class OfNumbers(AbstractTemplate):
    """The type of ``least`` and ``largest``: the one that numba finds for all their arguments."""

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature for these arguments, None if there is none."""
        if len(args) > 1 and not kws and all(isinstance(kind, types.Number | types.Boolean) for kind in args):
            common = self.context.unify_types(*args)
            return None if common is None else signature(common, *args)
        return None


def _first_that(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Return the code generator for the first argument that no other one beats: as in Python, if there are NaN too."""

    def codegen(context: Any, builder: Any, own: Any, args: Any) -> Any:
        common = own.return_type
        best, *others = (context.cast(builder, arg, kind, common) for kind, arg in zip(own.args, args, strict=True))
        beats = context.get_function(compare, signature(types.boolean, common, common))
        for other in others:
            best = builder.select(beats(builder, (other, best)), other, best)
        return best

    return codegen


for function, compare in ((least, operator.lt), (largest, operator.gt)):
    infer_global(function)(type(function.__name__, (OfNumbers,), {"key": function}))
    lower_builtin(function, types.VarArg(types.Any))(_first_that(compare))


@type_callable(prefetch)
def _type_of_prefetch(context: Any) -> Callable[..., Any]:
    def kind(array: Any, i: Any) -> Any:
        return types.void if isinstance(array, types.Array) and isinstance(i, types.Integer) else None

    return kind


@lower_builtin(prefetch, types.Array, types.Integer)
def _prefetch(context: Any, builder: Any, own: Any, args: Any) -> Any:
    """Fetch the cache line of ``array[i]``, for reading, into all caches."""
    array_type = own.args[0]
    struct = make_array(array_type)(context, builder, args[0])
    index = context.cast(builder, args[1], own.args[1], types.intp)
    address = cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)
    byte_pointer = ir.IntType(8).as_pointer()
    i32 = ir.IntType(32)
    fetch = builder.module.declare_intrinsic(
        "llvm.prefetch", [byte_pointer], ir.FunctionType(ir.VoidType(), [byte_pointer, i32, i32, i32])
    )
    read, keep_in_all_caches, data_cache = i32(0), i32(3), i32(1)
    builder.call(fetch, [builder.bitcast(address, byte_pointer), read, keep_in_all_caches, data_cache])
    return context.get_dummy_value()


@type_callable(bits_of)
def _type_of_bits_of(context: Any) -> Callable[..., Any]:
    return lambda x: types.uint64 if x == types.float64 else None


@lower_builtin(bits_of, types.float64)
def _bits_of(context: Any, builder: Any, own: Any, args: Any) -> Any:
    return builder.bitcast(args[0], ir.IntType(64))


@type_callable(number_of)
def _type_of_number_of(context: Any) -> Callable[..., Any]:
    return lambda bits: types.float64 if bits == types.uint64 else None


@lower_builtin(number_of, types.uint64)
def _number_of(context: Any, builder: Any, own: Any, args: Any) -> Any:
    return builder.bitcast(args[0], ir.DoubleType())


@type_callable(minus)
def _type_of_minus(context: Any) -> Callable[..., Any]:
    return lambda a, b: types.float64 if isinstance(a, types.Float) and isinstance(b, types.Float) else None


@lower_builtin(minus, types.Float, types.Float)
def _minus(context: Any, builder: Any, own: Any, args: Any) -> Any:
    """Subtract with a flag of its own, so that it does not get those by which kernels re-associate sums."""
    a, b = (context.cast(builder, arg, kind, types.float64) for arg, kind in zip(args, own.args, strict=True))
    return builder.fsub(a, b, flags=("arcp",))
