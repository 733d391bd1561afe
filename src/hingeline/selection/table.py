"""The table that a search fills: one cell for each C and fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Cell(NamedTuple):
    """One C in one fold: sums over the problems, or the worst of them."""

    score: float
    seconds: float
    gap: float
    work: float
    converged: bool
    stop_reason: str


@dataclass
class Table:
    """The cells that are done: arrays of shape (n_Cs, n_folds), NaN elsewhere."""

    Cs: np.ndarray
    cells: dict[tuple[int, int], Cell]
    n_folds: int

    def of(self, field: str) -> np.ndarray:
        """Return one field of all cells."""
        out = np.full((self.Cs.size, self.n_folds), np.nan)
        for at, cell in self.cells.items():
            out[at] = getattr(cell, field)
        return out
