"""Fitted estimators to files and back: ``save_model`` and ``load_model``, which ``hingeline.io`` exports.

hingeline's own format keeps all that an estimator has learned, its certificate and parameters included, and labels of
any type. LIBLINEAR's keeps the weights, for LIBLINEAR and what reads its files; labels must be whole numbers.
"""

from __future__ import annotations

import re
import sys
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..io.models.liblinear_file import INT_MAX, LinearModel, ModelFileError, read_model, write_model
from ..io.models.native_file import is_native, read_native, write_native
from ..io.models.solver_types import CRAMMER_SINGER, ONE_CLASS
from ..version import __version__
from .base import dense_coef

FORMATS = ("native", "liblinear")
LEARNED = re.compile(r"[a-z]\w*_")  # scikit-learn's convention

# The estimator that stands for each of LIBLINEAR's types; of two types of one problem, the first is written.
TYPES: dict[int, tuple[str, dict[str, Any]]] = {
    1: ("LinearSVC", {"penalty": "l2", "loss": "squared_hinge", "multi_class": "ovr"}),
    2: ("LinearSVC", {"penalty": "l2", "loss": "squared_hinge", "multi_class": "ovr"}),
    3: ("LinearSVC", {"penalty": "l2", "loss": "hinge", "multi_class": "ovr"}),
    4: ("LinearSVC", {"multi_class": "crammer_singer"}),
    5: ("LinearSVC", {"penalty": "l1", "loss": "squared_hinge", "multi_class": "ovr"}),
    0: ("LogisticRegression", {"penalty": "l2"}),
    7: ("LogisticRegression", {"penalty": "l2"}),
    6: ("LogisticRegression", {"penalty": "l1"}),
    11: ("LinearSVR", {"loss": "squared_epsilon_insensitive"}),
    12: ("LinearSVR", {"loss": "squared_epsilon_insensitive"}),
    13: ("LinearSVR", {"loss": "epsilon_insensitive"}),
    21: ("OneClassSVM", {}),
}


def save_model(estimator: Any, path: str | PathLike[str], *, format: str = "native") -> None:
    """Write a fitted estimator to a file, as a whole or not at all.

    Parameters
    ----------
    estimator : fitted estimator of hingeline's
    path : str or path
    format : {"native", "liblinear"}
        "native": hingeline's own file (JSON and arrays, no pickle) with all that was learned, the certificate included.
        "liblinear": LIBLINEAR's text file, for programs that read it; labels must be whole numbers.
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {format!r}.")
    name = type(estimator).__name__
    if _known().get(name) is not type(estimator):
        raise ValueError(f"{name} is no estimator of hingeline's: {', '.join(_known())} can be saved.")
    check_is_fitted(estimator)
    if format == "liblinear":
        write_model(as_linear_model(estimator), path)
        return
    params = estimator.get_params(deep=False)
    if isinstance(params.get("random_state"), np.random.RandomState):
        params["random_state"] = None  # a generator's state is nothing that was learned
    learned = {key: value for key, value in vars(estimator).items() if LEARNED.fullmatch(key)}
    learned["coef_"] = dense_coef(estimator.coef_)
    content = {"estimator": name, "hingeline": __version__, "parameters": params, "learned": learned}
    write_native(content, path)


def load_model(path: str | PathLike[str]) -> Any:
    """Return the fitted estimator that a file holds, in hingeline's format or LIBLINEAR's, whichever it is.

    Loading runs no code from the file and takes no more memory than the file fills; a damaged file is a ``ValueError``.
    """
    return _from_native(path) if is_native(path) else from_linear_model(read_model(path))


def _known() -> dict[str, Any]:
    """Return the classes that a file may name."""
    package = sys.modules[__package__]
    return {name: getattr(package, name) for name in package.__all__}


def _from_native(path: str | PathLike[str]) -> Any:
    content = read_native(path)
    name, params, learned = (content.get(key) for key in ("estimator", "parameters", "learned"))
    if not (isinstance(name, str) and isinstance(params, dict) and isinstance(learned, dict)):
        raise ModelFileError(f"{path}: no estimator is in this file.")
    if name not in _known():
        version = str(content.get("hingeline"))[:20]
        raise ModelFileError(f"{path}: unknown estimator {name[:40]!r}; hingeline {version} wrote it.")
    estimator = _known()[name]()
    unknown = set(params) - set(estimator.get_params(deep=False))
    if unknown:
        raise ModelFileError(f"{path}: {name} has no parameter {str(min(map(str, unknown)))[:40]!r}.")
    estimator.set_params(**params)
    if not all(isinstance(key, str) and LEARNED.fullmatch(key) for key in learned):
        raise ModelFileError(f"{path}: an attribute's name is not one of scikit-learn's kind.")
    vars(estimator).update(learned)
    _check_shapes(estimator, path)
    return estimator


def _check_shapes(estimator: Any, path: str | PathLike[str]) -> None:
    """Raise unless what predictions are made from fits together."""
    learned = vars(estimator)
    coef, n_features = learned.get("coef_"), learned.get("n_features_in_")
    sound = isinstance(coef, np.ndarray) and coef.dtype == np.float64 and np.isfinite(coef).all()
    sound = sound and 1 <= coef.ndim <= 2 and type(n_features) is int and coef.shape[-1] == n_features
    if sound and is_classifier(estimator):
        classes, intercept = learned.get("classes_"), learned.get("intercept_")
        sound = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.size >= 2 and coef.ndim == 2
        sound = sound and coef.shape[0] == (1 if classes.size == 2 else classes.size)
        sound = sound and isinstance(intercept, np.ndarray) and intercept.shape == (coef.shape[0],)
    if not sound:
        raise ModelFileError(f"{path}: weights, classes and features do not fit together: the file is damaged.")


def as_linear_model(estimator: Any) -> LinearModel:
    """Return a fitted estimator in LIBLINEAR's terms: of two classes, the second (the positive one) comes first."""
    solver_type = _type_of(estimator)
    params = estimator.get_params(deep=False)
    bias = -1.0
    if solver_type != ONE_CLASS and params["fit_intercept"]:
        bias = float(params.get("intercept_scaling", 1.0))
    coef = np.atleast_2d(dense_coef(estimator.coef_))
    intercept = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    rho = -float(intercept[0]) if solver_type == ONE_CLASS else 0.0
    labels = None
    if is_classifier(estimator):
        labels = tuple(_whole(label) for label in estimator.classes_)
        if len(labels) == 2:
            labels = labels[::-1]
            if solver_type == CRAMMER_SINGER:  # two machines, each the other's opposite
                coef, intercept = np.vstack((coef, -coef)) / 2.0, np.append(intercept, -intercept) / 2.0
    w = coef.T if bias < 0.0 else np.vstack((coef.T, intercept / bias))
    return LinearModel(solver_type, labels, coef.shape[1], bias, np.ascontiguousarray(w), rho)


