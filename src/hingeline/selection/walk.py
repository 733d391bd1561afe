"""One problem along rising C, each time started from the solution for the last C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import scores_at
from ..kernels.rows import Rows
from ..runtime.pace import Pace
from ..runtime.training_clock import now
from ..solution import Progress, Solution
from ..solvers.certificate import certify
from ..solvers.engines import AUTO, engines_of
from ..solvers.finish import solution_known
from ..solvers.free_intercept import train_free
from ..solvers.shards import shards_of
from ..solvers.shards.alpha import starting_alpha
from ..solvers.stop import Stop
from ..solvers.train import train
from .start import Reached, is_any_at_bound, mean_shift, start_from
from .variables import packed

BY_VIOLATION = 1.7  # least shift, in violations: margins of free variables are that uncertain


class Walk:
    """Solves a problem for one C after another, each larger than the last.

    Parameters
    ----------
    problem_at : callable (C) -> Problem
        The problem for a C; all over the same rows.
    solver, stop, seed, free_intercept, callback, cancelled, n_threads
        As ``train`` takes them; the caps are for each C.
    reached : Reached, optional
        The solution to start from.
    elapsed : callable () -> float, optional
        Seconds of ``max_time`` used so far, if it is for more than this walk.
    """

    def __init__(
        self,
        problem_at: Callable[[float], Problem],
        solver: str,
        stop: Stop,
        *,
        seed: int,
        free_intercept: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        cancelled: Callable[[], bool] | None = None,
        n_threads: int = 1,
        reached: Reached | None = None,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._problem_at, self._solver = problem_at, solver
        self._stop = stop
        self._free = free_intercept
        self._how: dict[str, Any] = {
            "seed": seed,
            "callback": callback,
            "cancelled": cancelled,
        }
        self.n_threads = n_threads  # of the next fit
        self.reached, self._elapsed = reached, elapsed

    def advance(self, C: float) -> Solution:
        """Return the solution at C, which becomes the start of the next one."""
        started = now()
        problem, before = self._problem_at(C), self.reached
        if self._solver == AUTO and not self._free:
            self._stop = self._stop.or_enough(problem.loss)
        solution = self._same(problem, before) or self._solve(problem, before)
        bias = problem.data.rows.bias
        w = np.append(solution.w, solution.intercept / bias if bias else 0.0)
        engine = engines_of(solution.solver)[-1]
        shift = inf
        if before is not None and engine.begins_near:
            shift = max(mean_shift(problem, w - before.w), BY_VIOLATION * solution.certificate.violation)
        self.reached = Reached(C, w, shift, engine.name, *packed(solution.alpha))
        return replace(solution, seconds=now() - started)

    def values(self, rows: Rows, which: np.ndarray) -> np.ndarray:
        """Return the decision values of the rows ``which`` at the last solution."""
        assert self.reached is not None
        return values_at(rows, which, self.reached.w)

    def _solve(self, problem: Problem, before: Reached | None) -> Solution:
        """Train from the best known start."""
        start: dict[str, Any] = {"solver": self._solver}
        if before is not None:
            start = start_from(before, problem, self._solver, self._stop, free_intercept=self._free)
        run = train_free if self._free else train
        stop = self._stop if self._elapsed is None else self._stop.after(self._elapsed())
        return run(problem, stop=stop, n_threads=self.n_threads, **start, **self._how)

    def _same(self, problem: Problem, before: Reached | None) -> Solution | None:
        """Return the last solution if it solves ``problem`` too, since no variable was at the bound that has moved.

        None if it does not, for instance because errors count more at the larger C than the stop rule allows.
        """
        if before is None or self._free or not problem.loss.reaches_bounds:
            return None
        alpha = before.alpha
        if problem.data.blocks is not None or is_any_at_bound(problem, alpha, problem.loss.C / before.C):
            return None
        alpha = starting_alpha(problem, alpha)
        certificate = certify(shards_of(problem, alpha), before.w)
        if not self._stop.met(certificate):
            return None
        return solution_known(
            self._stop,
            certificate,
            before.engine,
            w=before.w[:-1],
            intercept=problem.data.rows.bias * float(before.w[-1]),
            alpha=alpha,
        )


def values_at(rows: Rows, which: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the decision values of the rows ``which`` at the weights w."""
    values = np.empty(which.size)
    for begin, end in Pace().slices(values.size):
        scores_at(rows, which, w, values, begin, end)
    return values
