"""How workers turn the labels or targets that users gave into the y of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Binary:
    """One class against the others: +1 for rows with the label ``positive``, -1 for all others."""

    positive: Any

    def values(self, y: np.ndarray) -> np.ndarray:
        """Return the labels -1 and +1."""
        return 2 * np.asarray(y == self.positive).astype(np.float32) - 1

    def signs(self, y: np.ndarray) -> np.ndarray:
        """Return the s_i in w = sum_i alpha_i s_i x_i: the labels."""
        return self.values(y)


@dataclass(frozen=True)
class Targets:
    """The targets of a regression, as they are."""

    def values(self, y: np.ndarray) -> np.ndarray:
        """Return the targets."""
        return np.asarray(y, dtype=np.float64)

    def signs(self, y: np.ndarray) -> np.ndarray:
        """Return the s_i in w = sum_i alpha_i s_i x_i: ones."""
        return np.ones(len(y), dtype=np.float32)


Target = Binary | Targets