def _type_of(estimator: Any) -> int:
    name, params = type(estimator).__name__, estimator.get_params(deep=False)
    for solver_type, (known, values) in TYPES.items():
        if known == name and all(params.get(key) == value for key, value in values.items()):
            return solver_type
    raise ValueError(f"LIBLINEAR has no type for {estimator!r}: save it with format='native'.")


def _whole(label: Any) -> int:
    if isinstance(label, (np.integer, np.floating)) and label == int(label) and abs(int(label)) <= INT_MAX:
        return int(label)
    raise ValueError(
        f"the class {label!r} is no whole number of at most {INT_MAX}, as LIBLINEAR's labels are: save with "
        "format='native'."
    )


def from_linear_model(model: LinearModel) -> Any:
    """Return the estimator that a model of LIBLINEAR's stands for; what the file does not say keeps its default."""
    name, params = TYPES[model.type]
    if name not in _known():
        raise ValueError(f"a model of type {model.type} needs {name}, which this version of hingeline has not got.")
    if model.n_classes < 2:
        raise ValueError("the model knows a single class, which no estimator does: use 'hingeline predict'.")
    estimator = _known()[name](**params)
    if model.type != ONE_CLASS:
        estimator.set_params(fit_intercept=model.bias > 0.0)
        if model.bias > 0.0 and "intercept_scaling" in estimator.get_params():
            estimator.set_params(intercept_scaling=model.bias)
    coef = model.w[: model.n_features].T
    intercept = model.w[model.n_features] * model.bias if model.bias > 0.0 else np.zeros(coef.shape[0])
    estimator.n_features_in_ = model.n_features
    if model.labels is not None:
        order = np.argsort(model.labels)
        estimator.classes_ = np.asarray(model.labels)[order]
        if len(order) > 2:
            coef, intercept = coef[order], intercept[order]
        else:  # the second class is the positive one
            if model.type == CRAMMER_SINGER:
                coef, intercept = coef[:1] - coef[1:], intercept[:1] - intercept[1:]
            sign = 1.0 if order[1] == 0 else -1.0
            coef, intercept = sign * coef, sign * intercept
    estimator.coef_, estimator.intercept_ = np.ascontiguousarray(coef), np.asarray(intercept)
    if model.type == ONE_CLASS:
        estimator.intercept_, estimator.offset_ = np.array([-model.rho]), np.array([model.rho])
    elif model.labels is None:
        estimator.coef_ = estimator.coef_[0]
    return estimator
