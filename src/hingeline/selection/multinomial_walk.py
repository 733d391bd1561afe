"""All classes in one problem along rising C, each time started from the weights for the last C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data
from ..kernels.rows import Rows
from ..runtime.training_clock import now
from ..solution import Progress, Solution
from ..solvers.engines import engines_of
from ..solvers.multinomial.multinomial import train_multinomial
from ..solvers.stop import Stop
from .folds import Fold
from .start import Reached
from .variables import packed
from .walk import values_at


class Joint(NamedTuple):
    """The multinomial problem of all rows.

    Attributes
    ----------
    data : Data
    codes : ndarray
        The number of each row's class.
    n_classes : int
    weights, class_weights : ndarray or None
        Of the rows, and of the classes; None: all are 1.
    free_intercept : bool
    """

    data: Data
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None
    class_weights: np.ndarray | None
    free_intercept: bool

    def train(self, fold: Fold, C: float, solver: str, stop: Stop, **how: Any) -> Solution:
        """Return the solution of a fold's problem at C."""
        weights = fold.weights(self.weights)
        if self.class_weights is not None:
            weights = weights * self.class_weights[self.codes]
        problem = (self.data, self.codes, self.n_classes, weights, C, solver, stop)
        return train_multinomial(*problem, free_intercept=self.free_intercept, **how)


class MultinomialWalk:
    """Solves the problem of a fold for one C after another, each larger than the last.

    Parameters
    ----------
    joint : Joint
    fold : Fold
    solver, stop, callback, cancelled, n_threads
        As ``train_multinomial`` takes them; the caps are for each C.
    reached : Reached, optional
        The solution to start from.
    elapsed : callable () -> float, optional
        Seconds of ``max_time`` used so far, if it is for more than this walk.
    """

    def __init__(
        self,
        joint: Joint,
        fold: Fold,
        solver: str,
        stop: Stop,
        *,
        callback: Callable[[Progress], Any] | None = None,
        cancelled: Callable[[], bool] | None = None,
        n_threads: int = 1,
        reached: Reached | None = None,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._joint, self._fold, self._solver, self._stop = joint, fold, solver, stop
        self._how: dict[str, Any] = {"callback": callback, "cancelled": cancelled}
        self.n_threads = n_threads  # of the next fit
        self.reached, self._elapsed = reached, elapsed

    def advance(self, C: float) -> Solution:
        """Return the solution at C, which becomes the start of the next one. Dual variables are not kept."""
        started = now()
        stop = self._stop if self._elapsed is None else self._stop.after(self._elapsed())
        start = None if self.reached is None else self.reached.w
        how = {**self._how, "n_threads": self.n_threads}
        solution = self._joint.train(self._fold, C, self._solver, stop, alpha0=start, **how)
        bias = self._joint.data.rows.bias
        W = np.column_stack([solution.w, solution.intercept / bias if bias else np.zeros(len(solution.w))])
        self.reached = Reached(C, W, inf, engines_of(solution.solver)[-1].name, *packed(np.empty(0)))
        return replace(solution, seconds=now() - started)

    def values(self, rows: Rows, which: np.ndarray) -> np.ndarray:
        """Return the decision values of the rows ``which`` at the last solution, a column per class."""
        assert self.reached is not None
        return np.column_stack([values_at(rows, which, w) for w in self.reached.w])
