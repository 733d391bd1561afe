"""Where a model starts from when C grows: the better of two changes of the last solution, by dual value.

With alpha the solution at C and C' = r C, both of these stay in the box for any factor from 1 to r:

    scaled         t alpha            every variable grows (at t = r each keeps its place in the box)
    bounds moved   alpha + (s - 1) b  those at a bound b other than 0 follow it (at s = r all the way); the others stay

The dual is concave along both, a parabola for every loss but the logistic, and needs w once, not once per value: so the
best factor is found, not guessed. At t = s = 1 the solution is left as it is: a start is never worse than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import Loss, lower, upper
from ..kernels.passes import squared_length, sum_dual_terms
from ..runtime.pace import Pace
from ..solvers.certificate import weights
from ..solvers.state import new_variables_of

AT_BOUND = 1.0 - 1e-12  # C_i at the old C is known up to rounding


def at_bound(problem: Problem, alpha: np.ndarray, growth: float) -> np.ndarray:
    """Tell which variables of a solution were at a bound other than 0, before C grew to that of ``problem``."""
    if not problem.loss.reaches_bounds:
        return np.zeros(alpha.size, dtype=bool)
    C = np.asarray(problem.C) / growth
    reached = np.abs(alpha) >= AT_BOUND * np.abs(_bound(problem.loss, alpha, C))
    return np.asarray(reached & (C > 0.0) & (problem.data.q > 0.0))


def _bound(loss: Loss, alpha: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return the bound on each variable's side of zero."""
    return np.where(alpha >= 0.0, upper(loss, C), lower(loss, C))


def best_start(problem: Problem, alpha: np.ndarray, growth: float) -> np.ndarray:
    """Return dual variables for ``problem`` from those of its solution at C divided by ``growth``."""
    if problem.data.blocks is not None:  # a pass over files costs more than it gains
        return alpha
    variables = new_variables_of(problem, alpha)
    bounded = np.where(at_bound(problem, alpha, growth), alpha, 0.0)
    free = alpha - bounded
    w = weights(problem, variables, Pace())
    variables.alpha[:] = bounded
    v = weights(problem, variables, Pace())
    w_w, w_v, v_v = squared_length(w), float(np.sum(w * v)), squared_length(v)

    def terms(part: np.ndarray, factor: float) -> float:
        slices = Pace().slices(part.size)
        return float(sum(sum_dual_terms(problem.loss, variables, part, factor, begin, end) for begin, end in slices))

    def scaled(t: float) -> float:
        return terms(alpha, t) - 0.5 * t * t * w_w

    of_free = terms(free, 1.0)

    def moved(s: float) -> float:
        more = s - 1.0
        return of_free + terms(bounded, s) - 0.5 * (w_w + 2.0 * more * w_v + more * more * v_v)

    by_scaling, t = _highest(scaled, growth)
    by_moving, s = _highest(moved, growth) if bounded.any() else (by_scaling, 1.0)
    start = t * alpha if by_scaling >= by_moving else free + s * bounded
    end = _bound(problem.loss, start, np.asarray(problem.C))
    return np.where(np.abs(start) >= AT_BOUND * np.abs(end), end, start)  # bounds are met exactly, or they are none


def _highest(dual: Callable[[float], float], end: float) -> tuple[float, float]:
    """Return the largest value of a concave function on [1, end] that a parabola finds, and where."""
    middle = 0.5 * (1.0 + end)
    a, b, c = dual(1.0), dual(middle), dual(end)
    bend = a - 2.0 * b + c
    tried = [(a, 1.0), (b, middle), (c, end)]
    if bend < 0.0:
        at = min(max(middle + 0.5 * (middle - 1.0) * (a - c) / bend, 1.0), end)
        tried.append((dual(at), at))
    return max(tried, key=lambda pair: (pair[0], -pair[1]))
