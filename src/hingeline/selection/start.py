"""Where training starts from when C grows: the better of two changes of the last solution, by dual value.

With alpha the solution at C and C' = r C, both of these stay in the box for any factor from 1 to r:

    scaled         t alpha            every variable grows (at t = r each keeps its place in the box)
    bounds moved   alpha + (s - 1) b  those at a bound b other than 0 follow it (at s = r all the way); the others stay

The dual is concave along both, a parabola for every loss but the logistic, and needs w only once, not once per value.
So the best factor is computed, not guessed. At t = s = 1 the solution is unchanged, so a start is never worse than
that.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import Loss, lower, upper
from ..kernels.passes import squared_length, sum_dual_terms, sum_squared_scores
from ..runtime.pace import NUMBERS, Pace
from ..solvers.certificate import weights
from ..solvers.engines import AUTO, ENGINES, NEWTON
from ..solvers.newton.newton import sample_step
from ..solvers.select import SMALL, by_products, plan, plan_free
from ..solvers.shards.alpha import starting_alpha
from ..solvers.state import Known, Near
from ..solvers.stop import Stop
from .variables import is_any_bounded, mark_bounded, unpacked

AT_BOUND = 1.0 - 1e-12  # C_i at the old C is known up to rounding


class Reached(NamedTuple):
    """A solution, as far as the problem for the next C needs it. A search keeps one for each fold and class.

    Attributes
    ----------
    C : float
    w : ndarray
        Weights, the intercept's last.
    shift : float
        By how much the scores differ from those of another solution nearby, on average; infinite if none is known.
    engine : str
        The engine that found it.
    codes, numbers : ndarray
        The dual variables, packed: see ``packed``.
    """

    C: float
    w: np.ndarray
    shift: float
    engine: str
    codes: np.ndarray
    numbers: np.ndarray

    @property
    def alpha(self) -> np.ndarray:
        """The dual variables, as a new array."""
        return unpacked(self.codes, self.numbers)


def start_from(
    reached: Reached, problem: Problem, solver: str, stop: Stop, *, free_intercept: bool = False
) -> dict[str, Any]:
    """Return how ``train`` should start ``problem`` from its solution at a smaller C."""
    growth = problem.loss.C / reached.C
    if solver == AUTO and reached.engine == NEWTON and _newton_is_safe(problem):
        solver = NEWTON  # sweeps were given up at a smaller C, and a larger C makes them even slower
    phases = plan_free(problem, solver, stop) if free_intercept else plan(problem, solver, stop)
    begins_near = bool(phases) and ENGINES[phases[0].engine].begins_near
    is_near = begins_near and ENGINES[reached.engine].begins_near
    is_far = not is_near or isinf(reached.shift)
    if begins_near and is_far and sample_step(problem.loss, problem.data.n_rows, problem.data.n_features + 1) > 1:
        return {"solver": solver}  # a sample of the rows is a better start than a solution that may be far away
    if is_near:
        near = Near(reached.w, reached.shift)
        alpha = reached.alpha
        alpha *= growth
        return {"solver": solver, "alpha0": alpha, "near": near}
    alpha, known = best_start(problem, reached.alpha, growth)
    return {"solver": solver, "alpha0": alpha, **({} if free_intercept else {"known": known})}


def _newton_is_safe(problem: Problem) -> bool:
    """Tell whether Newton's method, once it was the better one, can run without a budget."""
    return problem.data.n_rows * problem.data.n_features > SMALL and not by_products(problem)


def mean_shift(problem: Problem, change: np.ndarray) -> float:
    """Return the root mean square of what a ``change`` of the weights adds to the scores of the problem's rows."""
    fixed, slices = (problem.data.rows, problem.C_values, change), Pace().slices(problem.data.n_rows)
    total = float(sum(sum_squared_scores(*fixed, begin, end) for begin, end in slices))
    return sqrt(total / max(problem.n_variables, 1))


def at_bound(problem: Problem, alpha: np.ndarray, growth: float) -> np.ndarray:
    """Tell which variables of a solution were at a bound other than 0, before C grew to that of ``problem``."""
    out, share = np.zeros(alpha.size, dtype=bool), AT_BOUND / growth
    if problem.loss.reaches_bounds:
        for begin, end in Pace(first=NUMBERS).slices(alpha.size):
            mark_bounded(problem.loss, problem.C_values, share, problem.data.q, alpha, out, begin, end)
    return out


def is_any_at_bound(problem: Problem, alpha: np.ndarray, growth: float) -> bool:
    """Tell whether any variable was."""
    loss, share = problem.loss, AT_BOUND / growth
    slices = Pace(first=NUMBERS).slices(alpha.size) if loss.reaches_bounds else ()
    fixed = (loss, problem.C_values, share, problem.data.q, alpha)
    return any(is_any_bounded(*fixed, begin, end) for begin, end in slices)


def _bound(loss: Loss, alpha: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return the bound on each variable's side of zero."""
    return np.where(alpha >= 0.0, upper(loss, C), lower(loss, C))


def best_start(problem: Problem, alpha: np.ndarray, growth: float) -> tuple[np.ndarray, Known | None]:
    """Return dual variables for ``problem`` from those of its solution at C divided by ``growth``.

    Their weights and dual value come with them, if they are known.
    """
    if problem.data.blocks is not None:  # a pass over files costs more than it gains
        return alpha, None
    alpha = starting_alpha(problem, alpha)
    settled = np.where(problem.data.q > 0.0, 0.0, alpha) if problem.data.smallest_q == 0.0 else np.zeros(1)
    alpha -= settled  # rows of zeros have their optimal value already, and nothing is gained by changing it
    bounded = np.where(at_bound(problem, alpha, growth), alpha, 0.0)
    free = alpha - bounded
    w, v = weights(problem, alpha), weights(problem, bounded)
    w_w, w_v, v_v = squared_length(w), float(np.einsum("j,j", w, v)), squared_length(v)

    def terms(part: np.ndarray, factor: float) -> float:
        fixed, slices = (problem.loss, problem.y, problem.C_values, part, factor), Pace(first=NUMBERS).slices(part.size)
        return float(sum(sum_dual_terms(*fixed, begin, end) for begin, end in slices))

    def scaled(t: float) -> float:
        return terms(alpha, t) - 0.5 * t * t * w_w

    of_free = terms(free, 1.0)

    def moved(s: float) -> float:
        more = s - 1.0
        return of_free + terms(bounded, s) - 0.5 * (w_w + 2.0 * more * w_v + more * more * v_v)

    by_scaling, t = _highest(scaled, growth)
    by_moving, s = _highest(moved, growth) if bounded.any() else (by_scaling, 1.0)
    if by_scaling >= by_moving:
        start, w, dual = t * alpha, t * w, by_scaling
    else:
        v *= s - 1.0
        start, w, dual = free + s * bounded, np.add(w, v, out=w), by_moving
    end = _bound(problem.loss, start, np.asarray(problem.C))
    start = np.where(np.abs(start) >= AT_BOUND * np.abs(end), end, start)  # bounds are met exactly, or they are none
    start += settled
    return start, Known(w, dual + terms(settled, 1.0))


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
