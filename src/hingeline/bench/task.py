"""What is minimised: one binary problem, or one per class of a data set with several classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, overload

import numpy as np

from ..solvers.one_versus_rest import OneVersusRest

# By the margin y_i <x_i, w>.
LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "squared_hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0.0, -m),
}
PENALTIES = ("l2", "l1")


def _squared_hinge_slopes(margins: np.ndarray) -> np.ndarray:
    return 2.0 * np.maximum(0.0, 1.0 - margins)


def _squared_hinge_dual(alpha: np.ndarray, C: float, longest: float) -> float:
    """Return the largest sum of a - a^2/(4C) over a = t alpha with t <= ``longest``: a parabola in t."""
    total, squares = float(alpha.sum()), float(alpha @ alpha) / (4.0 * C)
    if squares == 0.0:
        return 0.0
    t = min(longest, total / (2.0 * squares))
    return t * (total - t * squares)


def _logistic_slopes(margins: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    return np.asarray(expit(-margins))


def _logistic_dual(alpha: np.ndarray, C: float, longest: float) -> float:
    """Return -C times the sum of q log q + (1 - q) log(1 - q) at q = t alpha / C, t = min(1, ``longest``)."""
    from scipy.special import entr, xlog1py

    q = min(1.0, longest) * alpha / C
    return C * float((entr(q) - xlog1py(1.0 - q, -q)).sum())


# Of the losses that take an L1 penalty: minus the slope by the margin, and the dual value of t alpha.
DUALS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray, float, float], float]]] = {
    "squared_hinge": (_squared_hinge_slopes, _squared_hinge_dual),
    "logistic": (_logistic_slopes, _logistic_dual),
}


@dataclass(frozen=True)
class Task:
    """Penalty + C sum_i loss(y_i <x_i, w>); the penalty is |w|^2/2 ("l2") or |w|_1 ("l1").

    With ``intercept``, x_i has a constant feature 1 at its end, whose weight is regularised like the others, as with
    LIBLINEAR's -B 1 and in scikit-learn. ``X`` does not hold it.
    """

    X: Any
    y: np.ndarray
    C: float
    loss: str
    intercept: bool = False
    penalty: str = "l2"

    def objective(self, w: np.ndarray) -> float:
        """Return the primal value at ``w`` (the intercept last), in float64 whatever the solver worked in."""
        w = np.asarray(w, dtype=np.float64).ravel()
        penalty = float(np.abs(w).sum()) if self.penalty == "l1" else 0.5 * float(w @ w)
        return penalty + self.C * float(LOSSES[self.loss](self._margins(w)).sum())

    def own_bound(self, w: np.ndarray) -> float:
        """Return the lower bound of the optimum that ``w`` certifies by itself (L1 penalty, smooth losses).

        It is the dual value of alpha_i = -C loss'(margin i), scaled by t such that no entry of t X'(alpha y) is beyond
        1: the dual point that L1 solvers with a duality gap use.
        """
        slopes, dual = DUALS[self.loss]
        alpha = self.C * slopes(self._margins(np.asarray(w, dtype=np.float64).ravel()))
        signed = alpha * self.y
        largest = float(np.abs(self.X.T @ signed).max())
        if self.intercept:
            largest = max(largest, abs(float(signed.sum())))
        return dual(alpha, self.C, 1.0 / largest if largest > 0.0 else inf)

    def _margins(self, w: np.ndarray) -> np.ndarray:
        values = self.X @ w[:-1] + w[-1] if self.intercept else self.X @ w
        return np.asarray(self.y * values)

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
    penalty: str = "l2"

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
        return Task(self.X, self.classes.labels(k, np.float64), self.C, self.loss, self.intercept, self.penalty)

    @property
    def untrained(self) -> float:
        """The objective of one problem at w = 0."""
        return self.C * self.codes.size * float(LOSSES[self.loss](np.zeros(1))[0])
