"""How runs end, whatever they train: why the engine stopped, and the solution it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.matrix import Data
from ..solution import HISTORY, Certificate, Solution
from .clock import NEXT_PHASE, Ended
from .driver import Run
from .engines import AUTO, HYBRID
from .select import is_for_rounding
from .stop import GOOD_GAP, Stop
from .trend import Budget

SMALL_STEPS = 1_000_000  # most visits spent on accuracy beyond the requested one


def ended(engine: Callable[[], None]) -> str:
    """Run ``engine`` to its end; returns why it stopped."""
    try:
        engine()
    except Ended as end:
        return end.reason
    return "tol"


def run_accurately(engine: Callable[[], None], run: Run, data: Data, solver: str, accurate: float) -> str:
    """Run ``engine`` until ``run`` ends it; returns why.

    With solver="auto", tiny problems are solved to the violation ``accurate`` unless that takes long. This makes
    results independent of the order and repetition of rows.
    """
    stop = run.stop
    if solver == AUTO and is_for_rounding(data, stop):
        run.begin_phase(replace(stop, tol=min(stop.tol, accurate)), Budget(review=SMALL_STEPS, most=SMALL_STEPS))
        reason = ended(engine)
        run.begin_phase(stop, Budget())
        if reason != NEXT_PHASE:
            return reason
    return ended(engine)


def insisting(stop: Stop, certificate: Certificate) -> Stop:
    """Return ``stop``, or a rule that no violation meets if the gap is too large for a converged model."""
    return stop if certificate.gap <= GOOD_GAP else replace(stop, tol=0.0)


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
    """Return the solution of a run. ``solver`` names the engines that ran; "auto" stands for the hybrid."""
    run.finish(certificate)
    reason, converged = stop.outcome(reason, certificate)
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


def solution_known(
    stop: Stop, certificate: Certificate, solver: str, *, w: np.ndarray, intercept: Any, alpha: np.ndarray
) -> Solution:
    """Return a solution that took no work: ``solver`` found it for another problem, and it meets ``stop`` here too."""
    return Solution(
        w=w,
        intercept=intercept,
        alpha=alpha,
        certificate=certificate,
        history=np.zeros(0, dtype=HISTORY),
        n_iter=0,
        n_steps=0,
        seconds=0.0,
        solver=solver,
        converged=True,
        stop_reason=stop.met_by(certificate) or stop.rule,
    )
