"""What is trained on the rows of a cluster: how a worker turns its blocks into a problem."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem, check_range
from ..kernels.losses import SMALLEST_C, Loss
from ..kernels.rows import DenseRows
from ..kernels.types import Vector
from ..solvers.shards.sample import losses_at_zero, mean_margin_at_zero
from .target import Target


class Fold(Protocol):
    """Which rows of a partition take part: cross-validation leaves some out, and reads nothing again."""

    def weights(self, partition: int, y: np.ndarray) -> np.ndarray:
        """Return 1 for the rows of the partition that are trained on, and 0 for the others."""


@dataclass(frozen=True)
class Spec:
    """One problem.

    Attributes
    ----------
    target : Binary or Targets
    loss : Loss
    class_weight : weights of the rows that are not of the positive class and of those that are, or None
    bias : float
        Value of the constant feature.
    fold : Fold or None
    level : float
        What the targets of a regression are measured from.
    """

    target: Target
    loss: Loss
    class_weight: tuple[float, float] | None = None
    bias: float = 0.0
    fold: Fold | None = None
    level: float = 0.0

    def problem(
        self, number: int, data: Data, y: np.ndarray, sample_weight: np.ndarray | None, values: np.ndarray
    ) -> Problem:
        """Return the problem of partition ``number``; all of its rows may be without weight.

        ``values`` are the target's values of y.
        """
        weights = sample_weight
        if self.class_weight is not None:
            of_class = np.where(values > 0.0, self.class_weight[1], self.class_weight[0])
            weights = of_class if weights is None else weights * of_class
        if self.fold is not None:
            taken = self.fold.weights(number, y).astype(np.float64)
            weights = taken if weights is None else weights * taken
        C: np.ndarray | float = float(self.loss.C)
        kept = None
        if weights is not None:
            C = self.loss.C * weights
            C[C < SMALLEST_C] = 0.0
        if data.smallest_q <= 0.0 or not np.all(np.asarray(C) > 0.0):
            kept = np.flatnonzero((data.q > 0.0) & (np.asarray(C) > 0.0)).astype(np.uint32)
        return Problem(data, values - self.level if self.level else values, C, self.loss, kept)

    def without_C(self) -> tuple[Any, ...]:
        """Return what the problem has in common with others that differ in C alone."""
        loss = self.loss
        return type(loss), loss._replace(C=1.0), self.target, self.class_weight, self.bias, self.fold, self.level


@dataclass
class Opened:
    """A problem that hosts know: what it is, and how far it has come.

    Attributes
    ----------
    spec : Spec
    w : ndarray of shape (n_features + 1,)
    delta : width of the smoothing of Newton's method, 0 if the loss is smooth; None if another method is at work
    """

    spec: Spec
    w: np.ndarray
    delta: float | None = None

    @property
    def start(self) -> np.ndarray | None:
        """Where a new host begins: at w, unless that is zero."""
        return self.w if self.w.any() else None


class Summary(NamedTuple):
    """What the coordinator knows of rows: sums, smallest and largest values over all partitions."""

    n_rows: int
    n_variables: int
    n_stored: int
    smallest_q: float
    largest_q: float
    sum_q: float
    sum_C: float
    largest_C: float
    at_zero: float  # largest |target|; 1 for labels
    losses_at_zero: float
    margins_at_zero: float  # their mean times the rows
    signs: tuple[bool, bool]  # whether any row of weight is negative, positive
    dense: bool

    @classmethod
    def of(cls, problem: Problem) -> Summary:
        """Return the summary of one partition."""
        data, C = problem.data, problem.C_values
        y = problem.y[C > 0.0] if C.size > 1 else problem.y
        return cls(
            data.n_rows,
            problem.n_variables,
            data.n_stored,
            data.smallest_q,
            data.largest_q,
            data.mean_q * data.n_rows,
            float(C.sum()) * (1 if C.size > 1 else data.n_rows),
            float(C.max()),
            float(np.abs(problem.y).max()) if problem.loss.is_regression else 1.0,
            losses_at_zero(problem),
            mean_margin_at_zero(problem) * data.n_rows,
            (bool(y.size and y.min() < 0.0), bool(y.size and y.max() > 0.0)),
            isinstance(data.rows, DenseRows),
        )

    @classmethod
    def merged(cls, parts: list[Summary]) -> Summary:
        """Return the summary of all parts together."""
        low, high = zip(*(part.signs for part in parts), strict=True)
        return cls(
            sum(part.n_rows for part in parts),
            sum(part.n_variables for part in parts),
            sum(part.n_stored for part in parts),
            min(part.smallest_q for part in parts),
            max(part.largest_q for part in parts),
            sum(part.sum_q for part in parts),
            sum(part.sum_C for part in parts),
            max(part.largest_C for part in parts),
            max(part.at_zero for part in parts),
            sum(part.losses_at_zero for part in parts),
            sum(part.margins_at_zero for part in parts),
            (any(low), any(high)),
            all(part.dense for part in parts),
        )

    @property
    def is_uniform(self) -> bool:
        """Whether all rows have the same C."""
        return isclose(self.sum_C, self.n_rows * self.largest_C, rel_tol=1e-9)

    def at(self, C: float) -> Summary:
        """Return the summary of the same rows for another C, if that is the same for all of them."""
        losses = self.losses_at_zero / self.largest_C * C
        return self._replace(sum_C=C * self.n_rows, largest_C=C, losses_at_zero=losses)

    def problem(self, spec: Spec, n_features: int) -> Problem:
        """Return what the coordinator works on in place of the problem: its sizes, and no rows.

        Raises ValueError if nothing is left to train on, or numbers are out of range.
        """
        loss = spec.loss
        loss.check()
        if not self.sum_C > 0.0:
            raise ValueError(
                f"sample_weight times C is below {SMALLEST_C:g} for every row: there is nothing to train on."
            )
        if not loss.is_regression and not all(self.signs):
            raise ValueError("The rows with weight above zero hold only one class: a classifier needs both.")
        check_range(loss, self.n_rows * self.largest_C, self.largest_q, self.at_zero)
        no_rows: Vector = np.empty((0, n_features))
        of_q = (self.smallest_q, self.largest_q, self.sum_q)
        data = Data(DenseRows(no_rows, spec.bias), self.n_rows, n_features, True, np.empty(0), range_of_q=of_q)
        kept = None if self.n_variables else np.empty(0, dtype=np.uint32)
        return Problem(data, np.empty(0), self.sum_C / self.n_rows, loss, kept)
