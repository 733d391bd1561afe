"""Numbers as the bits that they are stored in, and a difference that stays as it is written.

``instructions.py`` has what these are in kernels: an instruction each. These functions do the same in plain Python.
"""

from __future__ import annotations

from struct import pack, unpack

import numpy as np


def bits_of(x: float) -> int:
    """Return the 64 bits of a number as an unsigned integer."""
    return int(unpack("<Q", pack("<d", x))[0])


def number_of(bits: int | np.uint64) -> float:
    """Return the number that is stored in these 64 bits."""
    return float(unpack("<d", pack("<Q", int(bits)))[0])


def minus(a: float, b: float) -> float:
    """Return a - b, which kernels do not re-associate with how a and b came about."""
    return a - b
