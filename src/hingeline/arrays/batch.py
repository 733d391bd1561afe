"""Many problems over the same rows at once: classes one against the rest, values of C, folds as weights of the rows.

As many as fit into memory are trained side by side (together.py). When a problem's sums meet the stop rule, its
certificate is computed from scratch, and the problem goes on if that does not meet the rule. What is left in the end is
trained alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data
from ..kernels.losses import Loss
from ..kernels.types import Matrix, Vector
from ..solution import HISTORY, Certificate, Progress, Solution
from ..solvers.engines import AUTO, NEWTON, NEWTON_CG
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.newton.newton import SMOOTH_STEPS
from ..solvers.select import is_for_rounding
from ..solvers.stop import Stop
from .balance import balanced
from .course import Course, Numbers
from .losses import array_loss
from .memory import largest_batch
from .namespace import to_numpy
from .problem import ArrayProblem
from .rows import ArrayRows
from .together import Matrices, Point, Together, uses_factors
from .train import train_arrays

MOST_STEPS, MOST_IF_SMOOTH, MOST_OF_SAMPLE = 150, 60, 25
VECTORS = 16  # arrays with one entry per row and problem that exist at the same time
HESSIANS = 4  # likewise, with one entry per pair of columns
TINY_GAP = 1e-9  # relative gap for tiny problems: nearly as accurate as rounding allows


def can_train_together(rows: ArrayRows, loss: Loss, free: bool) -> bool:
    """Tell whether problems over these rows can be trained side by side."""
    if free and loss.is_regression:  # its targets have to be shifted
        return False
    return loss.is_smooth or rows.n_features < LARGEST_FACTOR


def most_together(rows: ArrayRows) -> int:
    """Return how many problems over these rows fit into memory; raises MemoryError if none does."""
    columns = rows.n_features + 1 if rows.n_features < LARGEST_FACTOR else 0
    return largest_batch(rows.place, rows.n_rows, VECTORS, HESSIANS * columns**2)


def train_together(
    make: Callable[[int], ArrayProblem],
    n_problems: int,
    stop: Stop,
    *,
    free: bool = False,
    starts: Matrix | None = None,
) -> list[Solution]:
    """Solve problems over the same rows by the rules of solver="auto", as many at a time as memory allows.

    ``make`` returns a problem by its number, when its turn comes. ``free`` leaves intercepts out of the regulariser.
    ``starts`` holds weights to begin at, one row per problem, the constant feature's last.

    Raises MemoryError, with the number of rows that would fit, if not even one problem fits.
    """
    size = most_together(make(0).rows)
    begun, solutions = perf_counter(), list[Solution]()
    for begin in range(0, n_problems, size):
        part = [make(k) for k in range(begin, min(begin + size, n_problems))]
        own = None if starts is None else starts[begin : begin + len(part)]
        solutions += _Batch(part, stop.after(perf_counter() - begun), free).solutions(own)
    return solutions


def train_one(
    problem: ArrayProblem,
    solver: str,
    stop: Stop,
    *,
    free: bool = False,
    w0: Vector | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Solve one problem, as ``train_arrays`` does.

    With many weights and a smooth loss it is trained as a batch of one, so that everything of the size of a weight
    vector stays on the device too.
    """
    many, is_watched = problem.rows.n_features >= LARGEST_FACTOR, callback is not None or stop.max_iter is not None
    can = problem.loss.is_smooth and can_train_together(problem.rows, problem.loss, free)
    if solver == AUTO and many and can and not is_watched:
        starts = None if w0 is None else w0[None, :]
        return train_together(lambda k: problem, 1, stop, free=free, starts=starts)[0]
    return train_arrays(problem, solver, stop, free=free, w0=w0, callback=callback)


class _Certified(NamedTuple):
    w: Vector
    alpha: Any
    certificate: Certificate


