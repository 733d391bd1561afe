"""The BLAS libraries of this process, so that they can be held to a number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def blas() -> ThreadpoolController:
    """Find the libraries; takes a millisecond or more, so once."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: within, several threads of ours call it at the same time."""
    with blas().limit(limits=1, user_api="blas"):
        yield
