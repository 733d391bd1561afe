"""A free intercept for engines that always regularise it: a chain of regularised problems.

If the intercept b is not regularised, the dual has the constraint  sum_i alpha_i s_i = 0,  which coordinate descent
cannot keep. So b is regularised after all, but towards an anchor c that moves:

    T(c) = the b that solves   min_{w, b}   |w|^2/2 + (b - c)^2/(2 t) + sum_i loss_i(y_i, <x_i, w> + b)

which is the ordinary problem with a constant feature of value sqrt(t) whose weight is measured from c/sqrt(t). T is the
proximal map of a convex function of b: it moves c towards the optimal b and never beyond, b = T(b) there, and T(c) - c
= t sum_i alpha_i s_i. So the optimal b is the root of the increasing function c - T(c), found by secants that stay in
the bracket; each problem starts from the dual variables of the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from ..data.problem import Problem
from ..solution import Certificate, Progress, Solution
from .balance import SidesInMemory, balance
from .certificate import certify_free
from .clock import NEXT_PHASE
from .driver import SWEEP
from .history import BOUNDS, concluded
from .stop import GOOD_GAP, Stop
from .train import train

INNER = 0.1  # each problem of the chain is solved to this fraction of the requested tolerance
MOST_PROBLEMS = 100
FARTHEST = 20.0  # how far a secant may leap while there is no bracket, in multiples of T(c) - c
ROUNDING = 1e-13  # relative change of the intercept that is only rounding


def train_anchored(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    alpha0: np.ndarray | None = None,
    intercept: float = 0.0,
    most: float = inf,
    callback: Callable[[Progress], Any] | None = None,
    **how: Any,
) -> Solution:
    """Solve ``problem`` by a chain of problems whose first anchor is ``intercept``.

    If together they take more than ``most`` steps, the stop reason is ``NEXT_PHASE``.
    """
    root_t = problem.data.rows.bias
    found: list[Solution] = []
    c, low, high = intercept, -inf, inf
    before: tuple[float, float] | None = None
    budget = _Budget(callback, most)
    while True:
        solution = train(
            problem,
            solver,
            _stop_of_next(stop, found),
            alpha0=alpha0,
            anchor=c / root_t,
            callback=counting(budget, found),
            finish=False,  # Newton's method knows no anchors
            **how,
        )
        found.append(solution)
        alpha0 = solution.alpha.copy()
        b, move = solution.intercept, solution.intercept - c
        solution = _balanced(problem, solution, abs(move))
        settled = abs(move) <= ROUNDING * (1.0 + abs(b)) or high - low <= ROUNDING * (1.0 + abs(b))
        is_met = stop.settled(solution.certificate)
        if settled or is_met or not found[-1].converged or len(found) == MOST_PROBLEMS:
            if budget.is_spent:  # the budget ended the chain, not the user's callback
                solution = replace(solution, converged=is_met, stop_reason=stop.rule if is_met else NEXT_PHASE)
            return _merged(found, solution, stop)
        if move > 0.0:
            low = max(low, b)
        else:
            high = min(high, b)
        c, before = _next_anchor(c, move, before, low, high), (c, move)


class _Budget:
    """A callback that ends a chain after too many steps."""

    def __init__(self, callback: Callable[[Progress], Any] | None, most: float) -> None:
        self._callback, self._most, self.is_spent = callback, most, False

    def __call__(self, progress: Progress) -> bool:
        """Pass the progress on; return True if the budget is spent or the wrapped callback returns True."""
        if self._callback is not None and self._callback(progress):
            return True
        self.is_spent = progress.n_steps + SWEEP * progress.n_iter > self._most
        return self.is_spent


def _balanced(problem: Problem, solution: Solution, move: float) -> Solution:
    """Return the solution with dual variables that keep the constraint, certified for the problem without the anchor.

    Its violation is the largest of three: with the anchor, without it, and by how much the constraint was violated
    before, in units of the intercept.
    """
    alpha = solution.alpha.copy()
    balance(SidesInMemory(problem, alpha))
    own = certify_free(problem, solution.w, solution.intercept, alpha)
    violation = max(move, solution.certificate.violation, own.violation)
    return replace(solution, alpha=alpha, certificate=own._replace(violation=violation))


def _is_good(certificate: Certificate, stop: Stop) -> bool:
    return certificate.gap <= (GOOD_GAP if stop.gap_tol is None else stop.gap_tol)


def _next_anchor(c: float, move: float, before: tuple[float, float] | None, low: float, high: float) -> float:
    """Return the root of the secant through the last two moves if it is in the bracket and not too far, else T(c)."""
    guess = c + move
    if before is not None and before[1] != move:
        guess = c - move * (c - before[0]) / (move - before[1])
    else:
        guess = c + 2.0 * move
    farthest = c + FARTHEST * move
    guess = min(guess, farthest) if move > 0.0 else max(guess, farthest)
    if not low < guess < high:
        guess = 0.5 * (low + high) if isfinite(low) and isfinite(high) else c + move
    return guess


def _stop_of_next(stop: Stop, found: list[Solution]) -> Stop:
    """Return the stop rule of the next problem: tighter than the requested one, with what is left of the caps."""
    left = stop_after(stop, found)
    return replace(left, tol=INNER * stop.tol, gap_tol=None if stop.gap_tol is None else INNER * stop.gap_tol)


def stop_after(stop: Stop, found: list[Solution]) -> Stop:
    """Return the stop rule with its caps reduced by what these solutions have used."""
    sweeps, seconds = sum(s.n_iter for s in found), sum(s.seconds for s in found)
    return replace(stop.after(seconds), max_iter=None if stop.max_iter is None else max(1, stop.max_iter - sweeps))


def counting(callback: Callable[[Progress], Any] | None, found: list[Solution]) -> Callable[[Progress], Any] | None:
    """Return a callback whose counts include the problems solved so far."""
    if callback is None:
        return None
    n_iter, n_steps = sum(s.n_iter for s in found), sum(s.n_steps for s in found)
    seconds = sum(s.seconds for s in found)
    return lambda p: callback(
        p._replace(n_iter=n_iter + p.n_iter, n_steps=n_steps + p.n_steps, seconds=seconds + p.seconds)
    )


def _merged(found: list[Solution], last: Solution, stop: Stop) -> Solution:
    """Return the last solution with the work of all of them, and why the chain ended."""
    whole = added_up([replace(s, history=_without_bounds(s.history)) for s in found], last)
    whole = replace(whole, history=concluded(whole.history, last.certificate))
    if not last.converged:
        return whole
    reason, converged = stop.outcome("rounding", last.certificate)
    if not _is_good(last.certificate, stop):
        reason, converged = "rounding", False
    return replace(whole, converged=converged, stop_reason=reason)


def _without_bounds(history: np.ndarray) -> np.ndarray:
    """Return the history without gaps and bounds: those of an anchored problem say nothing about this one."""
    history = history.copy()
    for name in BOUNDS:
        history[name] = np.nan
    return history


def added_up(found: list[Solution], last: Solution) -> Solution:
    """Return ``last`` with the history and the work of all solutions of the chain."""
    parts, sweeps, steps, seconds = [], 0, 0, 0.0
    for s in found:
        part = s.history.copy()
        part["sweep"] += sweeps
        part["steps"] += steps
        part["seconds"] += seconds
        parts.append(part)
        sweeps, steps, seconds = sweeps + s.n_iter, steps + s.n_steps, seconds + s.seconds
    return replace(last, history=np.concatenate(parts), n_iter=sweeps, n_steps=steps, seconds=seconds)
