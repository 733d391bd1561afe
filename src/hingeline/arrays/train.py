"""From rows on a device to a model: the training of solvers/train.py, with a shard that is on the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ..kernels.random import seeded
from ..solution import Progress, Snapshot, Solution
from ..solvers.certificate import refresh, rounding_floor
from ..solvers.clock import Clock
from ..solvers.driver import Run
from ..solvers.engines import AUTO, NEWTON, NEWTON_CG
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.select import Phase, is_for_rounding
from ..solvers.state import Near, State
from ..solvers.stop import GOOD_GAP, Stop
from ..solvers.train import Training
from .problem import ArrayProblem
from .shards import ArrayShards

SOLVERS = (AUTO, NEWTON, NEWTON_CG)


def plan(problem: Any, solver: str, stop: Stop) -> list[Phase]:
    """Return the phases of a run: Newton's method, by a factor for few features, by products for many."""
    few = problem.data.n_features < LARGEST_FACTOR
    if solver == NEWTON_CG or (solver == AUTO and problem.loss.is_smooth and not few):
        return [Phase(NEWTON_CG, stop), *([Phase(NEWTON, stop)] if few else [])]
    is_tiny = solver == AUTO and is_for_rounding(problem.data, stop)
    return [Phase(NEWTON, replace(stop, tol=0.0, enough=0.0) if is_tiny else stop)]


def train_arrays(
    problem: ArrayProblem,
    solver: str,
    stop: Stop,
    *,
    free: bool = False,
    alpha0: Any = None,
    w0: np.ndarray | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Solve ``problem``; its dual variables stay on the device.

    Parameters are those of ``solvers.train.train``; ``w0`` are weights to begin at, the constant feature's last.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} visits one row at a time: on a device, use one of {', '.join(SOLVERS)}.")
    if solver == NEWTON_CG and not problem.loss.is_smooth:
        raise ValueError('solver="newton_cg" needs a smooth loss: use solver="newton" or "auto".')
    if solver == AUTO and not free:
        stop = stop.or_enough(problem.loss)
    level = 0.0
    if free and problem.loss.is_regression:  # the intercept absorbs any shift of the targets
        level = _median(problem)
        problem = replace(problem, y=problem.y - level)
    clock = Clock(stop.max_time, None)
    known = problem.coordinated()
    shards = ArrayShards(problem, problem.starting_alpha(alpha0), clock.check)
    near = None
    if w0 is not None:
        w0 = np.append(w0[:-1], w0[-1] - level / problem.rows.bias) if level else w0
        near = Near(np.array(w0, dtype=np.float64), inf)
    state = State(shards, known, np.empty(0), np.zeros(shards.n_weights), seeded(0), 0.0, free, near)
    run = Run(
        stop,
        clock,
        certify=lambda pace: refresh(state, clock.n_steps),
        floor=lambda: rounding_floor(state),
        callback=callback,
        half_square=lambda: 0.5 * float(state.w @ state.w),
        take=lambda: Snapshot(state.w[:-1].copy(), state.intercept + level),
    )
    phases = plan(known, solver, stop)
    solution = Training(phases, state, run).solution()
    if free and solution.stop_reason == "tol" and solution.certificate.gap > GOOD_GAP:
        solution = _better(state, run, phases, stop)
    return replace(solution, alpha=shards.alpha, intercept=float(solution.intercept) + level)


def _better(state: State, run: Run, phases: list[Phase], stop: Stop) -> Solution:
    """Continue until the gap is good: the violation of the rows says little about a free intercept."""
    goal = replace(stop, gap_tol=GOOD_GAP)
    state.near, state.resumed = Near(state.w.copy(), inf), True
    run.stop = goal
    found = Training([replace(phase, stop=goal) for phase in phases], state, run).solution()
    if found.converged:
        reason, converged = stop.outcome("rounding", found.certificate)
        found = replace(found, stop_reason=reason, converged=converged)
    return found


def _median(problem: ArrayProblem) -> float:
    """Return the median of the targets."""
    return float(problem.place.xp.sort(problem.y)[problem.rows.n_rows // 2])
