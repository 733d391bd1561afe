"""Fitted estimators in the form of a run's record: what they learned, their certificate, their search for C."""

from __future__ import annotations

from datetime import datetime, timezone
from math import nan
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from hingeline.estimators.base import dense_coef
from hingeline.io.records.json_file import check
from hingeline.io.records.run_folder import SCHEMA
from hingeline.liblinear.evaluate import Tally, regression_figures
from hingeline.liblinear.outcome import Pairs, label_text
from hingeline.liblinear.record import history, number
from hingeline.runtime.environment import environment
from hingeline.selection.choice import means_and_errors

from .source import Source, Weights

TRAINING = "training data"


def of_estimator(source: Any) -> Source:
    """Return what a report says about a fitted estimator, or a pipeline that ends in one."""
    estimator = source.steps[-1][1] if hasattr(source, "steps") else source
    if not hasattr(estimator, "Cs_"):  # a search without a refit counts as not fitted
        check_is_fitted(source)
    if not hasattr(estimator, "coef_"):
        if hasattr(estimator, "Cs_"):  # a search without a refit
            return Source(type(estimator).__name__, search=_search(source, estimator))
        raise ValueError(f"{type(estimator).__name__} is not a linear estimator of hingeline: it has no coef_.")
    return Source(
        name=type(estimator).__name__,
        run=_run(source, estimator),
        search=_search(source, estimator),
        weights=_weights(source, estimator),
        model=source,
    )


def evaluate(estimator: Any, X: Any, y: Any, name: str) -> dict[str, Any]:
    """Return the evaluation of a model on some rows, in the form of a run's record."""
    predicted, truth = np.asarray(estimator.predict(X)), np.asarray(y)
    if truth.shape != predicted.shape:
        raise ValueError(f"y has shape {truth.shape}, but X has {predicted.size} rows: pass one label per row.")
    if not truth.size:
        raise ValueError("There are no rows to evaluate the model on.")
    base: dict[str, Any] = {"data": name, "rows": int(truth.size), "labels": None, "counts": None}
    if is_classifier(estimator):
        if (truth.dtype.kind in "OUS") != (predicted.dtype.kind in "OUS"):
            raise ValueError(f"y holds labels like {truth[0]!r}, but the model's classes are like {predicted[0]!r}.")
        pairs = Pairs()
        pairs.add(truth, predicted)
        return {**base, "figures": {"accuracy": float(np.mean(truth == predicted))}, **pairs.counts()}
    if is_outlier_detector(estimator):
        inside = int(np.count_nonzero(predicted == 1))
        return {**base, "figures": {"rows inside": inside, "rows outside": int(truth.size) - inside}}
    return {**base, "figures": regression_figures(Tally().add(predicted, truth))}


def _run(source: Any, estimator: Any) -> dict[str, Any]:
    dual = getattr(estimator, "dual_coef_", None)
    rows = None if dual is None else int(np.asarray(dual).shape[-1])
    data: dict[str, Any] = dict.fromkeys(("nonzeros", "shortest_row", "longest_row", "values", "labels", "targets"))
    params = estimator.get_params(deep=False)
    name = type(estimator).__name__
    document = {
        "command": f"from {_home(estimator)} import {name}\n\n{source!r}.fit(X, y)",
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "title": f"{name}, {params['loss'].replace('_', ' ')}" if isinstance(params.get("loss"), str) else name,
        "settings": {key: _scalar(value) for key, value in params.items() if key != "dual"},
        "data": {**data, "name": TRAINING, "rows": rows, "columns": int(estimator.n_features_in_)},
        "machines": _problems(estimator) if hasattr(estimator, "per_class_") else [],
        "evaluation": None,
        "environment": environment(),
    }
    check(document, SCHEMA, "")
    return {**document, "seconds": number(getattr(estimator, "fit_time_", nan))}


def _home(estimator: Any) -> str:
    return type(estimator).__module__.partition(".")[0]


def _scalar(value: Any) -> str | float | bool | None:
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (str, bool, int, float)) else repr(value)


def _problems(estimator: Any) -> list[dict[str, Any]]:
    table, whole = estimator.per_class_, estimator.history_
    several = table.n_rows > 1
    fields = [name for name in whole.dtype.names if name != "problem"]

    def n_support(k: int) -> int | None:
        if not hasattr(estimator, "dual_coef_"):
            return None
        dual = np.atleast_2d(estimator.dual_coef_)
        return int(np.count_nonzero(dual[k] if several else dual.any(axis=0)))

    return [
        {
            "label": label_text(row["label"]) if several else None,
            "solver": row["solver"],
            "n_iter": row["n_iter"],
            "n_steps": row["n_steps"],
            "n_support": n_support(k),
            "seconds": row["fit_time"],
            "converged": row["converged"],
            "stop_reason": row["stop_reason"],
            "violation": number(row["kkt_violation"]),
            "primal": number(row["objective"]),
            "dual": number(row["dual_objective"]),
            "gap": number(row["duality_gap"]),
            "history": history(whole[fields][whole["problem"] == k]),
        }
        for k, row in enumerate(table.rows())
    ]


def _weights(source: Any, estimator: Any) -> Weights:
    coef = np.atleast_2d(dense_coef(estimator.coef_))
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and source is not estimator:
        try:
            names = source[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            names = None  # a step does not know them: features are numbered
    known = [str(name) for name in names] if names is not None and len(names) == coef.shape[1] else None
    if not is_classifier(estimator):
        return Weights(coef, ("",), None, known, 0)
    labels = [label_text(label) for label in estimator.classes_.tolist()]
    if coef.shape[0] == 1:
        return Weights(coef, (labels[1],), labels[0], known, 0)
    return Weights(coef, tuple(labels), None, known, 0)


def _search(source: Any, estimator: Any) -> dict[str, Any] | None:
    """Return the record of a search for C, if the estimator made one."""
    if not hasattr(estimator, "Cs_"):
        return None
    scores = np.asarray(estimator.scores_, dtype=np.float64)
    means, errors = means_and_errors(scores)
    cells = [
        {
            "C": float(C),
            "scores": list(map(number, scores[k])),
            "seconds": list(map(number, np.asarray(estimator.fit_times_)[k])),
            "gaps": list(map(number, np.asarray(estimator.fit_gaps_)[k])),
            "mean": number(means[k]),
            "std_error": number(errors[k]),
        }
        for k, C in enumerate(np.asarray(estimator.Cs_))
    ]
    params = estimator.get_params(deep=False)
    return {
        "command": f"{source!r}.fit(X, y)",
        "data": TRAINING,
        "n_samples": int(np.atleast_2d(estimator.dual_coef_).shape[1]) if hasattr(estimator, "dual_coef_") else 0,
        "n_features": int(estimator.n_features_in_),
        "loss": str(params.get("loss", "")),
        "solver": str(params.get("solver", "")),
        "scoring": str(params.get("scoring") or "score"),
        "folds": scores.shape[1],
        "seed": params["random_state"] if isinstance(params.get("random_state"), int) else None,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "settings": {"tolerance": params.get("tol"), "relative gap": params.get("gap_tol")},
        "environment": environment(),
        "cells": cells,
        "best_C": number(estimator.C_),
        "one_se_C": number(estimator.C_1se_) if hasattr(estimator, "C_1se_") else None,
        "finished": True,
    }
