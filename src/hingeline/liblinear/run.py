"""Runs of machines: within the time there is, from where they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.problem import Problem
from ..io.models.liblinear_file import LinearModel
from ..solution import Progress, Solution
from ..solvers.free_intercept import train_free
from ..solvers.stop import Stop
from ..solvers.train import train
from .settings import Settings
from .starts import Starts
from .tolerance import tol_of

NO_TIME = 1e-9  # seconds: a machine that comes too late returns where it starts

Report = Callable[[int, "Progress | None"], Any]  # told of machine and progress after each sweep; None: it has ended


class Trained(NamedTuple):
    """A model, and how each of its machines was trained."""

    model: LinearModel
    solutions: list[Solution]


class MachineRun:
    """Trains machines within the time there is, and keeps what they reach."""

    def __init__(self, settings: Settings, starts: Starts, report: Report | None) -> None:
        self.settings, self.starts, self.report = settings, starts, report
        self.deadline = inf if settings.max_time is None else perf_counter() + settings.max_time

    def machine(
        self,
        k: int,
        tol: float,
        solve: Callable[..., Solution],
        state: Callable[[Solution], np.ndarray] = lambda s: s.alpha,
        resumes: bool = True,
    ) -> Solution:
        """Train machine ``k``, in slices where they are to be kept.

        ``solve(start, stop=, seed=, callback=)`` goes on from ``start``, which ``state`` finds in a solution; one that
        cannot is not to be sliced (``resumes=False``).
        """
        report = self.report
        callback = None if report is None else lambda progress: report(k, progress) and None
        seed = int(np.random.SeedSequence((self.settings.seed, k)).generate_state(1, np.uint64)[0])
        start, sweeps, steps, seconds = self.starts.start(k), 0, 0, 0.0
        histories: list[np.ndarray] = []
        while True:
            left = self.deadline - perf_counter()
            part = min(left, self.starts.slice()) if resumes else left
            stop = Stop(tol, self.settings.gap, None, None if part == inf else max(part, NO_TIME))
            s = solve(start, stop=stop, seed=seed, callback=callback)
            histories.append(_later(s.history, sweeps, steps, seconds))
            start, sweeps, steps, seconds = state(s), sweeps + s.n_iter, steps + s.n_steps, seconds + s.seconds
            self.starts.keep(k, start)
            if s.stop_reason != "max_time" or left <= part:
                if report is not None:
                    report(k, None)
                return replace(s, n_iter=sweeps, n_steps=steps, seconds=seconds, history=np.concatenate(histories))

    def problem(
        self, k: int, problem: Problem, *, n_threads: int, cancelled: Callable[[], bool] | None = None
    ) -> Solution:
        """Train machine ``k`` with the engine that was asked for."""
        solve = train_free if self.settings.free_bias else train
        return self.machine(
            k,
            self.tol(problem),
            lambda start, **how: solve(
                problem, self.settings.solver, alpha0=start, n_threads=n_threads, cancelled=cancelled, **how
            ),
        )

    def tol(self, problem: Problem) -> float:
        """Return the tolerance, which is not looked at where a gap is asked for."""
        return tol_of(problem, self.settings) if self.settings.gap is None else self.settings.eps


def _later(history: np.ndarray, sweeps: int, steps: int, seconds: float) -> np.ndarray:
    """Return a slice's history as part of the whole run's, after so many sweeps, steps and seconds."""
    if not seconds:
        return history
    moved = history.copy()
    moved["sweep"] += sweeps
    moved["steps"] += steps
    moved["seconds"] += seconds
    return moved


def weights_of(s: Solution, bias: float) -> np.ndarray:
    """Return the weights of a machine, that of the constant feature last where there is one."""
    if bias < 0.0:
        return s.w
    return np.append(s.w, s.intercept / bias if bias > 0.0 else 0.0)
