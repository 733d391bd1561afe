"""The BLAS libraries of this process, so that they can be held to a number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def blas() -> ThreadpoolController:
    """Find the libraries; takes a millisecond or more, so once."""
    return ThreadpoolController()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Hold BLAS to some threads."""
    with blas().limit(limits=n_threads, user_api="blas"):
        yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Hold BLAS to one thread: within, threads of ours may call it at the same time."""
    return blas_threads(1)
