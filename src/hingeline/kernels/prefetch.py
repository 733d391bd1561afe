"""Fetching what a loop will need soon from memory, while it is busy with something else."""

from __future__ import annotations

import numpy as np

from .types import Index


def prefetch(array: np.ndarray, i: Index) -> None:
    """Prefetch the cache line of ``array[i]``; never faults, returns at once. Does nothing if compilation is off.

    ``instructions.py`` has what it is in kernels.
    """
