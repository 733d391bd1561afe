"""What a report is about: a run folder, a search folder, a model file, or an estimator, read into one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hingeline.io.models.files import load_model, to_liblinear
from hingeline.io.models.liblinear_file import LinearModel, read_model
from hingeline.io.models.native_file import is_native
from hingeline.io.records.json_file import JsonFileError
from hingeline.io.records.run_folder import MODEL, RUN, has_run, read_run
from hingeline.io.records.search_folder import PATH, has_search, read_search
from hingeline.runtime.environment import environment


@dataclass(frozen=True)
class Weights:
    """Weights by output: ``coef`` of shape (n_outputs, n_features), and the label that a positive score means.

    ``against`` is the label that a negative score of a single output means. ``names`` are the names of the features; if
    they are None, features are numbered from ``first``: x0, x1, ... from 0 on, as ``WeightsDisplay`` names them.
    """

    coef: np.ndarray
    labels: tuple[str, ...]
    against: str | None
    names: list[str] | None
    first: int

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        if self.names is not None:
            return self.names[feature]
        return f"feature {feature + self.first}" if self.first else f"x{feature}"  # as LIBLINEAR and scikit-learn count


@dataclass(frozen=True)
class Source:
    """What is known: the record of a run, of a search, the weights, and how to evaluate the model on other rows."""

    name: str
    run: dict[str, Any] | None = None
    search: dict[str, Any] | None = None
    weights: Weights | None = None
    model: Any = None  # LinearModel, or an estimator

    def with_names(self, names: list[str]) -> Source:
        """Return the same with other names of the features."""
        if self.weights is None:
            raise ValueError(f"{self.name} holds no model whose features could be named.")
        n = self.weights.coef.shape[1]
        if len(names) < n:
            raise ValueError(f"There are {len(names)} feature names, but the model has {n} features.")
        return replace(self, weights=replace(self.weights, names=names))


def read_source(path: str | PathLike[str]) -> Source:
    """Read a run folder, a search folder, a folder that is both, or a model file."""
    place = Path(path)
    if place.is_dir():
        return _folder(place)
    if not place.exists():
        raise FileNotFoundError(f"{place} does not exist: name a run folder, a search folder or a model file.")
    with place.open("rb") as file:
        native = is_native(file)
    if native:
        return _native(place)
    model = read_model(place)
    return Source(str(place), run=_bare_run(model, str(place)), weights=weights_of(model), model=model)


def _native(place: Path) -> Source:
    from .fitted import of_estimator

    estimator = load_model(place)
    try:
        source = replace(of_estimator(estimator), name=str(place))
    except (JsonFileError, TypeError, AttributeError, IndexError, KeyError, OverflowError) as error:
        raise ValueError(f"{place}: its training results contradict each other ({error}).") from None
    try:
        return replace(source, model=to_liblinear(estimator))  # takes rows of any width, as files have them
    except (ValueError, TypeError):
        return source  # labels that are no numbers, or a problem that LIBLINEAR does not know


def _folder(folder: Path) -> Source:
    run = read_run(folder) if has_run(folder) else None
    search = read_search(folder) if has_search(folder) else None
    if run is None and search is None:
        raise ValueError(
            f"{folder} holds no {RUN} (from `hingeline train --run`) and no {PATH} (from `hingeline search --out`)."
        )
    if run is None:
        return Source(str(folder), search=search)
    model = read_model(folder / MODEL)
    return Source(str(folder), run, search, weights_of(model), model)


def weights_of(model: LinearModel) -> Weights:
    """Return the weights of a model in LIBLINEAR's terms, whose features count from 1 as they do in its files."""
    coef = model.w[: model.n_features].T
    labels = tuple(map(str, model.labels or ()))
    if not labels:
        return Weights(coef, ("",), None, None, 1)
    if len(labels) == 2 and model.solver_type.task != "crammer_singer":
        return Weights(coef, labels[:1], labels[1], None, 1)
    return Weights(coef, labels, None, None, 1)


def _bare_run(model: LinearModel, name: str) -> dict[str, Any]:
    """Return the record that a model file of LIBLINEAR's allows: it says nothing of training."""
    data: dict[str, Any] = dict.fromkeys(("rows", "nonzeros", "shortest_row", "longest_row", "values", "targets"))
    return {
        "command": "",
        "created": "",
        "title": model.solver_type.title,
        "settings": {"type (-s)": model.type, "name": model.solver_type.name, "constant feature": model.bias},
        "data": {**data, "name": "", "columns": model.n_features, "labels": None},
        "machines": [],
        "evaluation": None,
        "environment": environment(),
    }
