"""What the linear classifiers share: reading labels, attributes of the problems of several classes, scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..solution import Solution
from .base import decision_values, dense_coef, read_to_predict, support_of
from .certified import TRAINING_CONSTRAINTS, CertifiedEstimator
from .device import is_dispatched, refuse_other_place
from .training_set import ClassificationSet, TrainingSet, read_classification

CLASSIFIER_CONSTRAINTS: dict[str, list[Any]] = {
    **TRAINING_CONSTRAINTS,
    "class_weight": [None, dict, StrOptions({"balanced"})],
}


class CertifiedClassifier(LinearClassifierMixin, SparseCoefMixin, CertifiedEstimator):
    """A linear classifier; a subclass says which loss."""

    def _read(self, X: Any, y: Any, sample_weight: Any) -> ClassificationSet:
        return read_classification(self, X, y, sample_weight, bias=self._bias(), class_weight=self.class_weight)

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        assert isinstance(rows, ClassificationSet)
        self._keep_runs(rows.known, solutions)
        binary = len(solutions) == 1
        self.coef_ = solutions[0].w[np.newaxis] if binary else np.array([s.w for s in solutions])
        self.intercept_ = np.array([s.intercept for s in solutions])
        for k, s in enumerate(solutions):
            rows.one_versus_rest.sign(s.alpha, k)
        self.dual_coef_ = solutions[0].alpha if binary else np.array([s.alpha for s in solutions])
        self.support_ = support_of(self.dual_coef_, self.n_jobs)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the signed scores, (n_samples,) for two classes, else (n_samples, n_classes)."""
        check_is_fitted(self)
        if is_dispatched(X):
            from .on_device import scores_on_device

            scores = scores_on_device(self, X, "decision_function")
            return scores[:, 0] if scores.shape[1] == 1 else scores
        refuse_other_place(self, X, "decision_function")
        matrix = read_to_predict(self, X)
        values = decision_values(matrix, dense_coef(self.coef_), self.intercept_)
        return values.ravel() if values.shape[1] == 1 else values
