"""A problem whose rows are on a device, and what the coordinator knows about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem, check_range
from ..kernels.losses import SMALLEST_C, Loss
from ..kernels.rows import DenseRows
from .losses import ArrayLoss, array_loss
from .namespace import Place, to_numpy
from .rows import ArrayRows


@dataclass(frozen=True)
class ArrayProblem:
    """min_w |w|^2/2 + sum_i loss(y_i, <x_i, w>) over rows on a device.

    Attributes
    ----------
    rows : ArrayRows
    y : array
        Labels -1 and +1, or targets, in a floating-point type.
    C : array of float64
        One weight per row, 0 for none; or a single one for all rows.
    loss : Loss
    q : array
        Squared lengths of the rows.
    """

    rows: ArrayRows
    y: Any
    C: Any
    loss: Loss
    q: Any

    @property
    def place(self) -> Place:
        """Where the rows live."""
        return self.rows.place

    @cached_property
    def signs(self) -> Any:
        """The s_i in w = sum_i alpha_i s_i x_i: labels, or a single 1."""
        return self.place.full((1,), 1.0) if self.loss.is_regression else self.y

    @cached_property
    def verbs(self) -> ArrayLoss:
        """The verbs of the loss."""
        return array_loss(self.loss, self.place.xp)

    @cached_property
    def responding(self) -> Any:
        """C_i, or 0 if the row does not respond: it has no weight, or it is a row of zeros and solved already."""
        if self.range_of_q[0] > 0.0:
            return self.C
        return self.place.xp.where(self.q > 0.0, self.C, 0.0 * self.C)

    @cached_property
    def settled_losses(self) -> float:
        """The losses of rows of zeros, whatever w is."""
        if self.range_of_q[0] > 0.0:
            return 0.0
        terms = self.verbs.primal_terms(self.verbs.missing(self.y, 0.0 * self.y), self.C - self.responding)
        return float(self.place.xp.sum(terms))

    @cached_property
    def range_of_q(self) -> tuple[float, float, float]:
        """The smallest and the largest squared length, and their sum."""
        xp = self.place.xp
        smallest, largest, total = to_numpy(xp.stack([xp.min(self.q), xp.max(self.q), xp.sum(self.q)])).tolist()
        return smallest, largest, total

    @cached_property
    def sum_C(self) -> float:
        """The sum of all C_i."""
        return float(self.place.xp.sum(self.C)) * (self.rows.n_rows if int(self.C.shape[0]) == 1 else 1)

    def starting_alpha(self, alpha0: Any = None) -> Any:
        """Return dual variables at ``alpha0``, moved into the box, or at zero; rows of zeros at their optimum."""
        xp, verbs, n = self.place.xp, self.verbs, self.rows.n_rows
        alpha = self.place.full((n,), 0.0)
        if alpha0 is not None:
            least, most = verbs.bounds(self.responding)
            alpha = xp.minimum(xp.maximum(xp.astype(alpha0, xp.float64), least), most)
            alpha = xp.where(self.responding > 0.0, alpha, xp.zeros_like(alpha))
        if self.range_of_q[0] > 0.0:
            return alpha
        at_zero = verbs.responses(verbs.missing(self.y, 0.0 * self.y), self.C)
        return xp.where(self.q > 0.0, alpha, at_zero)

    def coordinated(self) -> Problem:
        """Return what an engine works on instead of the problem: its sizes, without rows. Raises if it has none."""
        xp, rows, loss = self.place.xp, self.rows, self.loss
        loss.check()
        at_zero = float(xp.max(xp.abs(self.y))) if loss.is_regression else 1.0
        if not self.sum_C > 0.0:
            raise ValueError(
                f"sample_weight times C is below {SMALLEST_C:g} for every row: there is nothing to train on."
            )
        check_range(loss, rows.n_rows * float(xp.max(self.C)), self.range_of_q[1], at_zero)
        data = Data(
            DenseRows(np.empty((0, rows.n_features)), rows.bias),
            rows.n_rows,
            rows.n_features,
            True,
            np.empty(0),
            range_of_q=self.range_of_q,
        )
        kept = np.empty(0, dtype=np.uint32) if self.range_of_q[1] == 0.0 else None
        return Problem(data, np.empty(0), self.sum_C / rows.n_rows, loss, kept)


def make_array_problem(rows: ArrayRows, y: Any, weights: Any, loss: Loss, q: Any = None) -> ArrayProblem:
    """Return the problem of ``y``; ``weights``, one per row or None, multiply C."""
    place = rows.place
    C = place.full((1,), float(loss.C))
    if weights is not None:
        C = C * weights
        C = place.xp.where(C < SMALLEST_C, place.xp.zeros_like(C), C)
    return ArrayProblem(rows, y, C, loss, rows.squared_lengths() if q is None else q)
