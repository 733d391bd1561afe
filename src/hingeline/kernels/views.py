"""The views of arrays that kernels are compiled for. They are read-only: to numba, writable arrays are another type."""

from __future__ import annotations

import numpy as np


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only, contiguous, native view of ``array``; a copy only if it is not such an array already."""
    view = np.require(np.asarray(array), dtype=array.dtype.newbyteorder("="), requirements=["C", "A"]).view(np.ndarray)
    view.flags.writeable = False
    return view


def unsigned(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of indices as unsigned integers of 32 or 64 bits, with which kernels index faster."""
    if array.dtype.itemsize < 4:
        array = array.astype(np.int32)
    array = read_only(array)
    return array.view(np.uint32 if array.dtype.itemsize == 4 else np.uint64)
