"""X as compiled code sees it: a row view with a structure that is sound, and values that have been checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..kernels.rows import DenseRows, Rows
from .blocks import Blocks


class Matrix(NamedTuple):
    """X with a structure that compiled code can follow: its row view, the intercept's constant feature included."""

    rows: Rows
    n_rows: int
    n_features: int
    distinct: bool  # the indices of a row increase: none is repeated
    blocks: Blocks | None = None  # how rows are read from files, if they do not fit in memory
    q: np.ndarray | None = None  # squared norms, if they were computed when the files were read


@dataclass(frozen=True)
class Data:
    """A matrix whose values are checked too, and the squared norms of its rows."""

    rows: Rows
    n_rows: int
    n_features: int
    distinct: bool
    q: np.ndarray
    blocks: Blocks | None = None
    range_of_q: tuple[float, float, float] | None = None  # smallest, largest and sum, if known

    @property
    def n_stored(self) -> int:
        """Number of stored values."""
        return int(self.rows.X.size if isinstance(self.rows, DenseRows) else self.rows.indices.size)

    @cached_property
    def largest_q(self) -> float:
        """Largest squared norm of a row."""
        return float(self.q.max()) if self.range_of_q is None else self.range_of_q[1]

    @cached_property
    def smallest_q(self) -> float:
        """Smallest squared norm of a row: zero if there are rows of zeros."""
        return float(self.q.min()) if self.range_of_q is None else self.range_of_q[0]

    @cached_property
    def mean_q(self) -> float:
        """Mean squared norm of a row."""
        return float(self.q.mean()) if self.range_of_q is None else self.range_of_q[2] / self.n_rows
