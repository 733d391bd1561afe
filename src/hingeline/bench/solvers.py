"""The contract of a solver in a benchmark, and hingeline's own engines behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..solvers.engines import AUTO, ENGINES, NAMES
from .task import LOSSES, Task

if TYPE_CHECKING:
    from ..kernels.losses import Loss

OURS = (*NAMES, AUTO)
# Steps of sqrt(10): finer than what a user would try, so that no peer is charged for overshooting the target.
# A gap, and a large C, need tighter tolerances with an L1 penalty: down to 1e-12, not 1e-9.
LADDERS = {penalty: tuple(10.0 ** (-k / 2) for k in range(n)) for penalty, n in (("l2", 19), ("l1", 25))}


class Unsupported(Exception):
    """Raised by ``prepare`` or ``run`` if a solver cannot take the task; the message says why."""


class Solver(ABC):
    """A solver in a benchmark. ``convert`` may convert the data, ``run`` alone is timed.

    Attributes
    ----------
    package : str
        Module that must be installed.
    losses, l1_losses : tuple of str
        Losses it knows with the penalty |w|^2/2, and with |w|_1.
    certifies : bool
        Whether its tolerance is the target itself (a relative duality gap). Otherwise several tolerances are tried,
        from loose to tight.
    own_intercept : bool
        Whether it adds the constant feature itself. Otherwise ``X`` comes with a column of ones.
    capped : bool
        Whether the last ``run`` was ended by a limit of iterations that cannot be lifted.
    timed_out : bool
        Whether the last ``run`` ended itself because of ``max_time``. (Solvers that cannot do so are killed.)
    """

    package: ClassVar[str]
    losses: ClassVar[tuple[str, ...]] = ("hinge", "squared_hinge")
    l1_losses: ClassVar[tuple[str, ...]] = ()
    certifies: ClassVar[bool] = False
    own_intercept: ClassVar[bool] = False
    capped = False
    timed_out = False
    _converted: Any = None

    def warm_up(self, task: Task) -> None:
        """Do what costs time in the first run of a process alone: imports, compiling, memory."""
        self.prepare(task.tiny())
        self.run(self.ladder([0.1])[0], 1.0, seed=0)

    def prepare(self, task: Task) -> None:
        """Accept a task. Several tasks may share one X, which is converted once."""
        self.task = task
        if self._converted is not task.X:
            self.convert(task)
            self._converted = task.X

    def convert(self, task: Task) -> None:
        """Bring the rows into the form that the solver takes: here, ``X`` with the constant feature."""
        self.X = task.X if self.own_intercept else task.full_X()

    def begin(self) -> None:  # noqa: B027 (most solvers have nothing to forget)
        """Forget what a run does once for all classes, since it is timed; called before the first class."""

    @classmethod
    def knows(cls, loss: str, penalty: str) -> bool:
        """Tell whether it minimises this loss with this penalty."""
        return loss in (cls.l1_losses if penalty == "l1" else cls.losses)

    @abstractmethod
    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Solve from the start to ``tolerance``."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """Return w of the last run, with the intercept at its end if the task has one."""

    def ladder(self, targets: Sequence[float]) -> tuple[float, ...]:
        """Return the tolerances to try for the task."""
        return tuple(sorted(targets, reverse=True)) if self.certifies else LADDERS[self.task.penalty]


class Hingeline(Solver):
    """One of hingeline's engines, stopped by the relative duality gap that it certifies."""

    package = "hingeline"
    losses = tuple(LOSSES)
    certifies = True
    own_intercept = True

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.data: Any = None

    def begin(self) -> None:
        """Check X anew: once for all classes, as the estimators do."""
        self.data = None

    def warm_up(self, task: Task) -> None:
        """Compile (or load) the kernels for this layout: on a few rows, then for a moment on all of them."""
        tiny = task.tiny()
        engines = [name for name in NAMES if ENGINES[name].chosen_by_auto] if self.engine == AUTO else []
        for engine in (*engines, self.engine):
            if make_solver(engine).knows(task.loss, task.penalty):
                solve_task(tiny, engine, gap_tol=1e-3)
        solve_task(task, self.engine, gap_tol=1e-1, max_time=0.05)

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Solve to a gap of ``tolerance``; the check of X is timed."""
        from hingeline.data.read import read_data

        if self.data is None:
            self.data = read_data(self.task.X, float(self.task.intercept))
        task = replace(self.task, X=self.data)
        solution = solve_task(task, self.engine, gap_tol=tolerance, max_time=max_time, random_state=seed)
        self.w = np.append(solution.w, solution.intercept) if self.task.intercept else solution.w
        self.timed_out = solution.stop_reason == "max_time"
        gap = solution.certificate.gap
        if gap > tolerance and not self.timed_out:  # rounding does not allow this target
            raise RuntimeError(f"ended by {solution.stop_reason} at a gap of {gap:.1e}, asked for {tolerance:.1e}")

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return self.w


class StepwiseHingeline(Hingeline):
    """An engine that visits one variable at a time, or ``auto``: they take an L1 penalty too."""

    l1_losses = ("squared_hinge", "logistic")


class SmoothHingeline(Hingeline):
    """An engine for losses with a derivative everywhere."""

    losses = ("squared_hinge", "logistic")


def solve_task(task: Task, engine: str, **stop: Any) -> Any:
    """Return hingeline's ``Solution`` of a task."""
    from hingeline import Hinge, Logistic, SquaredHinge, solve

    losses: dict[str, Callable[..., Loss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}
    if task.penalty == "l1":
        stop["l1_ratio"] = 1.0
    try:
        return solve(
            task.X, task.y, losses[task.loss](C=task.C), solver=engine, bias=float(task.intercept), finish=False, **stop
        )
    except ValueError as error:
        raise Unsupported(str(error)) from error


def make_solver(name: str) -> Solver:
    """Return the solver of a name: an engine, a peer, or ``package.module:Class`` for one of your own."""
    from .peer_solvers import PEERS

    if name in OURS:
        if name == AUTO or ENGINES[name].stepwise:
            return StepwiseHingeline(name)
        return SmoothHingeline(name) if ENGINES[name].needs_smooth_loss else Hingeline(name)
    if name in PEERS:
        return PEERS[name]()
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"unknown solver {name!r}: known are {', '.join([*OURS, *PEERS])} and package.module:Class")
    solver: Solver = getattr(import_module(module), attribute)()
    return solver


def missing_package(name: str) -> str | None:
    """Return the package that a solver lacks, None if it is installed."""
    try:
        package = make_solver(name).package
    except ModuleNotFoundError as error:
        return str(error.name)
    return package if find_spec(package) is None else None
