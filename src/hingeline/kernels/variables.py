"""Dual variables and everything that belongs to them, packed.

A step needs five numbers of its variable. They share one record of 32 bytes, so a visit costs one cache line instead of
five. The engines see five (strided) arrays, so their code reads like the paper. Labels fit into 4 bytes; targets of a
regression do not, so their record has 40 bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .types import Vector

RECORD = np.dtype([("alpha", "f8"), ("q", "f8"), ("C", "f8"), ("p", "f4"), ("y", "f4")])
WIDE_RECORD = np.dtype([("alpha", "f8"), ("q", "f8"), ("C", "f8"), ("p", "f4"), ("y", "f8")], align=True)


class Variables(NamedTuple):
    """One entry per row: dual variable, squared norm, C_i, preference, label or target."""

    alpha: Vector
    q: Vector
    C: Vector
    p: Vector
    y: Vector


def new_variables(n: int, targets: bool = False) -> Variables:
    """Return ``n`` packed variables: alpha = 0, preferences 1, the rest for the caller to fill.

    ``targets`` says that y holds numbers of full precision.
    """
    records = np.zeros(n, dtype=WIDE_RECORD if targets else RECORD)
    records["p"] = 1.0
    return Variables(*(records[name] for name in Variables._fields))
