"""The contract of a solver in a benchmark, and hingeline's own engines behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

LOSSES = ("hinge", "squared_hinge")
ENGINES = ("baseline", "avsf", "hybrid", "newton", "auto")
# Steps of sqrt(10): finer than what a user would try, so that no peer is charged for overshooting the target.
LADDER = tuple(10.0 ** (-k / 2) for k in range(19))


@dataclass(frozen=True)
class Task:
    """What is minimised: |w|^2/2 + C sum_i loss(1 - y_i <x_i, w>), without an intercept."""

    X: Any
    y: np.ndarray
    C: float
    loss: str

    def objective(self, w: np.ndarray) -> float:
        """Return the primal value at ``w``, in float64 whatever the solver worked in."""
        w = np.asarray(w, dtype=np.float64).ravel()
        slack = np.maximum(0.0, 1.0 - self.y * (self.X @ w))
        return 0.5 * float(w @ w) + self.C * float(slack @ slack if self.loss == "squared_hinge" else slack.sum())

    def tiny(self, n_rows: int = 20) -> Task:
        """Return a task of a few rows in the same layout, for warming up: rows of both labels, columns in use only."""
        rows = np.concatenate([np.flatnonzero(self.y == label)[: n_rows // 2] for label in (-1.0, 1.0)])
        part = self.X[rows]
        part = part[:, np.unique(part.indices)]
        part.indices = part.indices.astype(self.X.indices.dtype)
        part.indptr = part.indptr.astype(self.X.indptr.dtype)
        if part.nnz and (part.data == 1.0).all() and not (self.X.data == 1.0).all():
            part.data[0] = 0.5  # values that are all one have kernels of their own
        return Task(part, self.y[rows], self.C, self.loss)


class Unsupported(Exception):
    """Raised by ``prepare`` or ``run`` where a solver cannot take the task; the message says why."""


class Solver(ABC):
    """A solver in a benchmark. ``prepare`` may convert the data, ``run`` alone is timed.

    Attributes
    ----------
    package : str
        Module that must be installed.
    losses : tuple of str
        Losses it knows.
    certifies : bool
        Whether its tolerance is the target itself (a relative duality gap). Otherwise a ladder of tolerances is
        tried, from loose to tight.
    capped : bool
        Whether the last ``run`` was ended by a limit of iterations that cannot be lifted.
    timed_out : bool
        Whether the last ``run`` ended itself because of ``max_time``. (Solvers that cannot do so are killed.)
    """

    package: ClassVar[str]
    losses: ClassVar[tuple[str, ...]] = LOSSES
    certifies: ClassVar[bool] = False
    capped = False
    timed_out = False

    def warm_up(self, task: Task) -> None:
        """Do what only the first run of a process pays for: imports, compiling, memory."""
        self.prepare(task.tiny())
        self.run(self.ladder([0.1])[0], 1.0, seed=0)

    def prepare(self, task: Task) -> None:
        """Take the task over."""
        self.task = task

    @abstractmethod
    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Solve from the start to ``tolerance``."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """Return w of the last run."""

    def ladder(self, targets: Sequence[float]) -> tuple[float, ...]:
        """Return the tolerances to try."""
        return tuple(sorted(targets, reverse=True)) if self.certifies else LADDER


class Hingeline(Solver):
    """One of hingeline's engines, stopped by the relative duality gap that it certifies."""

    package = "hingeline"
    certifies = True

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def warm_up(self, task: Task) -> None:
        """Compile (or load) the kernels for this layout: on a few rows, then for a moment on all of them."""
        tiny = task.tiny()
        for engine in ("hybrid", "newton", "auto") if self.engine == "auto" else (self.engine,):
            solve_task(tiny, engine, gap_tol=1e-3)
        solve_task(task, self.engine, gap_tol=1e-1, max_time=0.05)

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Solve to a gap of ``tolerance``."""
        solution = solve_task(self.task, self.engine, gap_tol=tolerance, max_time=max_time, random_state=seed)
        self.w, self.timed_out = solution.w, solution.stop_reason == "max_time"
        gap = solution.certificate.gap
        if gap > tolerance and not self.timed_out:  # a target that rounding does not allow was not met
            raise RuntimeError(f"ended by {solution.stop_reason} at a gap of {gap:.1e}, asked for {tolerance:.1e}")

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return self.w


def solve_task(task: Task, engine: str, **stop: Any) -> Any:
    """Return hingeline's ``Solution`` of a task."""
    from hingeline import Hinge, SquaredHinge, solve

    loss = SquaredHinge(C=task.C) if task.loss == "squared_hinge" else Hinge(C=task.C)
    try:
        return solve(task.X, task.y, loss, solver=engine, **stop)
    except ValueError as error:
        raise Unsupported(str(error)) from error


def make_solver(name: str) -> Solver:
    """Return the solver of a name: an engine, a peer, or ``package.module:Class`` for one of your own."""
    from .peer_solvers import PEERS

    if name in ENGINES:
        return Hingeline(name)
    if name in PEERS:
        return PEERS[name]()
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"unknown solver {name!r}: known are {', '.join([*ENGINES, *PEERS])} and package.module:Class")
    solver: Solver = getattr(import_module(module), attribute)()
    return solver


def missing_package(name: str) -> str | None:
    """Return the package that a solver lacks, None where it is installed."""
    try:
        package = make_solver(name).package
    except ModuleNotFoundError as error:
        return str(error.name)
    return package if find_spec(package) is None else None
