"""How a function becomes a kernel.

A kernel is cached on disk, runs without the GIL, divides as NumPy does (no ZeroDivisionError) and may
re-associate sums (so that dot products use the vector units). It may not assume that numbers are finite:
infinite bounds are part of the squared hinge's problem.

A kernel that Python calls returns plain tuples, never NamedTuples: numba runs Python code to make one, and if Ctrl-C
has arrived meanwhile, it is raised inside that code, where nothing handles it: the process crashes.

numba takes longer to import than this package, so it is imported when the first kernel is called. Nothing in this file
needs it; ``compiler.py`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from ..runtime.set_apart import set_apart

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz"}
overloads: list[tuple[Any, Any]] = []  # functions and their ``in_kernels``, until numba is told about them


class Kernel:
    """A function, and from its first call on what numba makes of it.

    Parameters
    ----------
    function : function
        What is compiled.
    uncompiled : function or None
        What runs instead if compilation is off (``NUMBA_DISABLE_JIT=1``); None: ``function`` itself.
    stays_plain : bool
        Python calls what is not compiled, too.
    options : dict
        For numba.
    """

    # The method is a slot, so that a call leads to numba's dispatcher without a detour through Python code.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        uncompiled: Callable[..., Any] | None,
        stays_plain: bool = False,
        **options: Any,
    ) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.uncompiled = uncompiled or function
        self.stays_plain = stays_plain
        self.options = options
        self.dispatcher: Any = None
        self.__call__ = self.uncompiled if stays_plain else self._first_call

    def _first_call(self, *args: Any) -> Any:
        return self._made()(*args)

    def _made(self) -> Any:
        """Return numba's dispatcher."""
        if self.dispatcher is None:
            with set_apart():
                from .compiler import make_dispatcher

                make_dispatcher(self)
        return self.dispatcher

    def __getattr__(self, name: str) -> Any:
        """Return what the dispatcher knows: signatures, statistics, its type when other kernels call it."""
        return getattr(self._made(), name)

    def __reduce__(self) -> Any:
        return self._made().__reduce__()


def kernel(function: F, uncompiled: Callable[..., Any] | None = None) -> F:
    """Compile ``function``: cached, without the GIL, signatures found at the first call."""
    return _kernel(function, uncompiled, fastmath=FASTMATH)


def inlined_kernel(function: F, uncompiled: Callable[..., Any] | None = None) -> F:
    """Compile ``function`` as ``kernel`` does, as a part of every loop that calls it, whatever its size.

    Loops that call something do not use the vector units. Python itself calls the plain function: compiling one for the
    sake of a single number takes far longer.
    """
    return _kernel(function, uncompiled, stays_plain=True, fastmath=FASTMATH, forceinline=True)


def exact_kernel(function: F, uncompiled: Callable[..., Any] | None = None) -> F:
    """Compile ``function`` as ``kernel`` does, but with every operation as written: signs of zeros count."""
    return _kernel(function, uncompiled)


def array_kernel(function: F) -> F:
    """Compile ``function`` as ``kernel`` does; it may make arrays."""
    return _kernel(function, fastmath=FASTMATH, _nrt=True)


def exact_array_kernel(function: F) -> F:
    """Compile ``function`` as ``exact_kernel`` does; it may make arrays."""
    return _kernel(function, _nrt=True)


def _kernel(function: Any, uncompiled: Any = None, **options: Any) -> Any:
    return Kernel(function, uncompiled, **options)


def in_kernels(function: Callable[..., Any]) -> Callable[[F], F]:
    """Have kernels use, instead of ``function``, what the decorated function returns for the types of its arguments."""

    def remember(choose: F) -> F:
        overloads.append((function, choose))
        return choose

    return remember


def by_type(implementations: dict[Any, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function that chooses its implementation by the class of its first argument, a NamedTuple.

    Compiled code chooses at compile time; uncompiled (``NUMBA_DISABLE_JIT=1``) the look-up happens at the call.
    Function-valued arguments would do as well, but numba does not cache kernels that take them.
    """

    def verb(first: Any, *rest: Any) -> Any:
        return implementations[type(first)](first, *rest)

    @in_kernels(verb)
    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        return implementations.get(getattr(first, "instance_class", None))

    return verb
