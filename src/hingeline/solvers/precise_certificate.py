"""Certificates of models whose margins must be more accurate than float64 computes them.

A loss with kinks changes by C_i times the error of a margin. At a large C, the rounding of margins may be worth more
than the whole objective: the gap of a model whose margins look exact would be zero, and at its true margins nearly 1.
Then the certificate is computed again, in twice the precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite, sqrt

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import squared_length
from ..kernels.precise_passes import certify_rows_precisely
from ..runtime.pace import Pace, do_nothing
from ..solution import Certificate, Solution
from .balance import settle
from .certificate import UNIT_ROUNDOFF
from .certificate_parts import sum_parts
from .history import concluded
from .stop import GOOD_GAP, Stop

NEGLIGIBLE = 1e-8  # fraction of the objective that rounding of the margins may be worth


def certified_precisely(
    problem: Problem, solution: Solution, stop: Stop, *, free: bool, between: Callable[[], None] = do_nothing
) -> Solution:
    """Return ``solution`` with a certificate that rounding of the margins does not falsify.

    If that is worse than what ended the run, rounding has ended it. ``between`` is called between slices of work.
    """
    if not may_mislead(problem, solution):
        return solution
    if free:
        solution = replace(solution, alpha=solution.alpha.copy())
        settle(problem, solution.alpha)
    certificate, alpha = precise_certificate(problem, solution, free=free, between=between), solution.alpha
    if not isfinite(certificate.gap):
        return solution
    if not certificate.gap <= 1.0:  # dual variables that certify nothing: without them the bound is 0
        alpha = np.zeros_like(alpha)
        bare = precise_certificate(problem, replace(solution, alpha=alpha), free=free, between=between)
        certificate = Certificate.of(bare.violation, bare.primal, bare.primal)
    if free:  # the violation of a free intercept may be larger than those of the rows
        certificate = certificate._replace(violation=max(certificate.violation, solution.certificate.violation))
    reason, converged = solution.stop_reason, solution.converged
    is_worse = converged and (
        certificate.gap > GOOD_GAP >= solution.certificate.gap or (reason != "rounding" and not stop.met(certificate))
    )
    is_better = reason == "stalled" and certificate.gap <= GOOD_GAP
    if is_worse or is_better:
        reason, converged = stop.outcome("rounding", certificate)
    history = concluded(solution.history, certificate)
    certified = replace(solution, alpha=alpha, certificate=certificate, history=history)
    return replace(certified, stop_reason=reason, converged=converged)


def may_mislead(problem: Problem, solution: Solution) -> bool:
    """Tell whether rounding of the margins may be worth a visible share of the objective."""
    loss, data, C = problem.loss, problem.data, problem.C_values
    if data.blocks is not None:
        return False
    total_C = float(C.sum()) if C.size > 1 else float(C[0]) * data.n_rows
    target = float(np.abs(problem.y).max()) if loss.is_regression else 1.0
    error = UNIT_ROUNDOFF * (
        sqrt(data.largest_q * squared_length(solution.w)) + abs(float(solution.intercept)) + target
    )
    slopes = float(np.abs(solution.alpha).sum()) + total_C * error if loss.is_smooth else total_C
    return not slopes * error <= NEGLIGIBLE * solution.certificate.primal


def precise_certificate(
    problem: Problem, solution: Solution, *, free: bool, between: Callable[[], None] = do_nothing
) -> Certificate:
    """Return the certificate of a solution, from scores and weights that are rounded only once."""
    data, bias, w = problem.data, float(problem.data.rows.bias), solution.w
    b = float(solution.intercept)
    v, low = np.zeros(w.size + 1), np.zeros(w.size + 1)
    given = (data.rows, problem.loss, problem.y, problem.C_values, solution.alpha, w, b, v, low)
    parts = sum_parts(certify_rows_precisely(*given, *ends) for ends in Pace(between).slices(data.n_rows))
    u, apart = w, (w - v[:-1]) - low[:-1]
    unbalanced = b * (v[-1] + low[-1]) if free else 0.0  # what the dual variables of a free intercept miss is worth b
    if bias and not free:
        u, apart = np.append(w, b / bias), np.append(apart, (b / bias - bias * v[-1]) - bias * low[-1])
    return parts.certificate(0.5 * squared_length(u), max(0.5 * squared_length(apart) - unbalanced, -parts.gap))
