"""Converts fitted estimators to the content of model files, and back: one ``ModelKind`` per class."""

from __future__ import annotations

import re
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..io.models.kinds import ModelKind
from ..io.models.liblinear_file import INT_MAX, LinearModel, ModelFileError
from ..io.models.solver_types import SOLVER_TYPES, SolverType
from .base import dense_coef
from .certified import PER_ROW
from .per_class import ALL, COLUMNS, PerClass, joined, overall, present_history

LEARNED = re.compile(r"[a-zA-Z]\w*_")  # scikit-learn's convention


def model_kind(estimator_class: Any) -> ModelKind:
    """Return how models of a class are saved and loaded."""
    name = estimator_class.__name__
    return ModelKind(
        estimator_class,
        to_record=to_record,
        from_record=partial(from_record, estimator_class),
        solver_types=tuple(known.number for known in SOLVER_TYPES.values() if estimator_of(known)[0] == name),
        to_liblinear=to_liblinear,
        from_liblinear=partial(from_liblinear, estimator_class),
    )


def estimator_of(solver_type: SolverType) -> tuple[str, dict[str, Any]]:
    """Return the name of the estimator that stands for one of LIBLINEAR's types, and the parameters that it needs."""
    if solver_type.task == "one_class":
        return "OneClassSVM", {}
    if solver_type.task == "regression":
        return "LinearSVR", {"loss": solver_type.loss}
    if solver_type.task == "crammer_singer":
        return "LinearSVC", {"multi_class": "crammer_singer"}
    if solver_type.loss == "logistic":
        return "LogisticRegression", {"penalty": solver_type.penalty, "multi_class": "ovr"}
    return "LinearSVC", {"penalty": solver_type.penalty, "loss": solver_type.loss, "multi_class": "ovr"}


def to_record(estimator: Any, compact: bool = False) -> dict[str, Any]:
    """Return the parameters of a fitted estimator and what it has learned; if ``compact``, no value per row."""
    check_is_fitted(estimator)
    params = estimator.get_params(deep=False)
    if isinstance(params.get("random_state"), np.random.RandomState):
        params["random_state"] = None  # the state of a generator is not learned
    if not isinstance(params.get("cv"), Integral):
        params.pop("cv", None)  # folds were for the search, which is over
    if callable(params.get("scoring")):
        raise ValueError(
            "scoring is a function, which a model file cannot hold: save to_model(), or name a scikit-learn scorer."
        )
    learned = {key: value for key, value in vars(estimator).items() if LEARNED.fullmatch(key)}
    for name in PER_ROW if compact else ():
        learned.pop(name, None)
    learned["coef_"] = dense_coef(estimator.coef_)
    if "per_class_" in learned:
        learned["per_class_"] = dict(learned["per_class_"])
    return {"parameters": params, "learned": learned}


def from_record(estimator_class: Any, record: dict[str, Any]) -> Any:
    """Return the estimator of a record, which may come from a damaged file."""
    params, learned = record.get("parameters"), record.get("learned")
    if not (isinstance(params, dict) and isinstance(learned, dict)):
        raise ModelFileError("this file does not hold an estimator.")
    estimator = estimator_class()
    if hasattr(estimator, "_present_parameters"):  # files of earlier versions hold others
        params = estimator._present_parameters(params)
    unknown = set(params) - set(estimator.get_params(deep=False))
    if unknown:
        raise ModelFileError(f"{estimator_class.__name__} has no parameter {str(min(map(str, unknown)))[:40]!r}.")
    estimator.set_params(**params)
    if not all(isinstance(key, str) and LEARNED.fullmatch(key) for key in learned):
        raise ModelFileError("the name of a learned attribute does not end in an underscore: the file is damaged.")
    vars(estimator).update(_present_form(learned))
    _check_shapes(estimator)
    return estimator


def _present_form(learned: dict[str, Any]) -> dict[str, Any]:
    """Return learned attributes in the form that they have today; files of earlier versions hold others."""
    learned = dict(learned)
    if "offset_" in learned:
        learned["offset_"] = np.atleast_1d(learned["offset_"])
    try:
        if "per_class_" in learned:
            learned["per_class_"] = PerClass.read(learned["per_class_"])
            learned["history_"] = present_history(learned["history_"])
        elif "duality_gap_" in learned:  # there was an array per attribute, and a history per class
            gaps = np.atleast_1d(learned["duality_gap_"])
            label = learned["classes_"] if gaps.size > 1 else [ALL]
            of_problems = {name: np.atleast_1d(learned[f"{name}_"]) for name in COLUMNS}
            learned.update(overall(PerClass.read({"label": label, **of_problems})))
            histories = learned["history_"]
            histories = histories if isinstance(histories, list) else [histories]
            learned["history_"] = joined([present_history(history) for history in histories])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise ModelFileError("its training results contradict each other: the file is damaged.") from None
    return learned


