"""One machine along rising C, each problem started from the solution of the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import scores, squared_length
from ..runtime.pace import Pace
from ..solution import Progress, Solution
from ..solvers.certificate import certify
from ..solvers.engines import AUTO, ENGINES, NEWTON, engines_of
from ..solvers.finish import solution_known
from ..solvers.free_intercept import train_free
from ..solvers.select import SMALL, by_products, plan
from ..solvers.state import Near, new_variables_of
from ..solvers.stop import Stop
from ..solvers.train import train
from .start import at_bound, best_start


class Reached(NamedTuple):
    """The last solution of a walk, as far as the next one needs it.

    Attributes
    ----------
    C : float
    alpha, w : ndarray
        Dual variables; weights, the intercept's last.
    shift : float
        Root mean square of what the margins have moved since the solution before; infinite where there is none.
    engine : str
        The engine that has found it.
    """

    C: float
    alpha: np.ndarray
    w: np.ndarray
    shift: float
    engine: str


class Walk:
    """Solves the problems of one machine for one C after the other, each larger than the last.

    Parameters
    ----------
    problem_at : callable (C) -> Problem
        The problem for a C; all over the same rows.
    solver, stop, seed, free_intercept, callback, cancelled, n_threads
        As ``train`` takes them; the caps are for each C.
    reached : Reached, optional
        Where to go on from.
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
    ) -> None:
        self._problem_at, self._solver, self._stop = problem_at, solver, stop
        self._free = free_intercept
        self._how: dict[str, Any] = {
            "seed": seed,
            "callback": callback,
            "cancelled": cancelled,
            "n_threads": n_threads,
        }
        self.reached = reached

    def advance(self, C: float) -> Solution:
        """Return the solution at C, which becomes the start of the next one."""
        started = perf_counter()
        problem, before = self._problem_at(C), self.reached
        solution = self._same(problem, before) or self._solve(problem, before)
        bias = problem.data.rows.bias
        w = np.append(solution.w, solution.intercept / bias if bias else 0.0)
        engine = engines_of(solution.solver)[-1]
        shift = inf
        if before is not None and engine.begins_near:
            shift = _shift(problem, w - before.w)
        self.reached = Reached(C, solution.alpha, w, shift, engine.name)
        return replace(solution, seconds=perf_counter() - started)

    def _solve(self, problem: Problem, before: Reached | None) -> Solution:
        """Train, from as near as can be."""
        run = train_free if self._free else train
        if before is None:
            return run(problem, self._solver, self._stop, **self._how)
        growth, solver = problem.loss.C / before.C, self._solver
        if solver == AUTO and before.engine == NEWTON and _is_sure(problem):
            solver = NEWTON  # sweeps were given up at a smaller C, and a larger one makes them slower still
        first = plan(problem, solver, self._stop)[0].engine
        if ENGINES[before.engine].begins_near and ENGINES[first].begins_near and not self._free:
            near = Near(before.w, before.shift)
            return train(problem, solver, self._stop, alpha0=growth * before.alpha, near=near, **self._how)
        start = best_start(problem, before.alpha, growth)
        return run(problem, solver, self._stop, alpha0=start, **self._how)

    def _same(self, problem: Problem, before: Reached | None) -> Solution | None:
        """Return the last solution where it solves ``problem`` too: no variable was at the bound that has moved.

        None where there is more to do: also where errors count more at the larger C than the stop rule allows.
        """
        if before is None or self._free or not problem.loss.reaches_bounds:
            return None
        if problem.data.blocks is not None or at_bound(problem, before.alpha, problem.loss.C / before.C).any():
            return None
        variables = new_variables_of(problem, before.alpha)
        certificate = certify(problem, variables, before.w, Pace())
        if not self._stop.met(certificate):
            return None
        return solution_known(
            self._stop,
            certificate,
            before.engine,
            w=before.w[:-1],
            intercept=problem.data.rows.bias * float(before.w[-1]),
            alpha=np.ascontiguousarray(variables.alpha),
        )


def _is_sure(problem: Problem) -> bool:
    """Tell whether Newton's method, once it was the better one, needs nobody to watch it: no budget, no rounding."""
    return problem.data.n_rows * problem.data.n_features > SMALL and not by_products(problem)


def _shift(problem: Problem, change: np.ndarray) -> float:
    """Return the root mean square of the change of the scores of the problem's rows."""
    out = np.zeros(problem.data.n_rows)
    for begin, end in Pace().slices(out.size):
        scores(problem.data.rows, change, out, begin, end)
    if problem.kept is not None:
        out = out[problem.kept]
    return sqrt(squared_length(out) / max(out.size, 1))
