"""The record of a training for its run folder: data, settings, solutions, and how well the rows are predicted."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone
from math import isfinite
from typing import Any

import numpy as np

from ..io.dataset.folder import count_labels
from ..runtime.environment import environment
from ..solution import Solution
from .outcome import outcome
from .settings import Settings
from .training import Trained

# Settings by the names that a reader knows.
NAMES = {
    "C": "C",
    "p": "epsilon",
    "nu": "nu",
    "eps": "tolerance (-e)",
    "gap": "relative gap to stop at",
    "bias": "constant feature",
    "free_bias": "constant feature is free of regularisation",
    "solver": "engine asked for",
    "threads": "threads",
    "seed": "seed",
    "max_time": "most seconds",
}


def record(command: str, name: str, X: Any, y: np.ndarray, settings: Settings, trained: Trained) -> dict[str, Any]:
    """Return the content of ``run.json`` for a training on ``X`` (CSR) and ``y``, which ``name`` describes."""
    labels = trained.model.labels
    one_per_label = labels is not None and len(trained.solutions) == len(labels)
    names = list(map(str, labels)) if one_per_label and labels is not None else [None] * len(trained.solutions)
    return {
        "command": command,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "title": settings.solver_type.title,
        "settings": _settings(settings),
        "data": data_summary(X, y, name, settings.solver_type.is_regression),
        "seconds": trained.seconds,
        "machines": [solution_record(s, label) for s, label in zip(trained.solutions, names, strict=True)],
        "evaluation": outcome(trained.model, X, y, "training data"),
        "environment": environment(),
    }


def solution_record(s: Solution, label: str | None) -> dict[str, Any]:
    """Return the record of one solution; ``label`` is its class if it is one of one-versus-rest."""
    alpha = np.asarray(s.alpha)
    return {
        "label": label,
        "solver": s.solver,
        "n_iter": int(s.n_iter),
        "n_steps": int(s.n_steps),
        "n_support": int(np.count_nonzero(alpha if alpha.ndim == 1 else alpha.any(axis=1))),
        "seconds": float(s.seconds),
        "converged": bool(s.converged),
        "stop_reason": s.stop_reason,
        **{key: number(value) for key, value in s.certificate._asdict().items()},
        "history": history(s.history),
    }


def history(records: np.ndarray) -> dict[str, list[Any]]:
    """Return a history column by column; None for what was not computed."""
    return {field: [number(value) for value in records[field].tolist()] for field in records.dtype.names or ()}


def number(value: Any) -> Any:
    """Return a number as JSON can hold it: None if it is not finite."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isfinite(value) else None


def data_summary(X: Any, y: np.ndarray, name: str, regression: bool) -> dict[str, Any]:
    """Return shape, sparsity, and labels or targets of the data."""
    lengths = np.diff(X.indptr)
    counts = None if regression else count_labels({}, y)
    return {
        "name": name,
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "nonzeros": int(X.indptr[-1]),
        "shortest_row": int(lengths.min(initial=X.shape[1])),
        "longest_row": int(lengths.max(initial=0)),
        "values": str(X.data.dtype),
        "labels": counts and [{"label": f"{label:.17g}", "rows": n} for label, n in sorted(counts.items())],
        "targets": {"smallest": float(y.min()), "mean": float(y.mean()), "largest": float(y.max())}
        if counts is None
        else None,
    }


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that have an effect, by name."""
    values = {**asdict(settings), "eps": settings.eps}
    is_one_class = settings.solver_type.task == "one_class"
    idle = {"p": not settings.solver_type.is_regression, "nu": not is_one_class, "C": is_one_class}
    idle |= {"eps": settings.gap is not None, "bias": settings.bias < 0.0, "free_bias": not settings.free_bias}
    shown = {text: values[key] for key, text in NAMES.items() if not idle.get(key) and values[key] is not None}
    return {"type (-s)": settings.type, **shown, **{f"weight of {label}": factor for label, factor in settings.weights}}
