"""What the engines of the other problems share: small problems accurately, why a run ended, the solution it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.problem import Data
from ..runtime.pace import Pace
from ..solution import Certificate, Solution
from .driver import NEXT_PHASE, Ended, Run
from .engines import AUTO, HYBRID
from .select import is_for_rounding
from .stop import Stop
from .trend import Budget

SMALL_STEPS = 1_000_000  # visits that accuracy beyond what was asked for may take


def run_engine(engine: Callable[[], None], run: Run, data: Data, solver: str, accurate: float) -> str:
    """Run ``engine`` until ``run`` ends it; returns why.

    With solver="auto" tiny problems are solved to the violation ``accurate``, which makes results independent of the
    order and repetition of rows, unless that takes long.
    """
    stop = run.stop
    if solver == AUTO and is_for_rounding(data, stop):
        accurately = replace(stop, tol=min(stop.tol, accurate))
        run.begin_phase(accurately, Budget(review=SMALL_STEPS, most=SMALL_STEPS))
        reason = _ended(engine)
        run.begin_phase(stop, Budget())
        if reason != NEXT_PHASE:
            return reason
    return _ended(engine)


def _ended(engine: Callable[[], None]) -> str:
    try:
        engine()
    except Ended as ended:
        return ended.reason
    return "tol"


def certificate_of(run: Run, reason: str, refresh: Callable[[Pace], Certificate], pace: Pace) -> Certificate:
    """Return the certificate of what a run has left; one that ended it still holds, since nothing has moved."""
    return run.certificate if reason == "gap_tol" and run.certificate is not None else refresh(pace)


def solution_of(
    run: Run,
    reason: str,
    stop: Stop,
    certificate: Certificate,
    solver: str,
    *,
    w: np.ndarray,
    intercept: Any,
    alpha: Any,
) -> Solution:
    """Return what a run has left; rounding that stopped it where the goal was met is no news."""
    reason, converged = stop.outcome(reason, certificate)
    run.finish(certificate.gap)
    return Solution(
        w=w,
        intercept=intercept,
        alpha=alpha,
        certificate=certificate,
        history=run.history,
        n_iter=run.n_iter,
        n_steps=run.n_steps,
        seconds=run.clock.seconds,
        solver=HYBRID if solver == AUTO else solver,
        converged=converged,
        stop_reason=reason,
    )