class _Batch:
    """Problems that are trained at the same time."""

    def __init__(self, problems: list[ArrayProblem], stop: Stop, free: bool) -> None:
        first = problems[0]
        self._problems, self._free, self._rows, self._loss = problems, free, first.rows, first.loss
        self._xp, self._verbs = first.place.xp, array_loss(first.loss, first.place.xp)
        self._stop = stop = stop if free else stop.or_enough(first.loss)
        smallest, largest, _ = first.range_of_q
        self._has_zeros = smallest == 0.0  # rows of zeros, which do not respond
        C = self._stacked([p.responding if self._has_zeros else p.C for p in problems])
        data = self._check(C)
        if is_for_rounding(data, stop):
            stop = replace(stop, gap_tol=TINY_GAP)
        bias, settled = self._rows.bias if free else 0.0, [0.0] * len(problems)
        if self._has_zeros:
            settled = [p.settled_losses for p in problems]
        fixed = (self._loss, stop, self._unit(first), sqrt(largest), bias)
        self._courses = [Course(*fixed, losses) for losses in settled]
        Y = self._labels(problems)
        S = first.signs[None, :] if self._loss.is_regression else Y
        W = self._rows.place.full((len(problems), self._rows.n_features + 1), 0.0)
        self._all = Matrices(Y, S, C, W, C, C, self._widths())

    def _check(self, C: Any) -> Data:
        """Raise if a problem has nothing to train on, or numbers that are too large; returns the sizes of the data."""
        sums = to_numpy(self._xp.sum(C, axis=1))
        if not sums.all():
            self._problems[int(sums.argmin())].coordinated()
        return self._problems[int(sums.argmax())].coordinated().data

    def _unit(self, problem: ArrayProblem) -> float:
        """Return the unit of smoothing widths."""
        if not problem.loss.is_regression:
            return 1.0
        return float(self._xp.mean(self._xp.abs(problem.y))) or 1.0

    def _stacked(self, vectors: list[Any]) -> Any:
        """Return the vectors, or single entries that stand for one, as rows of a matrix."""
        xp, n = self._xp, self._rows.n_rows
        return xp.stack([xp.broadcast_to(xp.astype(vector, xp.float64), (n,)) for vector in vectors])

    def _labels(self, problems: list[ArrayProblem]) -> Any:
        """Return labels or targets; a single row if all problems have the same."""
        y = problems[0].y
        if all(p.y is y for p in problems):
            return self._xp.astype(y, self._xp.float64)[None, :]
        return self._stacked([p.y for p in problems])

    def _widths(self) -> Any:
        return self._rows.place.put([course.delta for course in self._courses])

    def solutions(self, starts: Matrix | None) -> list[Solution]:
        """Train, from the weights ``starts`` if given, and return the solutions in order."""
        begun, stop = perf_counter(), self._stop
        together = Together(self._rows, self._loss, self._all, self._free, stop.gap_asked)
        together.centre()
        point = self._begin(together) if starts is None else self._begin_at(together, starts)
        left, found, rest = list(range(len(self._problems))), dict[int, _Certified](), dict[int, Any]()
        for step in range(1 + (MOST_IF_SMOOTH if self._loss.is_smooth else MOST_STEPS)):
            if step > 0:
                point = together.step()
                for k in left:
                    self._courses[k].n_iter += 1
            left, point = self._sort(together, point, left, found, rest)
            if not left or (stop.max_time is not None and perf_counter() - begun > stop.max_time):
                break
        rest |= {k: together.at.W[j, :] for j, k in enumerate(left)}
        seconds = (perf_counter() - begun) / len(self._problems)
        alone = {
            k: train_arrays(
                self._problems[k], AUTO, stop.after(perf_counter() - begun), free=self._free, w0=to_numpy(w)
            )
            for k, w in rest.items()
        }
        return [alone[k] if k in alone else self._solution(k, found[k], seconds) for k in range(len(self._problems))]

    def _begin_at(self, together: Together, starts: Matrix) -> Point:
        """Go to weights near the solutions."""
        for course in self._courses:
            course.begin_near()
        together.at.W, together.at.delta = self._rows.place.put(starts), self._widths()
        return together.begin()

    def _begin(self, together: Together) -> Point:
        """Go to the solutions of a sample of the rows, in problems for which they help."""
        sample = together.sample()
        if sample is None:
            return together.begin()
        courses = self._courses
        sample.centre()
        point, over = sample.begin(), np.zeros(len(courses), dtype=bool)
        for _ in range(SMOOTH_STEPS if self._loss.is_smooth else MOST_OF_SAMPLE):
            point = sample.step()
            factors = np.zeros(len(courses))
            for k, course in enumerate(courses):
                factor = None if over[k] else course.next_of_sample(Numbers.of(point, k))
                over[k], factors[k] = factor is None, factor or 0.0
            if over.all():
                break
            if factors.any():
                point = sample.recentre(factors)
        together.at.W, together.at.delta = sample.at.W, sample.at.delta
        point = together.begin()
        good = 0.5 * point.length + point.losses < together.losses_at_zero()
        if not good.all():
            for course, is_good in zip(courses, good.tolist(), strict=True):
                if not is_good:
                    course.begin_afresh()
            flags = self._rows.place.put(good, self._xp.bool)[:, None]
            together.at.W = self._xp.where(flags, together.at.W, self._xp.zeros_like(together.at.W))
            together.at.delta = self._widths()
            point = together.begin()
        return point

    def _sort(
        self, together: Together, point: Point, left: list[int], found: dict[int, _Certified], rest: dict[int, Any]
    ) -> tuple[list[int], Point]:
        """Sort out problems that are done (``found``) or lost to rounding (``rest``); begin the others' next stages.

        Returns the numbers of the others, and their point.
        """
        courses, numbers = self._courses, [Numbers.of(point, j) for j in range(len(left))]
        done = [j for j, k in enumerate(left) if courses[k].is_done(numbers[j])]
        for j, certified in zip(done, self._certified(together, done, left) if done else (), strict=True):
            if self._stop.settled(certified.certificate):
                found[left[j]] = certified
            else:
                courses[left[j]].refute()
        factors = np.array([0.0 if k in found else courses[k].next_stage(numbers[j]) for j, k in enumerate(left)])
        rest |= {k: together.at.W[j, :] for j, k in enumerate(left) if courses[k].is_lost and k not in found}
        stay = [j for j, k in enumerate(left) if k not in found and k not in rest]
        if 0 < len(stay) < len(left):
            together.keep(stay)
            factors, point = factors[stay], Point(*(entry[stay] for entry in point))
        if stay and factors.any():
            point = together.recentre(factors)
        return [left[j] for j in stay], point

    def _certified(self, together: Together, done: list[int], left: list[int]) -> list[_Certified]:
        """Return weights, dual variables and their exact certificates."""
        xp, verbs, rows = self._xp, self._verbs, self._rows
        problems = [self._problems[left[j]] for j in done]
        by_alpha = [not (self._loss.is_smooth or self._courses[left[j]].by_gap) for j in done]
        W = xp.stack([together.model(j, flag) for j, flag in zip(done, by_alpha, strict=True)])
        Y, C = self._labels(problems), self._stacked([p.C for p in problems])
        M = verbs.missing(Y, rows.times_many(W)) + xp.zeros_like(C)
        if self._loss.is_smooth:
            alpha = verbs.responses(M, C)
        else:
            alpha = xp.stack([together.alpha[j, :] for j in done])
            if self._has_zeros:
                at_zero = verbs.responses(verbs.missing(Y, 0.0 * Y) + 0.0 * C, C)
                alpha = xp.where(problems[0].q > 0.0, alpha, at_zero)
        if self._free:
            alpha = xp.stack([balanced(p, alpha[k, :]) for k, p in enumerate(problems)])
        S = problems[0].signs[None, :] if self._loss.is_regression else Y
        U = xp.concat([W[:, :-1], 0.0 * W[:, -1:]], axis=1) if self._free else W
        V = rows.transposed_times_many(S * alpha)
        apart = U - V
        sums = [xp.max(verbs.violations(M, alpha, C), axis=1)]
        terms = (0.5 * U * U, verbs.primal_terms(M, C), verbs.gap_terms(M, alpha, C), 0.5 * apart * apart)
        parts = to_numpy(xp.stack(sums + [xp.sum(part, axis=1) for part in terms], axis=1)).tolist()
        models = to_numpy(W)
        return [
            _Certified(models[k], alpha[k, :], Certificate.of(violation, length + losses, gap + of_w))
            for k, (violation, length, losses, gap, of_w) in enumerate(parts)
        ]

    def _solution(self, k: int, found: _Certified, seconds: float) -> Solution:
        n_iter, (w, alpha, certificate) = self._courses[k].n_iter, found
        history = np.zeros(1, dtype=HISTORY)
        at = (certificate.violation, certificate.gap, certificate.primal, certificate.dual)
        history[0] = (n_iter, seconds, 0, *at, 0)
        reason, converged = self._stop.outcome("rounding", certificate)
        return Solution(
            w=w[:-1],
            intercept=self._rows.bias * float(w[-1]),
            alpha=alpha,
            certificate=certificate,
            history=history,
            n_iter=n_iter,
            n_steps=0,
            seconds=seconds,
            solver=NEWTON if uses_factors(self._rows, self._loss) else NEWTON_CG,
            converged=converged,
            stop_reason=reason,
        )
