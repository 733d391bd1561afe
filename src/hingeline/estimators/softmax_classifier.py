"""What ``LogisticRegression`` trains besides binary problems: all classes at once, and no penalty (C = infinity)."""

from __future__ import annotations

import warnings
from copy import copy
from math import inf
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from ..runtime.training_clock import now
from ..solution import Snapshot, Solution
from ..solvers.multinomial.multinomial import train_multinomial
from ..solvers.unpenalised import APART, equivalent_C, has_optimum, per_C, without_optimum
from .base import support_of
from .certified import from_zero
from .checkpoint import Start
from .sparse_penalty import SparsePenaltyClassifier
from .training_set import ClassificationSet, TrainingSet
from .watch import Watch

LESS_TIME = 0.25  # fraction of the time that a fit without a penalty may take to find out whether it has an optimum


class SoftmaxClassifier(SparsePenaltyClassifier):
    """A classifier whose problems may be joined into one, the multinomial; a subclass says when."""

    def _is_multinomial(self, n_classes: int) -> bool:
        """Tell whether so many classes are one problem."""
        raise NotImplementedError

    def _is_joint(self, rows: TrainingSet) -> bool:
        assert isinstance(rows, ClassificationSet)
        return self._is_multinomial(rows.classes.size)

    def _train(self, rows: TrainingSet, start: Start, watch: Watch) -> list[Solution]:
        if self._weight_of_loss() == inf:
            return self._train_without_penalty(rows, start, watch)
        if not self._is_joint(rows):
            return super()._train(rows, start, watch)
        assert isinstance(rows, ClassificationSet)
        self._loss()  # checks the parameters
        watch.begin(1)
        with watch.problem(0) as callback:
            solution = train_multinomial(
                rows.data,
                rows.codes,
                rows.classes.size,
                rows.row_weights(),
                self._weight_of_loss(),
                self._engine(),
                self._stop(),
                free_intercept=self._intercept_is_free(),
                callback=callback,
                n_threads=effective_n_jobs(self.n_jobs),
                **start(None, 0),
            )
            return [watch.solved(0, solution)]

    def _weight_of_loss(self) -> float:
        """Return C."""
        return float(self.C)

    def _train_without_penalty(self, rows: TrainingSet, start: Start, watch: Watch) -> list[Solution]:
        """Train at a C that is as good as infinity, and at a smaller one, which tells whether there is an optimum."""
        assert isinstance(rows, ClassificationSet)
        if self.penalty is None and self.C not in (1.0, inf):
            warnings.warn(
                f"Setting penalty=None will ignore C={self.C!r}: leave one of them out.",
                UserWarning,
                stacklevel=6,
            )
        C = equivalent_C(rows.data, rows.row_weights())
        model = self._with_C(C)
        less = self._with_C(C / APART)
        less.verbose = 0
        if self.max_time is not None:
            less.max_time = LESS_TIME * self.max_time
        begun = now()
        vars(less).pop("_skl_callbacks", None)
        with Watch(less, rows) as unwatched:
            at_less = less._train(rows, from_zero, unwatched)
        model.max_time = self._stop().after(now() - begun).max_time  # it is for the whole fit
        solutions = [per_C(s, C) for s in model._train(rows, start, watch)]
        if has_optimum(rows.data, solutions, at_less):
            return solutions
        return [without_optimum(s) if s.converged else s for s in solutions]

    def _with_C(self, C: float) -> Any:
        """Return a copy of the estimator with this C."""
        model = copy(self)
        model.C, model.penalty, model.l1_ratio = C, "l2", 0.0  # C = infinity leaves nothing of any penalty
        return model

    def _report(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        if self._weight_of_loss() < inf or not all(s.stop_reason == "stalled" for s in solutions):
            super()._report(rows, solutions)
            return
        warnings.warn(
            "C=inf: there is no optimum without a penalty, since the classes are separable, at least in part: larger "
            "weights are always better. The model is that of a very large C; its weights are finite but arbitrary. "
            "Choose a finite C.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _shape_of_variables(self, rows: TrainingSet) -> tuple[int, ...]:
        if not self._is_joint(rows):
            return super()._shape_of_variables(rows)
        assert isinstance(rows, ClassificationSet)
        return (rows.classes.size, rows.data.n_features + 1)

    def _variables(self, at: Solution | Snapshot, bias: float) -> np.ndarray:
        if at.w.ndim == 1:
            return super()._variables(at, bias)
        return np.column_stack([at.w, at.intercept / bias if bias else np.zeros(len(at.w))])

    def _previous(self, rows: TrainingSet) -> Start:
        if not self._is_joint(rows):
            return super()._previous(rows)
        if not (self.warm_start and self._has_model_of(rows)):
            return from_zero
        weights = self._weights(rows.data.rows.bias)
        return lambda problem, k: {"alpha0": weights}

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        if not self._is_joint(rows):
            super()._keep(rows, solutions)
            return
        self._keep_runs(rows.known, solutions)
        (s,) = solutions
        self.coef_, self.intercept_ = s.w, s.intercept
        self.dual_coef_ = np.ascontiguousarray(s.alpha.T)
        self.support_ = support_of(self.dual_coef_)
