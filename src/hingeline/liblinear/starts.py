"""Checkpoints of trainings: what identifies a problem, and the shape of its variables."""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from ..io.csr import checksums
from ..io.records.checkpoint import CheckpointFile
from .settings import Settings

MAKER = "hingeline train"
PROBLEM = ("type", "C", "p", "nu", "bias", "free_bias", "weights")  # the settings that a problem depends on


def open_checkpoint(path: str | PathLike[str], X: Any, y: np.ndarray, settings: Settings, **how: Any) -> CheckpointFile:
    """Return the checkpoint of a training on ``X`` (CSR) and ``y``; ``how`` is ``every`` and ``warn``, as there."""
    return CheckpointFile(path, MAKER, fingerprint(X, y, settings), shape_of_variables(X, y, settings), **how)


def shape_of_variables(X: Any, y: np.ndarray, settings: Settings) -> tuple[int, ...]:
    """Return the shape of what each problem starts from: weights with an L1 penalty, else dual variables."""
    if settings.solver_type.penalty == "l1":
        return (X.shape[1] + 1,)
    if settings.solver_type.task == "crammer_singer":
        return (X.shape[0], np.unique(y).size)
    return (X.shape[0],)


def fingerprint(X: Any, y: np.ndarray, settings: Settings) -> dict[str, Any]:
    """Return what identifies a problem: its settings, the shape of its data and checksums of samples."""
    options = {name: value for name, value in asdict(settings).items() if name in PROBLEM}
    options["weights"] = [list(pair) for pair in settings.weights]
    shape = {"rows": X.shape[0], "columns": X.shape[1], "nonzeros": int(X.nnz)}
    return {**options, **shape, "data": checksums(X, y)}
