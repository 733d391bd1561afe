"""The figures that LIBLINEAR prints: accuracy, mean squared error, squared correlation coefficient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Tally(NamedTuple):
    """Sums over rows, collected block by block: v are predictions, y the truth."""

    rows: int = 0
    correct: int = 0
    error: float = 0.0
    v: float = 0.0
    y: float = 0.0
    vv: float = 0.0
    yy: float = 0.0
    vy: float = 0.0

    def add(self, v: np.ndarray, y: np.ndarray) -> Tally:
        """Return the sums with more rows."""
        v, y = np.asarray(v, dtype=np.float64), np.asarray(y, dtype=np.float64)
        d = v - y
        counts = (self.rows + y.size, self.correct + int(np.count_nonzero(v == y)))
        sums = (d @ d, v.sum(), y.sum(), v @ v, y @ y, v @ y)
        return Tally(*counts, *(total + float(part) for total, part in zip(self[2:], sums, strict=True)))

    @property
    def accuracy(self) -> float:
        """Percentage of rows whose label is predicted correctly."""
        return 100.0 * self.correct / self.rows

    @property
    def mean_squared_error(self) -> float:
        """Mean of (v - y)^2."""
        return self.error / self.rows

    @property
    def squared_correlation(self) -> float:
        """Squared correlation coefficient; NaN if predictions or truth do not vary."""
        covariance = self.rows * self.vy - self.v * self.y
        variances = (self.rows * self.vv - self.v**2) * (self.rows * self.yy - self.y**2)
        return covariance**2 / variances if variances > 0.0 else float("nan")


def regression_figures(tally: Tally) -> dict[str, float | None]:
    """Return the figures of a regression; None if one is not defined."""
    squared = tally.squared_correlation
    return {
        "mean squared error": tally.mean_squared_error,
        "root mean squared error": tally.mean_squared_error**0.5,
        "squared correlation": None if np.isnan(squared) else squared,
    }
