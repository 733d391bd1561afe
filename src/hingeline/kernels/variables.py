"""Dual variables and everything that belongs to them, packed.

A step needs five numbers of its variable. They share one record of 32 bytes, so a visit costs one cache line instead of
five. If C is the same for all rows it is not in the record, which then has 24 bytes. The engines see five (strided)
arrays, so their code reads like the paper. Labels fit into 4 bytes; targets of a regression do not, so their record has
8 bytes more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .types import Vector


class Variables(NamedTuple):
    """One entry per row: dual variable, squared norm, C_i, preference, label or target."""

    alpha: Vector
    q: Vector
    C: Vector
    p: Vector
    y: Vector


def record(targets: bool = False, same_C: bool = False) -> np.dtype[Any]:
    """Return the layout of a variable's record: ``targets`` are numbers of full precision."""
    fields = [("alpha", "f8"), ("q", "f8"), ("C", "f8"), ("p", "f4"), ("y", "f8" if targets else "f4")]
    return np.dtype([field for field in fields if not (same_C and field[0] == "C")], align=True)


def new_variables(n: int, targets: bool = False, same_C: bool = False) -> Variables:
    """Return ``n`` packed variables: alpha = 0, preferences 1, the rest for the caller to fill.

    ``targets`` says that y holds numbers of full precision, ``same_C`` that C is the same for all: it is then one
    number that every row sees.
    """
    records = np.zeros(n, dtype=record(targets, same_C))
    records["p"] = 1.0
    C = np.lib.stride_tricks.as_strided(np.zeros(1), (n,), (0,)) if same_C else records["C"]
    return Variables(records["alpha"], records["q"], C, records["p"], records["y"])