def _check_shapes(estimator: Any) -> None:
    """Raise unless the attributes that predictions are made from fit together."""
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
        raise ModelFileError("the shapes of weights, classes and features do not match: the file is damaged.")


def to_liblinear(estimator: Any) -> LinearModel:
    """Return a fitted estimator as a LIBLINEAR model: of two classes, the second (the positive one) comes first."""
    check_is_fitted(estimator)
    if hasattr(estimator, "to_model"):  # the model of a search for C
        estimator = estimator.to_model()
    solver_type = _type_of(estimator)
    params = estimator.get_params(deep=False)
    bias = -1.0
    if solver_type.task != "one_class" and params["fit_intercept"]:
        bias = float(params.get("intercept_scaling", 1.0))
    coef = np.atleast_2d(dense_coef(estimator.coef_))
    intercept = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    rho = -float(intercept[0]) if solver_type.task == "one_class" else 0.0
    labels = None
    if is_classifier(estimator):
        labels = tuple(_whole_number(label) for label in estimator.classes_)
        if len(labels) == 2:
            labels = labels[::-1]
            if solver_type.task == "crammer_singer":  # two outputs, each the other's opposite
                coef, intercept = np.vstack((coef, -coef)) / 2.0, np.append(intercept, -intercept) / 2.0
    w = coef.T if bias < 0.0 else np.vstack((coef.T, intercept / bias))
    return LinearModel(solver_type.number, labels, coef.shape[1], bias, np.ascontiguousarray(w), rho)


def _type_of(estimator: Any) -> SolverType:
    """Return LIBLINEAR's type for an estimator; of two types of one problem, the first."""
    name, params = type(estimator).__name__, estimator.get_params(deep=False)
    if hasattr(estimator, "_explicit_parameters"):
        params |= estimator._explicit_parameters()
    if params.get("multi_class") == "multinomial":
        raise ValueError(
            "LIBLINEAR's files hold no multinomial model: save it with format='native', or train it with "
            "multi_class='ovr'."
        )
    for solver_type in SOLVER_TYPES.values():
        known, values = estimator_of(solver_type)
        if known == name and all(params.get(key) == value for key, value in values.items()):
            return solver_type
    raise ValueError(f"LIBLINEAR has no type for {estimator!r}: save it with format='native'.")


def _whole_number(label: Any) -> int:
    if isinstance(label, (np.integer, np.floating)) and label == int(label) and abs(int(label)) <= INT_MAX:
        return int(label)
    raise ValueError(
        f"the class {label!r} is not a whole number of at most {INT_MAX}, which LIBLINEAR's format needs: save with "
        "format='native'."
    )


def from_liblinear(estimator_class: Any, model: LinearModel) -> Any:
    """Return the estimator for a LIBLINEAR model; what the model does not say keeps its default."""
    if model.n_classes < 2:
        raise ValueError("The model has a single class, but an estimator needs two: use 'hingeline predict'.")
    solver_type = model.solver_type
    estimator = estimator_class(**estimator_of(solver_type)[1])
    if solver_type.task != "one_class":
        regularised = "regularised" if solver_type.loss == "logistic" else True
        estimator.set_params(fit_intercept=regularised if model.bias > 0.0 else False)
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
            if solver_type.task == "crammer_singer":
                coef, intercept = coef[:1] - coef[1:], intercept[:1] - intercept[1:]
            sign = 1.0 if order[1] == 0 else -1.0
            coef, intercept = sign * coef, sign * intercept
    estimator.coef_, estimator.intercept_ = np.ascontiguousarray(coef), np.asarray(intercept)
    if solver_type.task == "one_class":
        estimator.intercept_, estimator.offset_ = np.array([-model.rho]), np.array([model.rho])
    elif model.labels is None:
        estimator.coef_ = estimator.coef_[0]
    return estimator
