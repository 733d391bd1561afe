"""What is minimised: one binary problem, or one per class of a data set with several classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ..solvers.one_versus_rest import OneVersusRest


@dataclass(frozen=True)
class Task:
    """|w|^2/2 + C sum_i loss(1 - y_i <x_i, w>).

    With ``intercept``, x_i has a constant feature 1 at its end, whose weight is regularised like the others, as with
    LIBLINEAR's -B 1 and in scikit-learn. ``X`` does not hold it.
    """

    X: Any
    y: np.ndarray
    C: float
    loss: str
    intercept: bool = False

    def objective(self, w: np.ndarray) -> float:
        """Return the primal value at ``w`` (the intercept last), in float64 whatever the solver worked in."""
        w = np.asarray(w, dtype=np.float64).ravel()
        values = self.X @ w[:-1] + w[-1] if self.intercept else self.X @ w
        slack = np.maximum(0.0, 1.0 - self.y * values)
        return 0.5 * float(w @ w) + self.C * float(slack @ slack if self.loss == "squared_hinge" else slack.sum())

    def full_X(self) -> Any:
        """Return X with the constant feature, for solvers that do not add it themselves."""
        if not self.intercept:
            return self.X
        from scipy import sparse

        return sparse.csr_matrix(sparse.hstack([self.X, np.ones((self.X.shape[0], 1))], format="csr"))

    def tiny(self, n_rows: int = 20) -> Task:
        """Return a task of a few rows with both labels, in the same layout, without empty columns, for warming up."""
        rows = np.concatenate([np.flatnonzero(self.y == label)[: n_rows // 2] for label in (-1.0, 1.0)])
        part = self.X[rows]
        part = part[:, np.unique(part.indices)]
        part.indices = part.indices.astype(self.X.indices.dtype)
        part.indptr = part.indptr.astype(self.X.indptr.dtype)
        if part.nnz and (part.data == 1.0).all() and not (self.X.data == 1.0).all():
            part.data[0] = 0.5  # values that are all one have kernels of their own
        return replace(self, X=part, y=self.y[rows])


@dataclass(frozen=True)
class Tasks(Sequence[Task]):
    """The binary problems of the class codes 0, 1, ...: one for two classes, one per class for more."""

    X: Any
    codes: np.ndarray
    C: float
    loss: str
    intercept: bool = False

    @cached_property
    def classes(self) -> OneVersusRest:
        """What makes the labels."""
        return OneVersusRest(self.codes, int(self.codes.max()) + 1)

    def __len__(self) -> int:
        return len(self.classes)

    @overload
    def __getitem__(self, k: int) -> Task: ...
    @overload
    def __getitem__(self, k: slice) -> list[Task]: ...
    def __getitem__(self, k: int | slice) -> Task | list[Task]:
        """Return a problem; its labels are made when it is asked for, X is shared."""
        if isinstance(k, slice):
            return [self[i] for i in range(len(self))[k]]
        return Task(self.X, self.classes.labels(k, np.float64), self.C, self.loss, self.intercept)

    @property
    def untrained(self) -> float:
        """The objective of one problem at w = 0, of either loss."""
        return self.C * self.codes.size
