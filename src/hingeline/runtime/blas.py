"""Limits the number of threads of this process's BLAS libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def blas() -> ThreadpoolController:
    """Find the libraries; done once, since it takes a millisecond or more."""
    return ThreadpoolController()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Limit BLAS to ``n_threads`` threads."""
    with blas().limit(limits=n_threads, user_api="blas"):
        yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread, so that our own threads may call it at the same time."""
    return blas_threads(1)
