"""What a model file holds, in words and numbers, without the estimator that it stands for (``hingeline inspect``)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from .liblinear_file import LinearModel, ModelFileError

CERTIFICATE = (
    *("objective_", "dual_objective_", "duality_gap_", "kkt_violation_"),
    *("converged_", "stop_reason_", "solver_", "n_iter_", "n_steps_", "fit_time_"),
)


@dataclass(frozen=True)
class Weight:
    """A feature, by its name or its number, and what it weighs."""

    feature: str
    weight: float


@dataclass(frozen=True)
class Output:
    """The weights of one score: of a class, of the first of two classes, or of a regression (``label`` is None).

    ``top`` are the features with the largest absolute weights.
    """

    label: str | None
    intercept: float
    nonzeros: int
    length: float
    top: list[Weight]


@dataclass(frozen=True)
class Description:
    """What a model is.

    Attributes
    ----------
    format : {"liblinear", "native"}
    model : str
        LIBLINEAR's type in words, or the estimator's name.
    written_by : str, optional
        The version of hingeline that wrote the file, if it says so.
    labels : list of str, optional
        The classes.
    n_features : int
    parameters : dict
        The settings that the file tells.
    certificate : dict
        How good the model is, and how it was found; empty for LIBLINEAR's files, which do not tell.
    outputs : list of Output
    """

    format: str
    model: str
    written_by: str | None
    labels: list[str] | None
    n_features: int
    parameters: dict[str, Any]
    certificate: dict[str, Any]
    outputs: list[Output]

    def as_json(self) -> dict[str, Any]:
        """Return the same in JSON's terms."""
        return asdict(self)


def describe_model(content: LinearModel | dict[str, Any], most: int, names: list[str] | None = None) -> Description:
    """Return what the content of a model file says, with the ``most`` heaviest features of each output.

    Features are called by ``names``, or by those that the file holds; else by their numbers, from 1 in LIBLINEAR's
    files and from 0 in hingeline's own. Raises ``ModelFileError`` if the content is not that of a model.
    """
    return _of_liblinear(content, most, names) if isinstance(content, LinearModel) else _of_native(content, most, names)


def _of_liblinear(model: LinearModel, most: int, names: list[str] | None) -> Description:
    solver_type = model.solver_type
    coef = model.w[: model.n_features].T
    intercepts = np.zeros(coef.shape[0])
    if model.bias >= 0.0:
        intercepts = model.w[model.n_features] * model.bias
    if solver_type.task == "one_class":
        intercepts = intercepts - model.rho
    labels = None if model.labels is None else [str(label) for label in model.labels]
    return Description(
        "liblinear",
        solver_type.title,
        None,
        labels,
        model.n_features,
        {"type (-s)": model.type, "bias (-B)": model.bias},
        {},
        _outputs(coef, intercepts, labels or [None], _named(names, model.n_features, 1), most),
    )


def _of_native(content: dict[str, Any], most: int, names: list[str] | None) -> Description:
    learned, parameters = content.get("learned"), content.get("parameters")
    if not (isinstance(learned, dict) and isinstance(parameters, dict)):
        raise ModelFileError("it holds no model that could be described.")
    coef, intercept = learned.get("coef_"), learned.get("intercept_")
    if not (isinstance(coef, np.ndarray) and coef.dtype.kind == "f" and 1 <= coef.ndim <= 2):
        raise ModelFileError("it holds no weights: the file is damaged.")
    coef = np.atleast_2d(coef)
    intercepts = np.zeros(coef.shape[0])
    if isinstance(intercept, np.ndarray) and intercept.shape == (coef.shape[0],):
        intercepts = intercept
    classes = learned.get("classes_")
    labels = [str(label) for label in classes.tolist()] if isinstance(classes, np.ndarray) else None
    # Of two classes, positive scores stand for the second.
    for_outputs: list[Any] = labels[1:] if labels is not None and coef.shape[0] == 1 else labels or [None]
    found = learned.get("feature_names_in_")
    if names is None and isinstance(found, np.ndarray) and found.shape == (coef.shape[1],):
        names = [str(name) for name in found]
    return Description(
        "native",
        str(content.get("estimator")),
        str(content.get("hingeline")),
        labels,
        coef.shape[1],
        {str(name): _plain(value) for name, value in parameters.items() if value is not None},
        {name.rstrip("_"): _plain(learned[name]) for name in CERTIFICATE if name in learned},
        _outputs(coef, intercepts, for_outputs, _named(names, coef.shape[1], 0), most),
    )


def _outputs(coef: np.ndarray, intercepts: np.ndarray, labels: Any, names: Any, most: int) -> list[Output]:
    outputs = []
    for k, w in enumerate(coef):
        heaviest = np.argsort(-np.abs(w), kind="stable")[:most]
        top = [Weight(names(int(j)), float(w[j])) for j in heaviest if w[j] != 0.0]
        label = labels[k] if k < len(labels) else None
        length = float(np.linalg.norm(w))
        outputs.append(Output(label, float(intercepts[k]), int(np.count_nonzero(w)), length, top))
    return outputs


def _named(names: list[str] | None, n_features: int, first: int) -> Any:
    """Return a function from columns to names."""
    if names is None:
        return lambda j: str(first + j)
    if len(names) < n_features:
        raise ValueError(f"There are {len(names)} feature names, but the model has {n_features} features.")
    return names.__getitem__


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; arrays by their shape."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, float) and not isfinite(value):
        return repr(value)
    return value if isinstance(value, bool | int | float | str) else str(value)
