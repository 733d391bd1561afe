"""How every kernel of hingeline is compiled, and the one instruction numba does not offer.

A kernel is cached on disk, runs without the GIL, divides as NumPy does (no ZeroDivisionError) and may
re-associate sums (so that dot products use the vector units). It may not assume that numbers are finite:
infinite bounds are part of the squared hinge's problem.

A kernel that Python calls returns plain tuples, never NamedTuples: numba runs Python code to make one, and if Ctrl-C
has arrived meanwhile, it is raised inside that code, where nothing handles it: the process crashes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from ..runtime.interrupt import held_back
from ..runtime.training_clock import standing_still
from .cache import KernelCache
from .types import Index

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz"}
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody passes a kernel as a function: a twelfth of the first fit's compiling
}


def kernel(function: F) -> F:
    """Compile ``function``: cached, without the GIL, signatures found at the first call."""
    return _cached(numba.njit(**OPTIONS, fastmath=FASTMATH)(function))


def exact_kernel(function: F) -> F:
    """Compile ``function`` as ``kernel`` does, but with every operation as written: signs of zeros count."""
    return _cached(numba.njit(**OPTIONS)(function))


def _cached(compiled: Any) -> Any:
    """Keep compiled code on disk; does nothing if compilation is off (``NUMBA_DISABLE_JIT=1``)."""
    if hasattr(compiled, "py_func"):
        compiled._cache = KernelCache(compiled.py_func)
        compiled.compile = _apart(compiled.compile)
        compiled.get_call_template = _once(compiled.get_call_template)
    return compiled


def _apart(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    """Keep compiling and loading apart from training: the clock stands still, and Ctrl-C waits.

    An exception in the middle of LLVM's work would break later compilations.
    """

    @wraps(compile_for)
    def compile_whole(signature: Any) -> Any:
        with standing_still(), held_back():
            return compile_for(signature)

    return compile_whole


def _once(template_for: Callable[..., Any]) -> Callable[..., Any]:
    """Have a kernel compiled once for all constants that kernels call it with: numba takes each for a type."""

    @wraps(template_for)
    def template_without_constants(args: Any, kws: Any) -> Any:
        return template_for(tuple(map(types.unliteral, args)), {k: types.unliteral(kind) for k, kind in kws.items()})

    return template_without_constants


def by_type(implementations: dict[Any, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function that chooses its implementation by the class of its first argument, a NamedTuple.

    Compiled code chooses at compile time; uncompiled (``NUMBA_DISABLE_JIT=1``) the look-up happens at the call.
    Function-valued arguments would do as well, but numba does not cache kernels that take them.
    """

    def verb(first: Any, *rest: Any) -> Any:
        return implementations[type(first)](first, *rest)

    @overload(verb, strict=False)
    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        return implementations.get(getattr(first, "instance_class", None))

    return verb


@intrinsic
def _llvm_prefetch(typingctx: Any, array: Any, i: Any) -> Any:
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


def prefetch(array: np.ndarray, i: Index) -> None:
    """Prefetch the cache line of ``array[i]``; never faults, returns at once. Does nothing if compilation is off."""


@overload(prefetch)
def _prefetch(array: Any, i: Any) -> Callable[..., None]:
    def compiled(array: Any, i: Any) -> None:  # numba wants the same annotations as above
        _llvm_prefetch(array, i)

    return compiled
