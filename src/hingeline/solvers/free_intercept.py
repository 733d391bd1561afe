"""An intercept that is not regularised, for every loss and engine.

Problem    min_{w, b}   |w|^2/2 + sum_i loss_i(y_i, <x_i, w> + b)
Dual       that of the problem without b, with the additional constraint  sum_i alpha_i s_i = 0

Newton's method leaves b out of its regulariser (newton/regulariser.py). Coordinate descent cannot: it solves a chain of
problems in which b is regularised towards an anchor (anchored.py). If that ends short of its goal and there are few
features, Newton's method goes on. The certificate uses dual variables that satisfy the constraint (balance.py).

A free intercept absorbs any constant shift of a regression's targets. So targets are measured from the best constant
prediction, and results do not depend on their origin (origin.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ..data.problem import Problem
from ..solution import Progress, Solution
from .anchored import added_up, counting, stop_after, train_anchored
from .clock import NEXT_PHASE
from .engines import NEWTON
from .exact.rows import finished_rows
from .origin import Origin, origin_of
from .precise_certificate import certified_precisely
from .select import is_for_newton, plan_free
from .state import Near
from .stop import GOOD_GAP, Stop
from .train import train

LEAST_EFFORT, MOST_SWEEPS = 1e6, 300  # a chain may take this many steps plus sweeps before Newton's method goes on


def train_free(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    alpha0: np.ndarray | None = None,
    near: Near | None = None,
    callback: Callable[[Progress], Any] | None = None,
    **how: Any,
) -> Solution:
    """Solve ``problem`` with an intercept that is not regularised; its constant feature must not be zero.

    It takes the parameters of ``train``.
    """
    origin = origin_of(problem)
    near = None if near is None else near._replace(w=origin.moved(near.w))
    s = origin.restored(_train(origin, solver, stop, alpha0, near, origin.watched(callback), how), stop)
    s = certified_precisely(problem, s, stop, free=True)
    return finished_rows(problem, s, stop, free=True, cancelled=how.get("cancelled"))


def _train(
    origin: Origin,
    solver: str,
    stop: Stop,
    alpha0: np.ndarray | None,
    near: Near | None,
    callback: Callable[[Progress], Any] | None,
    how: dict[str, Any],
) -> Solution:
    """Solve the problem with targets measured from ``origin``.

    The violation of the rows says little about the intercept, so training goes on beyond ``tol`` while the gap is
    large.
    """
    problem, found, intercept = origin.problem, list[Solution](), 0.0

    def solved(how_to: Callable[..., Solution], solver: str, rule: Stop = stop, **start: Any) -> Solution:
        left, counted = stop_after(rule, found), counting(callback, found)
        found.append(how_to(problem, solver, left, callback=counted, **start, **how))
        return found[-1]

    def solved_by_newton(solver: str, **start: Any) -> Solution:
        s = solved(train, solver, free=True, **start)
        if s.stop_reason != "tol" or s.certificate.gap <= GOOD_GAP:
            return s
        nearby = Near(np.append(s.w, s.intercept / problem.data.rows.bias), inf)
        s = solved(train, solver, replace(stop, gap_tol=GOOD_GAP), free=True, alpha0=s.alpha, near=nearby)
        if s.converged:
            reason, converged = stop.outcome("rounding", s.certificate)
            s = replace(s, stop_reason=reason, converged=converged)
        return s

    by_newton = bool(plan_free(problem, solver, stop))
    if by_newton:
        s = solved_by_newton(solver, alpha0=alpha0, near=near)
        alpha0, intercept = s.alpha, s.intercept
    if not by_newton or s.stop_reason == NEXT_PHASE:
        hands_over = is_for_newton(problem) and not by_newton
        most = LEAST_EFFORT + MOST_SWEEPS * problem.n_variables if hands_over else inf
        s = solved(train_anchored, solver, alpha0=alpha0, intercept=intercept, most=most)
        if hands_over and _gives_up(s):
            s = solved_by_newton(NEWTON, alpha0=s.alpha)
    if len(found) == 1:
        return s
    return replace(added_up(found, s), solver="+".join(dict.fromkeys(s.solver for s in found)))


def _gives_up(solution: Solution) -> bool:
    """Tell whether an engine ended for a reason other than the user's limits, with a gap that is too large."""
    return not solution.converged and solution.stop_reason in ("rounding", "stalled", NEXT_PHASE)
