"""From a problem to a solution: start, engine, certificate."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.passes import squared_length
from ..kernels.random import seeded
from ..runtime.pace import Pace
from ..runtime.threads import WORTH_SHARING, Team
from ..solution import Certificate, Progress, Snapshot, Solution
from .certificate import certify, certify_by_blocks, drift, rounding_floor, weights
from .driver import NEAR_FLOOR, NEXT_PHASE, Clock, Ended, Run
from .engines import ENGINES, Engine
from .select import plan
from .state import Near, State, new_variables_of
from .stop import Stop

MOST_RESTARTS = 3
FEW_STEPS, NEGLIGIBLE = 10_000_000, 1e-9  # so many steps from w = 0 may add rounding of this share of the gap


def train(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: np.ndarray | None = None,
    anchor: float = 0.0,
    near: Near | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
    n_threads: int = 1,
) -> Solution:
    """Solve ``problem``; the certificate is that of the weights returned, whatever ended the run.

    The intercept's weight is regularised towards ``anchor``. ``near`` is where Newton's method begins, ``alpha0`` where
    the other engines do.
    """
    with Team(n_threads if problem.data.n_stored >= WORTH_SHARING else 1) as team:
        return _train(problem, solver, stop, seed, alpha0, anchor, near, callback, cancelled, team)


def _train(
    problem: Problem,
    solver: str,
    stop: Stop,
    seed: int,
    alpha0: np.ndarray | None,
    anchor: float,
    near: Near | None,
    callback: Callable[[Progress], Any] | None,
    cancelled: Callable[[], bool] | None,
    team: Team,
) -> Solution:
    clock = Clock(stop.max_time, cancelled)
    phases, engines = plan(problem, solver, stop, warm=alpha0 is not None), list[Engine]()
    variables = new_variables_of(problem, alpha0)
    state = State(problem, variables, np.zeros(problem.data.n_features + 1), seeded(seed), anchor, near)
    state.w[-1] = anchor

    fresh = anchor == 0.0 and alpha0 is None  # what follows begins at w = 0

    def refresh(pace: Pace) -> Certificate:
        if problem.data.blocks is not None:
            return certify_by_blocks(state, pace)
        if state.is_primal:
            u = state.from_anchor(state.w)
            apart = u - weights(problem, variables, pace)
            own = certify(problem, variables, state.w, pace, regularised=u, apart=apart)
            if own.gap <= 1.0:
                return own
            variables.alpha[problem.variables_in_order()] = 0.0  # no good certificate, but the dual is not negative
            return certify(problem, variables, state.w, pace, regularised=u, apart=u)
        n_steps = clock.n_steps + 2 * problem.n_variables  # a sweep that is cut short has not been counted
        if fresh and len(engines) == 1 and engines[0].stepwise and n_steps <= FEW_STEPS:
            own = certify(problem, variables, state.w, pace)
            if NEGLIGIBLE * own.gap >= drift(n_steps):
                return own
        weights(problem, variables, pace, out=state.w)  # in place: w may be as large as the data
        if anchor == 0.0:
            return certify(problem, variables, state.w, pace)
        v = state.w.copy()
        state.w[-1] += anchor
        return certify(problem, variables, state.w, pace, regularised=v)

    def take() -> Snapshot:
        p = None
        if engines[-1].adapts:
            p, visited = np.zeros(problem.data.n_rows), problem.variables_in_order()
            p[visited] = np.maximum(variables.p[visited], 0.0)  # negative: left out
        alpha = variables.alpha.copy()
        least, most = (np.broadcast_to(f(problem.loss, variables.C), alpha.shape).copy() for f in (lower, upper))
        return Snapshot(state.w[:-1].copy(), problem.data.rows.bias * float(state.w[-1]), alpha, least, most, p)

    run = Run(
        stop,
        clock,
        certify=refresh,
        floor=lambda: rounding_floor(problem, variables),
        callback=callback,
        team=team,
        take=take,
    )
    to_the_end = team.pace(clock.check_cancelled)  # a certificate is finished even where the time is up
    begins_near = near is not None and ENGINES[phases[0].engine].begins_near  # asks neither for w nor for the dual
    if variables.alpha.any() and not begins_near:
        run.dual = refresh(to_the_end).dual
    for k, phase in enumerate(phases):
        before = (variables.alpha.copy(), run.dual) if 0 < k < len(phases) - 1 else None
        left = phases[k - 1].budget.trend.steps_left() if k > 0 else 0.0
        run.begin_phase(phase.stop, phase.budget.after(left))
        if state.is_primal:
            state.w[:], state.is_primal = state.to_anchor(weights(problem, variables, to_the_end)), False
        engines.append(ENGINES[phase.engine])
        reason, certificate = _phase(engines[-1].load(), state, run, refresh, to_the_end)
        stuck = reason == "rounding" and certificate.violation > NEAR_FLOOR * run.floor()
        if not (reason == NEXT_PHASE or (stuck and not stop.met(certificate))):
            break
        run.dual = certificate.dual
        if before is not None and run.dual < before[1]:  # the next phase is to start from the better of the two
            variables.alpha[:], run.dual = before
            state.is_primal = True  # so that w is computed anew
    reason, converged = phase.stop.outcome(reason, certificate)
    run.finish(certificate.gap)
    return Solution(
        w=state.w[:-1],
        intercept=problem.data.rows.bias * float(state.w[-1]),
        alpha=np.ascontiguousarray(variables.alpha),
        certificate=certificate,
        history=run.history,
        n_iter=run.n_iter,
        n_steps=run.n_steps,
        seconds=clock.seconds,
        solver="+".join(engine.name for engine in engines),
        converged=converged,
        stop_reason=reason,
    )


def _phase(
    engine: Callable[[State, Run], None],
    state: State,
    run: Run,
    refresh: Callable[[Pace], Certificate],
    pace: Pace,
) -> tuple[str, Certificate]:
    """Run the engine until it ends; returns why, and the certificate.

    w is updated step by step; where these roundings add up to a violation, the engine goes on from the exact w.
    """
    tol = run.stop.tol
    for _ in range(1 + MOST_RESTARTS):
        reason = _engine_run(engine, state, run)
        if reason == "gap_tol" and run.certificate is not None:  # just computed, and nothing has moved since
            return reason, run.certificate
        before = state.w.copy()
        certificate = refresh(pace)
        before -= state.w
        drift = sqrt(state.problem.data.largest_q) * sqrt(squared_length(before))
        if reason == "tol" and state.is_primal and certificate.violation >= tol:  # w is what the engine saw: rounding
            return "rounding", certificate
        if reason != "tol" or certificate.violation < tol or drift < 0.1 * tol:
            return reason, certificate
    return "rounding", certificate


def _engine_run(engine: Callable[[State, Run], None], state: State, run: Run) -> str:
    """Run the engine once and return why it ended."""
    if state.problem.n_variables == 0:  # rows of zeros alone: solved when the state was made
        return "tol"
    try:
        engine(state, run)
    except Ended as ended:
        return ended.reason
    return "tol"
