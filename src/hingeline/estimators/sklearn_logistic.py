"""A fitted ``LogisticRegression`` as scikit-learn's."""

from __future__ import annotations

from copy import copy
from inspect import signature
from math import inf
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

from .base import dense_coef

TAKES_PENALTY = signature(SklearnLogisticRegression).parameters["penalty"].default == "l2"  # before scikit-learn 1.8


def unfitted(model: Any, C: float, l1_ratio: float, regularised: bool, multinomial: bool) -> Any:
    """Return scikit-learn's estimator of the problem of ``model``; its intercept may be ``regularised``."""
    solver = "lbfgs" if l1_ratio == 0.0 else "saga"
    if regularised and l1_ratio in (0.0, 1.0) and not multinomial:  # scikit-learn regularises no other one
        solver = "liblinear"
    how: dict[str, Any] = {"C": C, "l1_ratio": l1_ratio}
    if TAKES_PENALTY:
        penalty = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
        how = {"C": C, "penalty": penalty, "l1_ratio": l1_ratio if penalty == "elasticnet" else None}
        how = {"penalty": None} if C == inf else how
    return SklearnLogisticRegression(
        **how,
        tol=model.tol,
        fit_intercept=bool(model.fit_intercept),
        intercept_scaling=model.intercept_scaling,
        class_weight=model.class_weight,
        random_state=model.random_state,
        solver=solver,
    )


def one_versus_rest(model: Any, binary: Any) -> Any:
    """Return ``model``, trained one class against the rest, with a copy of ``binary`` for each class."""
    coef, estimators = dense_coef(model.coef_), []
    for k in range(len(coef)):
        estimator = copy(binary)
        estimator.classes_ = np.array([0, 1])
        estimator.coef_, estimator.intercept_ = coef[k : k + 1].copy(), model.intercept_[k : k + 1].copy()
        estimators.append(estimator)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(estimator, name, copy(getattr(model, name)))
    together = OneVsRestClassifier(binary)
    together.estimators_, together.classes_ = estimators, model.classes_.copy()
    together.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(together, name, copy(getattr(model, name)))
    return together
