"""What the classifiers with an L1 or elastic-net penalty share: training over columns instead of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.problem import Data, Problem
from ..solution import Solution
from ..solvers.l1.columns import columns_if_many
from ..solvers.l1.primal import train_primal
from ..solvers.stop import Stop
from .base import dense_coef
from .certified import Start
from .classifier import CertifiedClassifier


class SparsePenaltyClassifier(CertifiedClassifier):
    """A linear classifier whose ``penalty`` may be more than |w|^2/2; a subclass says how much of it is |w|_1."""

    def _l1_share(self) -> float:
        """Return l1_ratio: 0 for the penalty "l2", 1 for "l1"."""
        raise NotImplementedError

    def _solve(
        self,
        data: Data,
        problem_of: Callable[[int], Problem],
        n: int,
        start: Start,
        trainer: Callable[..., Solution] | None = None,
        **watched: Any,
    ) -> list[Solution]:
        if self.penalty == "l2":
            return super()._solve(data, problem_of, n, start, **watched)
        columns, l1_ratio = columns_if_many(data), self._l1_share()
        free = self.fit_intercept == "free"

        def over_columns(problem: Problem, solver: str, stop: Stop, *, n_threads: int, **how: Any) -> Solution:
            """Train on one thread, however many there are: threads go over the classes here."""
            return train_primal(problem, solver, stop, columns=columns, l1_ratio=l1_ratio, free_intercept=free, **how)

        return super()._solve(data, problem_of, n, start, over_columns, **watched)

    def _previous(self, data: Data, comparable: bool) -> Start:
        if self.penalty == "l2":
            return super()._previous(data, comparable)
        if not (self.warm_start and comparable) or dense_coef(self.coef_).shape[1] != data.n_features:
            return lambda problem, k: None
        coef, bias = dense_coef(self.coef_), data.rows.bias
        constant = self.intercept_ / bias if bias else np.zeros(coef.shape[0])
        weights: Any = np.column_stack([coef, constant])
        return lambda problem, k: weights[k]
