"""How every kernel of hingeline is compiled, and the one instruction numba does not offer.

A kernel is cached on disk, runs without the GIL, divides as NumPy does (no ZeroDivisionError) and may
re-associate sums (so that dot products use the vector units). It may not assume that numbers are finite:
infinite bounds are part of the squared hinge's problem.

A kernel that Python calls returns plain tuples, never NamedTuples: numba runs Python code to make one, and if Ctrl-C
has arrived meanwhile, it is raised inside that code, where nothing handles it: the process crashes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
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
from .inner import InnerCompiler, KernelCompiler
from .types import Index

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz"}
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,  # no counting of references to arrays: callers hold on to what they pass, and few kernels make any
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody passes a kernel as a function: a twelfth of the first fit's compiling
}

INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def kernel(function: F) -> F:
    """Compile ``function``: cached, without the GIL, signatures found at the first call."""
    return _compiled(function, fastmath=FASTMATH)


def exact_kernel(function: F) -> F:
    """Compile ``function`` as ``kernel`` does, but with every operation as written: signs of zeros count."""
    return _compiled(function)


def array_kernel(function: F) -> F:
    """Compile ``function`` as ``kernel`` does; it may make arrays."""
    return _compiled(function, fastmath=FASTMATH, _nrt=True)


def exact_array_kernel(function: F) -> F:
    """Compile ``function`` as ``exact_kernel`` does; it may make arrays."""
    return _compiled(function, _nrt=True)


def _compiled(function: Any, **more: Any) -> Any:
    """Compile ``function`` for Python, cached, and apart from that for other kernels, of which it becomes a part."""
    options = {**OPTIONS, **more}
    compiled = numba.njit(**options, pipeline_class=KernelCompiler)(function)
    if hasattr(compiled, "py_func"):  # compilation is not off (``NUMBA_DISABLE_JIT=1``)
        inner = cache(lambda: numba.njit(**options, **INNER_OPTIONS)(function))
        compiled._cache = KernelCache(function)
        compiled.compile = _apart(compiled.compile)
        # What numba asks when another kernel calls this one:
        compiled.get_call_template = lambda args, kws: inner().get_call_template(*_without_constants(args, kws))
        compiled.get_overload = lambda signature: inner().get_overload(signature)
        compiled.inner = inner
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


def _without_constants(args: Any, kws: Any) -> tuple[Any, Any]:
    """Have a kernel compiled once for all constants that kernels call it with: numba takes each for a type."""
    return tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}


def by_type(implementations: dict[Any, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function that chooses its implementation by the class of its first argument, a NamedTuple.

    Compiled code chooses at compile time; uncompiled (``NUMBA_DISABLE_JIT=1``) the look-up happens at the call.
    Function-valued arguments would do as well, but numba does not cache kernels that take them.
    """

    def verb(first: Any, *rest: Any) -> Any:
        return implementations[type(first)](first, *rest)

    @overload(verb, strict=False, jit_options={**OPTIONS, **INNER_OPTIONS})
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


@overload(prefetch, jit_options={**OPTIONS, **INNER_OPTIONS})
def _prefetch(array: Any, i: Any) -> Callable[..., None]:
    def compiled(array: Any, i: Any) -> None:  # numba wants the same annotations as above
        _llvm_prefetch(array, i)

    return compiled
