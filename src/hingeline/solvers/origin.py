"""Where a problem with a free intercept is measured from: the centre of X, and the best constant prediction.

The intercept absorbs both. With x_i - mean instead of x_i and, in a regression, y_i - level instead of y_i, the
solution has the same w, and its intercept is lower by level and higher by <mean, w>. So columns far from zero, and
targets near 1e9, are solved like those around zero: widths, starts and rounding depend on their spread only. X is
centred only if it is small and if centring makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data, Matrix
from ..data.problem import Problem
from ..data.values import check_values
from ..kernels.passes import squared_length, sum_responses
from ..kernels.rows import CsrRows, DenseRows
from ..kernels.types import Vector
from ..kernels.views import read_only
from ..solution import Certificate, Look, Progress, Snapshot, Solution
from .certificate import UNIT_ROUNDOFF, certify_free
from .history import concluded
from .rounding import best_length, may_be_longer
from .stop import GOOD_GAP, Stop

LARGEST_COPY, LARGEST_FILLED = 1_000_000, 100_000  # values of X, dense and sparse, that are copied to be centred
FAR = 4.0  # standard deviations that the mean of a column may be from zero
MOST_HALVINGS = 64
ACCURATE = 1e-6  # width of the bracket, over the mean distance of the targets, at which the level is good enough


class Origin(NamedTuple):
    """A problem measured from its origin.

    Attributes
    ----------
    problem : Problem
    original : the problem as it was given
    level : what was subtracted from the targets
    mean : what was subtracted from the rows; empty if nothing was
    """

    problem: Problem
    original: Problem
    level: float = 0.0
    mean: Vector = np.empty(0)

    @property
    def is_zero(self) -> bool:
        """Whether the problem is the original one."""
        return self.level == 0.0 and self.mean.size == 0

    def shift(self, w: Vector) -> Any:
        """Return by how much the intercept is lower here, for weights w (without it), in extended precision."""
        return np.longdouble(self.level) - (self.mean.astype(np.longdouble) @ w if self.mean.size else 0.0)

    def moved(self, w: Vector) -> Vector:
        """Return the weights, the intercept's last, in this problem."""
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
        """Return the solution of the original problem, certified with its rounded intercept."""
        if self.is_zero:
            return solution
        w, intercept, certificate = self._rounded(solution, 1.0)
        if may_be_longer(self.problem.loss, certificate):
            noise = UNIT_ROUNDOFF * abs(intercept)
            factor = best_length(lambda factor: self._rounded(solution, factor)[-1].primal, noise)
            w, intercept, certificate = self._rounded(solution, factor)
        reason, converged = solution.stop_reason, solution.converged
        worse = converged and not (certificate.gap <= GOOD_GAP if reason == "rounding" else stop.met(certificate))
        better = reason == "stalled" and certificate.gap <= GOOD_GAP < solution.certificate.gap
        if worse or better:
            reason, converged = stop.outcome("rounding", certificate)
        history = concluded(solution.history, certificate)
        restored = replace(solution, w=w, intercept=intercept, certificate=certificate, history=history)
        return replace(restored, stop_reason=reason, converged=converged)

    def _rounded(self, solution: Solution, factor: float) -> tuple[Vector, float, Certificate]:
        """Return the solution's weights and intercept times ``factor``, rounded, with their certificate.

        Margins are computed where rounding changes the objective least: in this problem if the targets are large and
        close to each other, in the original one if a small target counts much beside large ones, or if dual variables
        of zero do not tell.
        """
        w = factor * solution.w
        shift = self.shift(w)
        intercept = float(factor * solution.intercept + shift)
        here = self.problem, float(intercept - shift)
        there = self.original, intercept
        problem, b = min(there, here, key=lambda place: rounding_of(place[0], w, place[1], solution.alpha))
        return w, intercept, certify_free(problem, w, b, solution.alpha)


def origin_of(problem: Problem) -> Origin:
    """Return the origin for ``problem``."""
    level = best_level(problem) if problem.loss.is_regression else 0.0
    y = problem.y if level == 0.0 else problem.y - level
    data, mean = centred(problem.data, problem.C_values)
    return Origin(replace(problem, data=data, y=y), problem, level, mean)


def rounding_of(problem: Problem, w: Vector, intercept: float, alpha: Vector) -> tuple[float, bool]:
    """Return about what rounding of the margins may add to the objective, in units of roundoff, and whether it can.

    A margin is as accurate as the largest number it is made of, and alpha_i is what it is worth. Margins of zeros alone
    are exact.
    """
    sizes = np.sqrt(problem.data.q * squared_length(w)) + np.abs(problem.y) + abs(intercept)
    return float(np.abs(alpha) @ sizes), bool(sizes.any())


def centred(data: Data, C: Vector) -> tuple[Data, Vector]:
    """Return the rows with the mean of their columns subtracted, and that mean; an empty mean if they are unchanged.

    ``C`` has one entry per row, or a single one for all; rows without weight do not count.
    """
    X = small_copy(data)
    mean = np.empty(0) if X is None else _mean_if_far(X, C)
    if X is None or not mean.size:
        return data, mean
    rows = DenseRows(read_only(X - mean), data.rows.bias)
    return check_values(Matrix(rows, data.n_rows, data.n_features, distinct=True)), mean


def small_copy(data: Data) -> np.ndarray | None:
    """Return X as a dense copy; None if that is too large."""
    rows, size = data.rows, data.n_rows * data.n_features
    if data.blocks is not None or size > (LARGEST_COPY if isinstance(rows, DenseRows) else LARGEST_FILLED):
        return None
    if isinstance(rows, DenseRows):
        return rows.X.astype(np.float64)
    X = np.zeros((data.n_rows, data.n_features))
    for i in range(data.n_rows):
        inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        np.add.at(X[i], rows.indices[inside], rows.data[inside] if isinstance(rows, CsrRows) else 1.0)
    return X


def _mean_if_far(X: np.ndarray, C: Vector) -> Vector:
    """Return the mean of each column over the rows that count; empty if none is far from zero."""
    counted = X[C > 0.0] if C.size > 1 else X
    mean = counted.mean(axis=0)
    return mean if (np.abs(mean) > FAR * counted.std(axis=0)).any() else np.empty(0)


def best_level(problem: Problem) -> float:
    """Return approximately the constant prediction of least loss: the targets' median, mean, or a quantile."""
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
