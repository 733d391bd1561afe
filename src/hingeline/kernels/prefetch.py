"""Fetching what a loop will need soon from memory, while it is busy with something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compile import in_kernels
from .types import Index


def prefetch(array: np.ndarray, i: Index) -> None:
    """Prefetch the cache line of ``array[i]``; never faults, returns at once. Does nothing if compilation is off."""


@in_kernels(prefetch)
def _prefetch(array: Any, i: Any) -> Callable[..., None]:
    from .instructions import llvm_prefetch

    def compiled(array: Any, i: Any) -> None:
        llvm_prefetch(array, i)

    return compiled
