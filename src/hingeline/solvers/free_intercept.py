"""An intercept that is not regularised, for every loss and engine.

Problem    min_{w, b}   |w|^2/2 + sum_i loss_i(y_i, <x_i, w> + b)
Dual       that of the problem without b, under one more condition:  sum_i alpha_i s_i = 0

Coordinate descent cannot keep the condition. So b is regularised after all, but towards an anchor c that moves:

    T(c) = the b that solves   min_{w, b}   |w|^2/2 + (b - c)^2/(2 t) + sum_i loss_i(y_i, <x_i, w> + b)

which is the ordinary problem with a constant feature of value sqrt(t) whose weight is measured from c/sqrt(t). T is the
proximal map of a convex function of b: it moves c towards the optimal b and never beyond, b = T(b) there, and T(c) - c
= t sum_i alpha_i s_i. So the optimal b is the root of the increasing function c - T(c), found by secants that stay in
the bracket; each problem starts from the dual variables of the one before.

The certificate is that of the problem stated above: the dual variables of the heavier side are scaled down until the
condition holds, and  P - D = |w - sum_i alpha_i s_i x_i|^2/2 + sum of the gap terms, all of them >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from ..data.problem import Problem
from ..solution import Certificate, Progress, Solution
from .certificate import certify
from .engines import AUTO
from .select import is_for_rounding
from .shards import shards_of
from .stop import GOOD_GAP, Stop
from .train import train

INNER = 0.1  # share of what is asked for that each problem is solved to
MOST_PROBLEMS = 100
FARTHEST = 20.0  # times T(c) - c, how far a secant may leap if there is no bracket yet
ROUNDING = 1e-13  # change of the intercept, relative to it, that means nothing


def train_free(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: np.ndarray | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
    n_threads: int = 1,
) -> Solution:
    """Solve ``problem`` with an intercept that is not regularised; its constant feature must not be zero."""
    if problem.data.blocks is not None:
        raise ValueError("A free intercept needs data that fits in memory: choose fit_intercept=True or False.")
    root_t = problem.data.rows.bias
    small = solver == AUTO and is_for_rounding(problem.data, stop)
    found: list[Solution] = []
    c, low, high = 0.0, -inf, inf
    before: tuple[float, float] | None = None
    while True:
        solution = train(
            problem,
            solver,
            _stop_of_next(stop, found),
            seed=seed,
            alpha0=alpha0,
            anchor=c / root_t,
            callback=_counting(callback, found),
            cancelled=cancelled,
            n_threads=n_threads,
        )
        found.append(solution)
        alpha0 = solution.alpha.copy()
        b, move = solution.intercept, solution.intercept - c
        certificate, alpha = certify_free(problem, solution, abs(move))
        met = stop.met(certificate) and _is_good(certificate, stop)
        settled = abs(move) <= ROUNDING * (1.0 + abs(b)) or high - low <= ROUNDING * (1.0 + abs(b))
        if settled or (met and not small) or not solution.converged or len(found) == MOST_PROBLEMS:
            return _merged(found, replace(solution, alpha=alpha), certificate, stop)
        if move > 0.0:
            low = max(low, b)
        else:
            high = min(high, b)
        c, before = _next_anchor(c, move, before, low, high), (c, move)


def _is_good(certificate: Certificate, stop: Stop) -> bool:
    """Tell whether the gap is as small as a converged model's: the violation says little about the condition."""
    return certificate.gap <= (GOOD_GAP if stop.gap_tol is None else stop.gap_tol)


def _next_anchor(c: float, move: float, before: tuple[float, float] | None, low: float, high: float) -> float:
    """Return where the secant through the last two moves vanishes, inside of the bracket and not too far; else T(c)."""
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


def certify_free(problem: Problem, solution: Solution, move: float) -> tuple[Certificate, np.ndarray]:
    """Return the certificate for the problem with the free intercept, and dual variables that keep the condition.

    The violation is that of the solution's own dual variables, or what the condition lacks, in units of the intercept.
    """
    beta = solution.alpha * problem.signs
    positive, negative = float(beta[beta > 0.0].sum()), -float(beta[beta < 0.0].sum())
    least = min(positive, negative)
    alpha = np.where(beta > 0.0, least / max(positive, 1e-300), least / max(negative, 1e-300)) * solution.alpha
    w = np.append(solution.w, solution.intercept / problem.data.rows.bias)
    exact = _certify_at(problem, w, alpha)
    if not exact.gap <= 1.0:  # they certify nothing; zeros keep the condition too, and their dual value is 0
        alpha = np.zeros_like(alpha)
        exact = _certify_at(problem, w, alpha)
    return exact._replace(violation=max(move, solution.certificate.violation)), alpha


def _certify_at(problem: Problem, w: np.ndarray, alpha: np.ndarray) -> Certificate:
    """Return the certificate of w with dual variables that keep the condition."""
    shards, u = shards_of(problem, alpha), np.append(w[:-1], 0.0)
    apart = u - shards.weights()
    apart[-1] = 0.0
    return certify(shards, w, regularised=u, apart=apart)


def _stop_of_next(stop: Stop, found: list[Solution]) -> Stop:
    """Return the stop rule of the next problem: tighter than what is asked for, with what is left of the caps."""
    sweeps, seconds = sum(s.n_iter for s in found), sum(s.seconds for s in found)
    return Stop(
        tol=INNER * stop.tol,
        gap_tol=None if stop.gap_tol is None else INNER * stop.gap_tol,
        max_iter=None if stop.max_iter is None else max(1, stop.max_iter - sweeps),
        max_time=None if stop.max_time is None else max(1e-9, stop.max_time - seconds),
    )


def _counting(callback: Callable[[Progress], Any] | None, found: list[Solution]) -> Callable[[Progress], Any] | None:
    """Return a callback that counts on from the problems solved so far."""
    if callback is None:
        return None
    n_iter, n_steps = sum(s.n_iter for s in found), sum(s.n_steps for s in found)
    seconds = sum(s.seconds for s in found)
    return lambda p: callback(
        p._replace(n_iter=n_iter + p.n_iter, n_steps=n_steps + p.n_steps, seconds=seconds + p.seconds)
    )


def _merged(found: list[Solution], last: Solution, certificate: Certificate, stop: Stop) -> Solution:
    """Return the last solution, with the certificate of the whole and the work of all."""
    parts, sweeps, steps, seconds = [], 0, 0, 0.0
    for s in found:
        part = s.history.copy()
        part["sweep"] += sweeps
        part["steps"] += steps
        part["seconds"] += seconds
        part["gap"] = np.nan  # of the anchored problem: it says nothing about this one
        parts.append(part)
        sweeps, steps, seconds = sweeps + s.n_iter, steps + s.n_steps, seconds + s.seconds
    history = np.concatenate(parts)
    if history.size:
        history["gap"][-1] = certificate.gap
    reason, converged = last.stop_reason, False
    if last.converged:
        reason, converged = stop.outcome("rounding", certificate)
        if not _is_good(certificate, stop):
            reason, converged = "rounding", False
    return replace(
        last,
        certificate=certificate,
        history=history,
        n_iter=sweeps,
        n_steps=steps,
        seconds=seconds,
        converged=converged,
        stop_reason=reason,
    )
