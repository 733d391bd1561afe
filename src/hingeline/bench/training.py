"""Trainings in this process, on one thread, with kernels compiled beforehand: for benchmarks of hingeline alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .datasets import Dataset, read_arrays
from .solvers import Hingeline, solve_task
from .store import Record, Store
from .task import Tasks


class Trainer:
    """Trains the paper's model (hinge loss, no intercept); one data set at a time is in memory."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self._loaded: tuple[str, Any, Any] = ("", None, None)
        self._warm = set[tuple[str, str]]()

    def tasks(self, dataset: Dataset, C: float) -> Tasks:
        """Return the problems of a data set: one for two classes, one per class for more."""
        if self._loaded[0] != dataset.source:
            self._loaded = ("", None, None)
            self._loaded = (dataset.source, *read_arrays(dataset.parsed(self.cache)))
        return Tasks(*self._loaded[1:], C=C, loss="hinge")

    def kept(self, store: Store, dataset: Dataset, deadline: float, key: Record, **stop: float) -> Record:
        """Return the training of ``key``: that of an earlier run if it finished or had as much time, else a new one."""
        key = key | {"source": dataset.source}
        record = store.find(deadline, **key)
        if record is None:
            result = self.train(dataset, key["solver"], key["C"], deadline, key["seed"], **stop)
            record = key | {"dataset": dataset.name, "deadline": deadline} | result
            store.add(record)
        return record

    def train(self, dataset: Dataset, solver: str, C: float, deadline: float, seed: int, **stop: float) -> Record:
        """Return seconds and steps of a training (of all classes), whether it finished, and its gap."""
        from threadpoolctl import threadpool_limits

        tasks = self.tasks(dataset, C)
        seconds, steps, primal, dual = 0.0, 0, 0.0, 0.0
        with threadpool_limits(1):
            if (dataset.source, solver) not in self._warm:
                Hingeline(solver).warm_up(tasks[0])
                self._warm.add((dataset.source, solver))
            for task in tasks:
                s = solve_task(task, solver, max_time=max(deadline - seconds, 1e-9), random_state=seed, **stop)
                seconds, steps = seconds + s.seconds, steps + s.n_steps
                primal, dual = primal + s.certificate.primal, dual + s.certificate.dual
                if not s.converged:
                    break
        gap = s.certificate.gap if len(tasks) == 1 else (primal - dual) / primal
        return {"seconds": seconds, "steps": steps, "finished": s.converged, "gap": gap}
