"""What the classifiers with an L1 or elastic-net penalty share: training over columns instead of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem
from ..solution import Snapshot, Solution
from ..solvers.l1.columns import columns_if_many
from ..solvers.l1.primal import train_primal
from .certified import from_zero
from .checkpoint import Start
from .classifier import CertifiedClassifier
from .training_set import TrainingSet


class SparsePenaltyClassifier(CertifiedClassifier):
    """A linear classifier whose ``penalty`` may be more than |w|^2/2; a subclass says how much of it is |w|_1."""

    def _is_ridge(self) -> bool:
        """Tell whether the penalty is |w|^2/2, which is trained over rows."""
        return bool(self.penalty == "l2")

    def _l1_share(self) -> float:
        """Return l1_ratio: 0 for the penalty "l2", 1 for "l1"."""
        raise NotImplementedError

    def _trainer(self, data: Data) -> Callable[..., Solution]:
        if self._is_ridge():
            return super()._trainer(data)
        columns, l1_ratio = columns_if_many(data), self._l1_share()
        free = self._intercept_is_free()

        def over_columns(problem: Problem, *, n_threads: int, **how: Any) -> Solution:
            """Train on one thread, however many there are: threads go over the classes here."""
            return train_primal(problem, columns=columns, l1_ratio=l1_ratio, free_intercept=free, **how)

        return over_columns

    def _shape_of_variables(self, rows: TrainingSet) -> tuple[int, ...]:
        return super()._shape_of_variables(rows) if self._is_ridge() else (rows.data.n_features + 1,)

    def _variables(self, at: Solution | Snapshot, bias: float) -> np.ndarray:
        if self._is_ridge():
            return super()._variables(at, bias)
        return np.append(at.w, at.intercept / bias if bias else 0.0)

    def _previous(self, rows: TrainingSet) -> Start:
        if self._is_ridge():
            return super()._previous(rows)
        if not (self.warm_start and self._has_model_of(rows)):
            return from_zero
        weights = self._weights(rows.data.rows.bias)
        return lambda problem, k: {"alpha0": weights[k]}
