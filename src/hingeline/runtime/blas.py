"""The BLAS libraries of this process, so that they can be held to a number of threads."""

from __future__ import annotations

from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def blas() -> ThreadpoolController:
    """Find the libraries; takes a millisecond or more, so once."""
    return ThreadpoolController()
