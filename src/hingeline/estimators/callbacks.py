"""Callbacks on estimators: scikit-learn's (version 1.9 and later), and plain callables everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, FitCallback
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Keeps callables, and gives them to clones as well."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Set callables that are called with the progress of ``fit``."""
            if not all(isinstance(callback, NoTask) for callback in callbacks):
                raise TypeError("Callbacks must be callables; scikit-learn's own need scikit-learn 1.9 or newer.")
            if callbacks:
                self._skl_callbacks = list(callbacks)
            else:
                self.__dict__.pop("_skl_callbacks", None)
            return self

        def __sklearn_clone__(self) -> Any:
            twin = super().__sklearn_clone__()  # type: ignore[misc]
            return twin.set_callbacks(*getattr(self, "_skl_callbacks", ()))

    FitCallback = None


class NoTask:
    """A callback of hingeline's own among scikit-learn's: it ignores the tasks that these are told about."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to set up."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to tear down."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""


class EachSweep(NoTask):
    """A plain callable, called with a ``Progress`` after each sweep."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class CallbackSupport(CallbackSupportMixin):
    """``set_callbacks`` for plain callables too."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set what is called with the progress of ``fit``; no arguments remove all callbacks.

        Parameters
        ----------
        *callbacks : callables and callbacks
            A callable gets a ``hingeline.Progress`` after each sweep of each problem. If it returns a true value,
            training of that problem ends with a usable model and ``stop_reason_`` "callback". A
            ``hingeline.Checkpoint`` saves the state of the fit. With scikit-learn 1.9 or later, its callbacks
            (``sklearn.callback.ProgressBar``, ``ScoringMonitor``, ...) are accepted too. Only one callback runs at a
            time, whatever ``n_jobs`` is.

        Returns
        -------
        self
        """
        return super().set_callbacks(*(EachSweep(c) if _is_plain(c) else c for c in callbacks))


def _is_plain(callback: Any) -> bool:
    if isinstance(callback, NoTask) or not callable(callback) or isinstance(callback, type):
        return False
    return FitCallback is None or not isinstance(callback, FitCallback)
