"""Several processes of tests share numba's cache: each kernel is compiled by one of them, and the others wait for it.

Without that every worker compiles what the others are compiling at that moment.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from hingeline.kernels.cache import KernelCache

try:
    import fcntl
except ImportError:  # Windows: all of them compile
    fcntl = None

_held = Counter()  # a kernel may call itself with other types


@contextmanager
def _locked(path):
    """Hold the lock that a file stands for; the system takes it back if the process dies."""
    _held[path] += 1
    try:
        if _held[path] > 1:
            yield
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
    finally:
        _held[path] -= 1


def install():
    """Take turns from here on. A kernel is locked before those that it calls, so nobody waits in a circle."""
    compile_alone = Dispatcher.compile

    def compile_in_turn(self, sig):
        if not isinstance(self._cache, KernelCache):
            return compile_alone(self, sig)
        lock = f"{os.path.basename(self._cache.cache_path)}-{self._cache.name}"
        with global_compiler_lock, _locked(os.path.join(os.environ["NUMBA_CACHE_DIR"], "locks", lock)):
            return compile_alone(self, sig)

    if fcntl is not None:
        Dispatcher.compile = compile_in_turn
