"""Models of hingeline's own files in LIBLINEAR's terms, without their estimators.

Importing the estimators takes longer than predicting a small file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .liblinear_file import INT_MAX, LinearModel

# A type of LIBLINEAR's that predicts as the estimator does.
TYPES = {
    **dict.fromkeys(("LinearSVC", "LinearSVCCV"), 1),
    **dict.fromkeys(("LinearSVR", "LinearSVRCV"), 11),
    **dict.fromkeys(("LogisticRegression", "LogisticRegressionCV"), 0),
    "OneClassSVM": 21,
}


def linear_model(content: dict[str, Any]) -> LinearModel | None:
    """Return the model that a file holds; None if anything about it is unusual, so that the estimator has to tell."""
    number, learned = TYPES.get(str(content.get("estimator"))), content.get("learned")
    if number is None or not isinstance(learned, dict):
        return None
    coef: Any = learned.get("coef_")
    intercept: Any = learned.get("intercept_")
    classes = learned.get("classes_")
    if not (_is_sound(coef) and _is_sound(intercept) and coef.ndim <= 2):
        return None
    coef, intercept = np.atleast_2d(coef), np.atleast_1d(intercept)
    if intercept.shape != coef.shape[:1] or learned.get("n_features_in_") != coef.shape[1]:
        return None
    if number in (11, 21):
        if coef.shape[0] != 1:
            return None
        rho = -float(intercept[0]) if number == 21 else 0.0
        w = coef.T if number == 21 else np.vstack((coef.T, intercept))
        return LinearModel(number, None, coef.shape[1], -1.0 if number == 21 else 1.0, np.ascontiguousarray(w), rho)
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind == "i" and classes.size >= 2):
        return None
    is_binary = classes.size == 2
    if coef.shape[0] != (1 if is_binary else classes.size) or np.abs(classes).max() > INT_MAX:
        return None
    if number == 0 and not is_binary:  # it may be multinomial
        return None
    labels = tuple(int(label) for label in (classes[::-1] if is_binary else classes))
    return LinearModel(number, labels, coef.shape[1], 1.0, np.vstack((coef.T, intercept)))


def _is_sound(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and bool(np.isfinite(array).all())
