"""numba's side of kernels: it is imported when the first of them is called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numba
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload

from ..runtime.set_apart import set_apart
from .cache import KernelCache
from .compile import Kernel, overloads
from .inner import InnerCompiler, KernelCompiler

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,  # no counting of references to arrays: callers hold on to what they pass, and few kernels make any
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody passes a kernel as a function: a twelfth of the first fit's compiling
}

INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def make_dispatcher(kernel: Kernel) -> None:
    """Have calls of ``kernel`` go to numba, or to a plain function if compilation is off."""
    with global_compiler_lock:  # several threads may call a kernel for the first time
        while overloads:
            function, choose = overloads.pop()
            overload(function, strict=False, jit_options={**OPTIONS, **INNER_OPTIONS, "forceinline": True})(choose)
        if kernel.dispatcher is None:
            kernel.dispatcher = kernel.uncompiled if numba.config.DISABLE_JIT else _dispatcher(kernel)
            if not kernel.stays_plain:
                kernel.__call__ = kernel.dispatcher


def _dispatcher(kernel: Kernel) -> Any:
    """Compile a function for Python, cached, and apart from that for other kernels, of which it becomes a part."""
    function, options = kernel.py_func, {**OPTIONS, **kernel.options}
    inner = cache(lambda: numba.njit(**options, **INNER_OPTIONS)(function))
    dispatcher = numba.njit(**options, pipeline_class=KernelCompiler)(function)
    dispatcher._cache = KernelCache(function)
    dispatcher.compile = _apart(dispatcher.compile)
    # What numba asks when another kernel calls this one:
    dispatcher.get_call_template = lambda args, kws: inner().get_call_template(*_without_constants(args, kws))
    dispatcher.get_overload = lambda signature: inner().get_overload(signature)
    dispatcher.inner = inner
    return dispatcher


def _apart(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    """Keep compiling and loading apart from training."""

    @wraps(compile_for)
    def compile_whole(signature: Any) -> Any:
        with set_apart():
            return compile_for(signature)

    return compile_whole


def _without_constants(args: Any, kws: Any) -> tuple[Any, Any]:
    """Have a kernel compiled once for all constants that kernels call it with: numba takes each for a type."""
    return tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
