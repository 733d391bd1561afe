"""Scores of rows that are held out, from their decision values: without another pass over X, if possible."""

from __future__ import annotations

from copy import copy
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import _safe_indexing, indexable

from .folds import Fold

DEFAULT = {"classifier": "accuracy", "regressor": "r2"}


def scorer_of(estimator: Any, scoring: Any) -> Any:
    """Return the scorer that ``scoring`` stands for; None means accuracy, or R^2 in a regression.

    Raises ValueError if it is one of scikit-learn's and calls methods that the estimator does not have.
    """
    default = DEFAULT["classifier" if is_classifier(estimator) else "regressor"]
    scorer = check_scoring(estimator, default if scoring is None else scoring)
    methods = getattr(scorer, "_response_method", "predict")
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    if methods != ("default",) and not any(hasattr(estimator, method) for method in methods):
        raise ValueError(
            f"scoring={scoring!r} needs {' or '.join(methods)}, which {type(estimator).__name__} does not have: choose "
            "another scoring" + (", or train by logistic regression." if "predict_proba" in methods else ".")
        )
    return scorer


class HeldOutScore:
    """Scores the rows that a fold holds out.

    scikit-learn's own scorers use X only in calls of the model's methods. So they get a model that knows the decision
    values already, and row numbers instead of X. Any other callable gets the rows themselves.

    Parameters
    ----------
    model : estimator
        Of the right class, with ``classes_`` if it is a classifier. It is copied, not changed.
    scoring : str, callable or None
    X, y
        All rows, and their labels or targets as they were given.
    folds : list of Fold
    params : dict
        Metadata for the scorer, such as ``sample_weight``; of arrays with one value per row, it gets the fold's part.
    """

    def __init__(self, model: Any, scoring: Any, X: Any, y: np.ndarray, folds: list[Fold], params: dict[str, Any]):
        self._model, self._y, self._folds, self._params = model, y, folds, params
        (self._X,) = indexable(X)
        self._scorer = _knowing_classes(scorer_of(model, scoring), model)
        self._plain_accuracy = scoring is None and is_classifier(model) and set(params) <= {"sample_weight"}

    def __call__(self, fold: int, C: float, values: np.ndarray, weights: list[np.ndarray | None], bias: float) -> float:
        """Return the score of a fold, from decision values (rows x problems) and each problem's weights."""
        held_out = self._folds[fold].held_out
        y = self._y[held_out]
        params = {name: self._cut(value, held_out) for name, value in self._params.items()}
        if self._plain_accuracy:
            return _accuracy(self._predicted(values) == y, params.get("sample_weight"))
        model = copy(self._model)
        model.C = C
        self._set_weights(model, weights, bias)
        if not isinstance(self._scorer, _BaseScorer):
            return float(self._scorer(model, _safe_indexing(self._X, held_out), y, **params))
        known = values[:, 0] if values.shape[1] == 1 else values

        def values_of(rows: np.ndarray) -> np.ndarray:
            return known

        values_of.__name__ = "decision_function" if is_classifier(model) else "predict"  # scorers look at the name
        setattr(model, values_of.__name__, values_of)
        return float(self._scorer(model, held_out, y, **params))

    def _cut(self, value: Any, held_out: np.ndarray) -> Any:
        is_per_row = hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) == self._y.size
        return _safe_indexing(value, held_out) if is_per_row else value

    def _predicted(self, values: np.ndarray) -> np.ndarray:
        codes = (values[:, 0] > 0.0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
        return np.asarray(self._model.classes_[codes])

    def _set_weights(self, model: Any, weights: list[np.ndarray | None], bias: float) -> None:
        """Set the attributes of a fitted ``model``; a class without training rows is never predicted."""
        size = next(w.size for w in weights if w is not None) - 1
        coef = np.array([np.zeros(size) if w is None else w[:-1] for w in weights])
        intercept = np.array([-np.inf if w is None else bias * w[-1] for w in weights])
        model.coef_ = coef if is_classifier(model) else coef[0]
        model.intercept_ = intercept


def _knowing_classes(scorer: Any, model: Any) -> Any:
    """Return a scorer of probabilities that knows all classes: the rows of a fold may lack some of them."""
    if not is_classifier(model) or getattr(scorer, "_response_method", None) != "predict_proba":
        return scorer
    known = {"labels": model.classes_}
    if model.classes_.size == 2:
        known["pos_label"] = model.classes_[1]
    taken = signature(scorer._score_func).parameters
    known = {name: value for name, value in known.items() if name in taken and name not in scorer._kwargs}
    if not known:
        return scorer
    knowing = copy(scorer)
    knowing._kwargs = {**scorer._kwargs, **known}
    return knowing


def _accuracy(right: np.ndarray, weights: Any) -> float:
    if weights is None:
        return float(right.mean())
    weights = np.asarray(weights, dtype=np.float64)
    total = float(weights.sum())
    return float(weights[right].sum()) / total if total > 0.0 else np.nan
