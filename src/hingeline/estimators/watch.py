"""What watches a fit: progress bars if it is verbose, plain callables, checkpoints, and scikit-learn's callbacks.

For scikit-learn a fit is a tree of tasks. Its leaves are sweeps; several problems (one per class) are a level in
between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

from ..progress import FitBar, Screen, StepsBar, open_screen
from ..solution import Progress, Snapshot, Solution
from .callbacks import EachSweep, NoTask
from .checkpoint import Checkpoint, Saves, Start
from .training_set import TrainingSet

EACH = 1000  # sweeps that are tasks of their own
GROWTH = 1.01  # afterwards a task ends when the number of sweeps has grown by this: scikit-learn keeps every task


class Watch:
    """Watches a fit; to be used in a ``with`` statement around training and the setting of attributes.

    Parameters
    ----------
    estimator : CertifiedEstimator
    rows : TrainingSet
        What it is fitted to.
    """

    def __init__(self, estimator: Any, rows: TrainingSet) -> None:
        self.estimator, self._known = estimator, rows.known
        metadata = None if rows.sample_weight is None else {"sample_weight": rows.sample_weight}
        self._of_task = {"estimator": estimator, "X": rows.X, "y": rows.y, "metadata": metadata}
        callbacks = getattr(estimator, "_skl_callbacks", ())
        self._plain = [callback.function for callback in callbacks if isinstance(callback, EachSweep)]
        self._has_tasks = any(not isinstance(callback, NoTask) for callback in callbacks)
        checkpoints = [callback for callback in callbacks if isinstance(callback, Checkpoint)]
        self._saves = Saves(estimator, rows, checkpoints) if checkpoints else None
        self._root: Any = None
        self._tasks: list[Any] = []
        self._reached: list[Snapshot | None] = []
        self._names: Sequence[Any] = ()
        self._screen = Screen(None)
        self._total: StepsBar | None = None
        self._lock, self._stack = Lock(), ExitStack()

    def __enter__(self) -> Watch:
        self._screen = self._stack.enter_context(open_screen(getattr(self.estimator, "verbose", 0)))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stack.close()
        if error is None and self._root is not None:
            self._root.call_on_fit_task_end(**self._of_task, reconstruction_attributes={})

    def start_or(self, start: Start) -> Start:
        """Return where problems start from: where a checkpoint says, else from ``start``."""
        return start if self._saves is None else self._saves.start_or(start)

    def solved(self, k: int, solution: Solution) -> Solution:
        """Note, and return, the solution of problem ``k``."""
        if self._saves is not None:
            self._saves.keep(k, solution)
        return solution

    def trained(self, solutions: Sequence[Solution]) -> None:
        """Note that the estimator has all its attributes."""
        if self._saves is not None:
            self._saves.finish(all(s.converged for s in solutions))

    def begin(self, n: int, names: Sequence[Any] = (), parallel: bool = False) -> None:
        """Begin a fit of ``n`` problems; ``names`` are the classes of several, which may run in ``parallel``."""
        self._reached, self._names = [None] * n, names
        if n > 1 and self._screen.shows:
            total = StepsBar(type(self.estimator).__name__, n, "classes")
            self._total = self._stack.enter_context(self._screen.showing(total))
        if self._has_tasks:
            free = self.estimator._intercept_is_free()  # several runs, each of at least one sweep
            max_iter = None if free else self.estimator.max_iter
            most = None if max_iter is None else max_iter + 1  # one more is begun when the last one ends
            self._root = self.estimator._init_callback_context(
                max_subtasks=most if n == 1 else n, sequential_subtasks=not parallel
            )
            self._root.call_on_fit_task_begin(**self._of_task)
            numbers = range(n) if n > 1 else ()
            tasks = [self._root.subcontext(f"class {names[k]}", k if parallel else None, most) for k in numbers]
            self._tasks = tasks or [self._root]

    @contextmanager
    def problem(self, k: int) -> Iterator[Callable[[Progress], Any] | None]:
        """Yield the callback of problem ``k``; None if nothing watches."""
        bar = self._bar(k) if self._screen.shows else None
        sweeps = _Sweeps(self, k, self._tasks[k]) if self._has_tasks else None
        if bar is None and sweeps is None and self._saves is None and not self._plain:
            yield None
            return

        def callback(progress: Progress) -> bool:
            progress = progress._replace(problem=k)
            if bar is not None:
                bar(progress)
            if self._saves is not None:
                self._saves.after_sweep(k, progress)
            if sweeps is None and not self._plain:
                return False
            with self._lock:
                answers = [function(progress) for function in self._plain]
                if sweeps is not None:
                    answers.append(sweeps(progress))
            return any(answers)

        with self._screen.showing(bar) if bar is not None else ExitStack():
            if sweeps is not None:
                with self._lock:
                    sweeps.begin()
            yield callback
            with self._lock:
                if sweeps is not None:
                    sweeps.end()
                if self._total is not None:
                    self._total.advance()

    def _bar(self, k: int) -> FitBar:
        e = self.estimator
        title = f"  class {self._names[k]}" if len(self._reached) > 1 else type(e).__name__
        return FitBar(title, tol=e.tol, gap_tol=e.gap_tol, max_iter=e.max_iter, max_time=e.max_time)


class _Sweeps:
    """The sweeps of one problem as scikit-learn's tasks."""

    def __init__(self, watch: Watch, k: int, task: Any) -> None:
        self._watch, self._k, self._task = watch, k, task
        self._last = 0

    def begin(self) -> None:
        """Begin the problem and its first sweep."""
        if self._task is not self._watch._root:
            self._task.call_on_fit_task_begin(**self._watch._of_task)
        self._begin_sweep()

    def _begin_sweep(self) -> None:
        self._sweep = self._task.subcontext(task_name="sweep")
        self._sweep.call_on_fit_task_begin(**self._watch._of_task)

    def __call__(self, progress: Progress) -> bool:
        """End a sweep, or as many as make a task; return whether training is to end."""
        if progress.n_iter > EACH and progress.n_iter < GROWTH * self._last:
            return False
        self._last = progress.n_iter
        stop = self._sweep.call_on_fit_task_end(
            **self._watch._of_task, reconstruction_attributes=lambda: self._model(progress)
        )
        self._begin_sweep()
        return bool(stop)

    def _model(self, progress: Progress) -> dict[str, Any]:
        """Return the attributes that an estimator would have if training ended now."""
        watch = self._watch
        watch._reached[self._k] = progress.look()
        return {**watch._known, **watch.estimator._model_of(watch._reached)}

    def end(self) -> None:
        """End the sweep that was begun but never came, and then the problem."""
        self._sweep.call_on_fit_task_end(estimator=self._watch.estimator)
        if self._task is not self._watch._root:
            self._task.call_on_fit_task_end(estimator=self._watch.estimator)
