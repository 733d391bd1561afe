"""What a solver minimises: rows with labels or targets, weights, and a loss; validated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from ..kernels.losses import SMALLEST_C, Loss
from .matrix import Data
from .row_weights import visited, weighed


@dataclass(frozen=True)
class Problem:
    """min_w |w|^2/2 + sum_i loss(y_i, <x_i, w>), with C_i the weight of row i; y holds labels, or targets (float64).

    ``kept`` lists the rows that an engine visits: rows of zeros are solved at once, and rows without weight are
    ignored. None means every row.
    """

    data: Data
    y: np.ndarray
    C: np.ndarray | float
    loss: Loss
    kept: np.ndarray | None

    @cached_property
    def signs(self) -> np.ndarray:
        """Return the s_i in w = sum_i alpha_i s_i x_i: labels, or ones."""
        return np.ones(self.data.n_rows, dtype=np.float32) if self.loss.is_regression else self.y

    @cached_property
    def C_values(self) -> np.ndarray:
        """Return C_i as a vector: one entry per row, or a single one if all are the same."""
        return np.atleast_1d(np.asarray(self.C, dtype=np.float64))

    @property
    def every_row(self) -> bool:
        """Whether an engine visits every row."""
        return self.kept is None

    @property
    def n_variables(self) -> int:
        """Return l, the number of variables that an engine works on."""
        return self.data.n_rows if self.kept is None else self.kept.size

    def variables_in_order(self) -> np.ndarray:
        """Return the rows to visit, as a new array."""
        if self.kept is None:
            return np.arange(self.data.n_rows, dtype=np.uint32)
        return self.kept.copy()


def make_problem(data: Data, y: np.ndarray, weights: np.ndarray | None, loss: Loss) -> Problem:
    """Return the problem of ``y`` (labels -1 and +1, or targets); ``weights``, one per row, multiply C."""
    loss.check()
    C: np.ndarray | float = float(loss.C)
    largest, n_visited = loss.C, data.n_rows
    if weights is not None:
        check_weights(weights, data.n_rows)
        C, n_visited, largest = weighed(loss.C, weights, SMALLEST_C, data.q)
        if largest == 0.0:
            raise ValueError(
                f"sample_weight times C is below {SMALLEST_C:g} for every row: there is nothing to train on."
            )
    elif data.smallest_q <= 0.0:
        n_visited = int(np.count_nonzero(data.q > 0.0))
    at_zero = float(np.abs(y).max()) if loss.is_regression else 1.0
    check_range(loss, data.n_rows * largest, data.largest_q, at_zero)
    kept = None if n_visited == data.n_rows else visited(np.atleast_1d(C), data.q, n_visited)
    return Problem(data, y, C, loss, kept)


def check_range(loss: Loss, total_C: float, largest_q: float, at_zero: float) -> None:
    """Raise if numbers that an engine may compute (|w|, a margin, an objective) would overflow.

    ``total_C`` bounds the sum of all C_i, ``largest_q`` the squared norms, ``at_zero`` the margins at w = 0.
    """
    at_zero = max(1.0, at_zero)
    longest = 2.0 * total_C * sqrt(largest_q)
    farthest = at_zero + sqrt(largest_q) * longest
    largest = longest * longest + total_C * farthest
    if not (largest if loss.is_bounded else max(largest, farthest) * farthest) < inf:
        raise ValueError(
            f"C = {loss.C:g} times the weights times the squared values of X{' and y' * (at_zero > 1.0)} overflows "
            "float64: scale them, or choose a smaller C."
        )


def check_weights(weights: np.ndarray, n_rows: int) -> None:
    """Raise unless ``weights`` are non-negative, finite, and not all zero."""
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: pass one weight per row.")
    low, high = weights.min(), weights.max()
    if not (low >= 0.0 and high < inf):  # NaN is neither
        finite = np.isfinite(weights)
        if not finite.all():
            i = int(np.argmin(finite))
            raise ValueError(f"sample_weight[{i}] is {weights[i]}: weights must be finite (no NaN, no inf).")
        i = int(np.argmin(weights))
        raise ValueError(f"sample_weight[{i}] is {weights[i]}: weights must not be negative; use 0 or more.")
    if high == 0.0:
        raise ValueError("sample_weight is zero for every row: there is nothing to train on.")
