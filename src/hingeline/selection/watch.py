"""What watches a search for C: a bar if it is verbose, plain callables, and scikit-learn's callbacks.

For scikit-learn a search is a task with one subtask per C, and one for the fit to all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

import numpy as np

from ..estimators.callbacks import EachSweep
from ..estimators.checkpoint import Checkpoint
from ..progress import StepsBar, open_screen
from ..runtime.training_clock import now
from ..solution import Progress
from ..solvers.stop import NO_TIME


class SearchWatch:
    """Watches a search; to be used in a ``with`` statement around it and the setting of attributes.

    Parameters
    ----------
    estimator : ChoosesC
    X, y, sample_weight
        As given to ``fit``.
    Cs : ndarray
    n_folds : int

    Attributes
    ----------
    late : bool
        Whether ``max_time`` has ended the search.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, Cs: np.ndarray, n_folds: int) -> None:
        self._estimator, self._Cs = estimator, Cs
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._of_task = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        callbacks = getattr(estimator, "_skl_callbacks", ())
        if any(isinstance(callback, Checkpoint) for callback in callbacks):
            raise ValueError(
                f"{type(estimator).__name__} has no checkpoints: its many fits would need one file each. Use "
                "'hingeline search', which continues after a kill, or a checkpoint in a fit with a known C."
            )
        self._plain = [callback for callback in callbacks if isinstance(callback, EachSweep)]
        self._has_tasks = len(self._plain) < len(callbacks)
        self._root: Any = None
        self._task: Any = None
        self._begun, most = now(), estimator.max_time
        self._reserved = most / (n_folds + 1) if most is not None and estimator.refit else 0.0
        self.late = False
        self._bar = StepsBar(type(estimator).__name__, Cs.size * n_folds, "fits of folds")
        self._lock, self._stack = Lock(), ExitStack()

    def __enter__(self) -> SearchWatch:
        screen = self._stack.enter_context(open_screen(self._estimator.verbose))
        self._stack.enter_context(screen.showing(self._bar))
        if self._has_tasks:
            most = self._Cs.size + bool(self._estimator.refit)
            self._root = self._estimator._init_callback_context(max_subtasks=most)
            self._root.call_on_fit_task_begin(**self._of_task)
            self._begin(0)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stack.close()
        if error is None and self._root is not None:
            self._end_untried()
            self._root.call_on_fit_task_end(**self._of_task, reconstruction_attributes={})

    def _begin(self, k: int) -> None:
        self._task = None
        if k < self._Cs.size:
            self._task = self._root.subcontext(task_name=f"C = {self._Cs[k]:g}")
            self._task.call_on_fit_task_begin(**self._of_task)

    def _end_untried(self) -> None:
        """End the task of the C that would have been next when the search ended."""
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
            self._task = None

    def used(self) -> float:
        """Return the seconds of ``max_time`` used so far, plus a reserve (of one more fold) for the fit to all rows."""
        return now() - self._begun + self._reserved

    @property
    def callback(self) -> Any:
        """What is called with (chain, progress) after each sweep; None if nothing watches."""
        return self._sweep if self._plain else None

    def _sweep(self, chain: int, progress: Progress) -> bool:
        progress = progress._replace(problem=chain)
        with self._lock:
            return any([callback.function(progress) for callback in self._plain])

    def cell(self, *cell: Any) -> None:
        """Report that a fold is done with a C."""
        self._bar.advance()

    def row(self, k: int, text: str | None) -> bool:
        """Report that all folds are done with a C, and print ``text``; return whether the search should end there."""
        if text is not None:
            print(text)
        self.late = self._estimator.max_time is not None and self.used() > self._estimator.max_time
        stop = self.late
        if self._task is None:
            return stop
        stop |= bool(self._task.call_on_fit_task_end(**self._of_task))
        self._begin(self._Cs.size if stop else k + 1)
        return stop

    @contextmanager
    def refit(self, model: Any) -> Iterator[Any]:
        """Watch the fit to all rows as well, which has what is left of the time."""
        if model.max_time is not None:
            model.max_time = max(model.max_time - (now() - self._begun), NO_TIME)
        self._end_untried()
        model.set_callbacks(*self._plain)
        if self._root is None:
            yield model
            return
        task = self._root.subcontext(task_name="refit")
        with task.propagate_callback_context(model):
            task.call_on_fit_task_begin(**self._of_task)
            yield model
            task.call_on_fit_task_end(**self._of_task)
