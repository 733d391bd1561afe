"""``Checkpoint``: a callback that saves what a fit has reached, and the files of one fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..io.csr import checksum
from ..io.records.checkpoint import CheckpointFile
from ..solution import Progress, Solution
from .callbacks import NoTask
from .training_set import ClassificationSet, RegressionSet, TrainingSet

MAKER = "fit"
# Parameters that say how a problem is solved, not which one it is.
HOW = {
    "device",
    "dual",
    "gap_tol",
    "keep_dual",
    "max_iter",
    "max_time",
    "n_jobs",
    "random_state",
    "solver",
    "tol",
    "verbose",
    "warm_start",
}

# (problem, k) -> keyword arguments that say where the training of problem k starts from, such as alpha0.
Start = Callable[[Any, int], dict[str, Any]]


class Checkpoint(NoTask):
    """Saves the state of a fit at intervals, so that a later fit continues from there if the process dies.

    Pass it to an estimator with ``set_callbacks``. The file is written after a sweep, completely or not at all: if the
    process is killed, only the work since the last save is lost. A fit of the same problem (data, weights and all
    parameters that it depends on; ``solver``, ``tol`` and the like may differ) continues from the file automatically.
    The file of another problem is refused with a ``ValueError``, unless that fit was finished; then it is replaced.
    After a fit the file is kept, so that a script that dies later does not have to train again.

    Parameters
    ----------
    path : str or path
        The file. Fits that run at the same time need one file each.
    every : float, optional
        Seconds between two saves; a save waits for the end of a sweep. None: 20 seconds at first, growing to 300.

    Examples
    --------
    >>> from hingeline import Checkpoint, LinearSVC
    >>> model = LinearSVC(loss="hinge").set_callbacks(Checkpoint("fit.checkpoint", every=60.0))
    """

    def __init__(self, path: str | PathLike[str], every: float | None = None) -> None:
        if every is not None and not (isinstance(every, Real) and 0.0 <= every < inf):
            raise ValueError(f"every must be a finite number of seconds, 0 or more, or None; got {every!r}.")
        self.path, self.every = path, every

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every!r})"

    def setup(self, estimator: Any, context: Any) -> None:
        """Raise if ``estimator`` is one of scikit-learn's, which would not use the checkpoint."""
        if not hasattr(estimator, "_shape_of_variables"):
            raise TypeError(
                f"{type(estimator).__name__} saves no checkpoints: pass this one to set_callbacks of the hingeline "
                "estimator inside it."
            )

    def open(self, estimator: Any, rows: TrainingSet) -> CheckpointFile:
        """Return the file, for a fit of ``estimator`` to ``rows``."""
        shape = estimator._shape_of_variables(rows)
        return CheckpointFile(self.path, MAKER, fingerprint(estimator, rows), shape, self.every)


class Saves:
    """The checkpoints of one fit.

    Parameters
    ----------
    estimator : CertifiedEstimator
    rows : TrainingSet
    callbacks : sequence of Checkpoint
    """

    def __init__(self, estimator: Any, rows: TrainingSet, callbacks: Sequence[Checkpoint]) -> None:
        self._estimator, self._bias = estimator, rows.data.rows.bias
        self._files = [callback.open(estimator, rows) for callback in callbacks]

    def start_or(self, start: Start) -> Start:
        """Return where problems start from: where a file says, else from ``start``."""

        def saved_start(problem: Any, k: int) -> dict[str, Any]:
            for file in self._files:
                saved = file.start(k)
                if saved is not None:
                    return {"alpha0": saved}
            return start(problem, k)

        return saved_start

    def after_sweep(self, k: int, progress: Progress) -> None:
        """Save the state of problem ``k``, if it is time."""
        for file in self._files:
            file.after_sweep(k, lambda: self._estimator._variables(progress.look(), self._bias))

    def keep(self, k: int, solution: Solution) -> None:
        """Keep where problem ``k`` has ended."""
        for file in self._files:
            file.keep(k, self._estimator._variables(solution, self._bias).copy())

    def finish(self, converged: bool) -> None:
        """Write the files at the end of a fit."""
        for file in self._files:
            file.finish(converged)


def fingerprint(estimator: Any, rows: TrainingSet) -> dict[str, Any]:
    """Return what identifies a problem: its parameters, the shape of its data and checksums of samples."""
    parameters = {name: _plain(value) for name, value in estimator.get_params(deep=False).items() if name not in HOW}
    labels = None
    if isinstance(rows, ClassificationSet):
        labels, of_classes = rows.codes, rows.class_weights
        parameters["class_weight"] = None if of_classes is None else of_classes.tolist()
    elif isinstance(rows, RegressionSet):
        labels = rows.targets
    arrays = [*rows.data.rows, labels, rows.weights]
    return {
        "estimator": type(estimator).__name__,
        **parameters,
        "rows": rows.data.n_rows,
        "columns": rows.data.n_features,
        "data": [checksum(array) for array in arrays if isinstance(array, np.ndarray)],
    }


def _plain(value: Any) -> Any:
    """Return the value of a parameter as a file holds it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    return float(value) if isinstance(value, Real) else repr(value)
