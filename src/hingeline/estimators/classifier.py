"""What the linear classifiers share: one machine for two classes, one for each class against the rest for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Data
from ..kernels.losses import Loss
from ..solution import Solution
from ..solvers.one_versus_rest import OneVersusRest
from .base import decision_values, dense_coef, read_to_fit, read_to_predict, support_of
from .certified import TRAINING_CONSTRAINTS, CertifiedEstimator
from .labels import class_weights, drop_weightless, encode_labels, encode_weights
from .watch import Watch

CLASSIFIER_CONSTRAINTS: dict[str, list[Any]] = {
    **TRAINING_CONSTRAINTS,
    "class_weight": [None, dict, StrOptions({"balanced"})],
}


class CertifiedClassifier(LinearClassifierMixin, SparseCoefMixin, CertifiedEstimator):
    """A linear classifier; a subclass says which loss."""

    def _loss(self) -> Loss:
        """Return the loss that the parameters describe."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : {array, data frame, sparse matrix} of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row; rows of weight zero count for nothing.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        data, features = read_to_fit(X, self._bias(), self.n_jobs)
        classes, codes = encode_labels(y)
        if codes.size != data.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{data.n_rows}, {codes.size}]"
            )
        weights = encode_weights(sample_weight, data.n_rows)
        drop_weightless(classes, codes, weights)
        with Watch(self, X, y, sample_weight, **features, classes_=classes) as watch:
            solutions = self._train(data, classes, codes, weights, watch)
            self._keep(features, classes, codes, solutions)
        self._report(solutions)
        return self

    def _train(
        self,
        data: Data,
        classes: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        watch: Watch | None = None,
    ) -> list[Solution]:
        """Train one machine for two classes, else one for each class against the rest."""
        loss = self._loss()
        per_class = class_weights(self.class_weight, classes, codes, weights)
        problems = OneVersusRest(codes, classes.size)
        same_classes = hasattr(self, "coef_") and np.array_equal(self.classes_, classes)
        start = self._previous(data, same_classes)
        return self._solve(
            data,
            lambda k: problems.problem(k, data, loss, per_class, weights),
            len(problems),
            start,
            watch=watch,
            names=list(classes),
        )

    def _keep(
        self, features: dict[str, Any], classes: np.ndarray, codes: np.ndarray, solutions: list[Solution]
    ) -> None:
        """Set every attribute of a trained estimator; nothing before this changes one."""
        self._keep_runs(features, solutions)
        self.classes_ = classes
        binary = len(solutions) == 1
        self.coef_ = solutions[0].w[np.newaxis] if binary else np.array([s.w for s in solutions])
        self.intercept_ = np.array([s.intercept for s in solutions])
        problems = OneVersusRest(codes, classes.size)
        for k, s in enumerate(solutions):
            s.alpha[:] *= problems.labels(k)
            s.alpha[:] += 0.0  # -0.0 is shown with its sign
        self.dual_coef_ = solutions[0].alpha if binary else np.array([s.alpha for s in solutions])
        self.support_ = support_of(self.dual_coef_)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the signed scores, (n_samples,) for two classes, else (n_samples, n_classes)."""
        check_is_fitted(self)
        matrix = read_to_predict(self, X)
        values = decision_values(matrix, dense_coef(self.coef_), self.intercept_)
        return values.ravel() if values.shape[1] == 1 else values
