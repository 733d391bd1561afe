"""Where a problem with a free intercept is measured from: the centre of X, and the best constant prediction.

The intercept follows both. With x_i - mean and, in a regression, y_i - level in the place of x_i and y_i, the solution
has the same w, its intercept less by level and more by <mean, w>. So columns that are far from zero, and targets near
1e9, are solved like those around zero: widths, starts and roundings are those of their spread. X is centred only if it
is dense and small, and if that makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Matrix
from ..data.problem import Problem
from ..data.values import check_values
from ..kernels.passes import sum_responses
from ..kernels.rows import DenseRows
from ..kernels.types import Vector
from ..kernels.views import read_only
from ..solution import Look, Progress, Snapshot, Solution
from .certificate import certify_free
from .stop import Stop

LARGEST_COPY = 1_000_000  # values of X that are copied to be centred
FAR = 4.0  # times its standard deviation: how far the mean of a column may be from zero
MOST_HALVINGS = 64
ACCURATE = 1e-6  # width of the bracket, over the mean distance of the targets, at which the level is good enough


class Origin(NamedTuple):
    """A problem as it is seen from its origin.

    Attributes
    ----------
    problem : Problem
    level : what its targets are less by
    mean : what its rows are less by; empty: nothing
    """

    problem: Problem
    level: float = 0.0
    mean: Vector = np.empty(0)

    @property
    def is_zero(self) -> bool:
        """Whether the problem is the original one."""
        return self.level == 0.0 and self.mean.size == 0

    def shift(self, w: Vector) -> Any:
        """Return what the intercept is less by, for weights w (without it), to more digits than it is rounded to."""
        return np.longdouble(self.level) - (self.mean.astype(np.longdouble) @ w if self.mean.size else 0.0)

    def moved(self, w: Vector) -> Vector:
        """Return weights, the intercept's last, as they are seen from here."""
        w = w.copy()
        w[-1] -= float(self.shift(w[:-1])) / self.problem.data.rows.bias
        return w

    def watched(self, callback: Callable[[Progress], Any] | None) -> Callable[[Progress], Any] | None:
        """Return a callback that sees intercepts as they are in the original problem."""
        if callback is None or self.is_zero:
            return callback

        def look(inner: Look) -> Snapshot:
            seen = inner()
            return seen._replace(intercept=seen.intercept + float(self.shift(seen.w)))

        return lambda p: callback(p._replace(look=Look(lambda: look(p.look))))

    def restored(self, solution: Solution, stop: Stop) -> Solution:
        """Return the solution of the original problem, with the certificate of its intercept as that is rounded."""
        if self.is_zero:
            return solution
        shift = self.shift(solution.w)
        intercept = float(solution.intercept + shift)
        # Margins are most accurate as they are seen from here.
        certificate = certify_free(self.problem, solution.w, float(intercept - shift), solution.alpha)
        reason, converged = solution.stop_reason, solution.converged
        if converged and not stop.met(certificate):
            reason, converged = stop.outcome("rounding", certificate)
        return replace(solution, intercept=intercept, certificate=certificate, stop_reason=reason, converged=converged)


def origin_of(problem: Problem) -> Origin:
    """Return the origin for ``problem``."""
    level = best_level(problem) if problem.loss.is_regression else 0.0
    y = problem.y if level == 0.0 else problem.y - level
    mean = _mean_if_far(problem)
    if mean is None:
        return Origin(replace(problem, y=y), level)
    rows = problem.data.rows
    assert isinstance(rows, DenseRows)
    centred = DenseRows(read_only(rows.X - mean), rows.bias)
    data = check_values(Matrix(centred, problem.data.n_rows, problem.data.n_features, problem.data.distinct))
    return Origin(replace(problem, data=data, y=y), level, mean)


def _mean_if_far(problem: Problem) -> Vector | None:
    """Return the mean of each column, over the rows that count; None if X is not to be centred."""
    rows = problem.data.rows
    if not isinstance(rows, DenseRows) or rows.X.size > LARGEST_COPY or problem.data.blocks is not None:
        return None
    X = rows.X.astype(np.float64)
    if problem.C_values.size > 1:
        X = X[problem.C_values > 0.0]
    mean = X.mean(axis=0)
    return mean if (np.abs(mean) > FAR * X.std(axis=0)).any() else None


def best_level(problem: Problem) -> float:
    """Return about the constant prediction of least loss: the median of the targets, their mean, or a quantile."""
    loss, C = problem.loss, problem.C_values
    y = problem.y if C.size == 1 else problem.y[C > 0.0]
    if C.size > 1:
        C = C[C > 0.0]
    low, high = float(y.min()), float(y.max())
    for _ in range(MOST_HALVINGS):
        level = low + 0.5 * (high - low)
        pull = sum_responses(loss, y, C, level, 0, y.size)
        if pull == 0.0 or not low < level < high:
            break
        if pull > 0.0:
            low = level
        else:
            high = level
        if high - low <= ACCURATE * float(np.abs(y - level).mean()):
            break
    return level
