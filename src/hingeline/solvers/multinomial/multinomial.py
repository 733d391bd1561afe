"""Multinomial logistic regression: one problem for all classes.

Problem    min_w   sum_c |w_c|^2/2 + sum_i C_i (logsumexp_c f_ic - f_{i y_i}),   f_ic = <x_i, w_c> + b_c
Dual       max_a   D(a) = sum_i C_i H(p_i) - sum_c |sum_i a_ic x_i|^2/2,   p_ic = [c = y_i] - a_ic/C_i,
                   p_i >= 0,   sum_c p_ic = 1,   and, if b is not regularised,   sum_i a_ic = 0 for each class

with H(p) = -sum_c p_c log(p_c). The gap is summed over rows, each term >= 0:

    P - D = |w - sum_i a_i (x) x_i|^2/2 + sum_i C_i KL(p_i, softmax(f_i)).

Newton's method finds w (newton_softmax.py); the dual variables that go with it are made feasible before they are
certified (class_balance.py). If columns are far from zero and the data are small, X is centred, and the intercepts
compensate. The optimal free intercept of a class without weight is minus infinity: it gets one far below the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...data.matrix import Data
from ...data.problem import Problem, make_problem
from ...kernels.losses import Logistic
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.pace import Pace
from ...runtime.threads import WORTH_SHARING, Team
from ...solution import Certificate, Progress, Snapshot, Solution
from ..clock import Clock
from ..driver import Run
from ..engines import AUTO, NEWTON, NEWTON_CG
from ..exact.softmax import finished_softmax
from ..finish import ended, insisting, solution_of
from ..origin import centred
from ..select import is_for_rounding
from ..stop import Stop
from .newton_softmax import newton_softmax
from .softmax_state import SoftmaxState, softmax_state

SOLVERS = (AUTO, NEWTON, NEWTON_CG)
ACCURATE = 1e-10  # violation to which small problems are solved
MOST_RESTARTS, TIGHTER = 3, 0.1  # restarts, and the factor of tol for each, if the exact violation is above tol
NEVER = 1e3  # by how much the intercept of a class without weight is below the least of the others


def train_multinomial(
    data: Data,
    codes: Indices,
    n_classes: int,
    weights: Vector | None,
    C: float,
    solver: str,
    stop: Stop,
    *,
    free_intercept: bool,
    alpha0: Matrix | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
    n_threads: int = 1,
) -> Solution:
    """Train on rows of class numbers ``codes``.

    ``alpha0`` holds weights to start from, since the method is primal: shape (n_classes, n_features + 1), those of the
    constant feature last. The solution's ``w`` has shape (n_classes, n_features), its ``intercept`` (n_classes,), its
    ``alpha`` (n_rows, n_classes), with w_c = sum_i alpha_ic x_i.
    """
    if solver not in SOLVERS:
        raise ValueError(f'solver="{solver}" does not train multinomial problems: use one of {", ".join(SOLVERS)}.')
    problem = make_problem(data, codes.astype(np.uint32), weights, Logistic(float(C)))
    used = _Used.of(problem, n_classes, free_intercept)
    with Team(n_threads if data.n_stored >= WORTH_SHARING else 1) as team:
        clock = Clock(stop.max_time, cancelled)
        state = softmax_state(used.problem, used.classes.size, free_intercept)
        run = Run(
            stop,
            clock,
            certify=state.refresh,
            floor=state.floor,
            callback=callback,
            team=team,
            take=lambda: used.restored(state.snapshot()),
        )
        if alpha0 is not None:
            with clock.finishing():
                _begin_at(state, used.weights(alpha0), run)
        if solver == AUTO and is_for_rounding(data, stop):
            run.stop = replace(stop, tol=min(stop.tol, ACCURATE))
        for _ in range(1 + MOST_RESTARTS):
            reason = ended(lambda: newton_softmax(state, run, by_products=solver == NEWTON_CG))
            certificate = run.certificate_after(reason, team.pace(clock.check_cancelled))
            if reason != "tol" or stop.met(certificate):
                break
            run.stop = replace(run.stop, tol=TIGHTER * run.stop.tol)  # the conditions of free intercepts cost something
        else:
            reason = "stalled"
        run.stop = stop
        if used.mean.size:
            certificate = _certificate_of_rounded(state, used)
            if reason in ("tol", "gap_tol") and not stop.met(certificate):
                reason = "rounding"
    at = used.restored(state.snapshot())
    stop = insisting(stop, certificate)
    name = NEWTON_CG if solver == NEWTON_CG else NEWTON
    found = solution_of(run, reason, stop, certificate, name, w=at.w, intercept=at.intercept, alpha=at.alpha)
    counted = replace(problem, y=used.problem.y)
    return finished_softmax(counted, used.classes, found, stop, free=free_intercept, never=NEVER, cancelled=cancelled)


def _begin_at(state: SoftmaxState, w: Vector, run: Run) -> None:
    """Begin at the weights w, unless those of the state are better."""

    def objective(w: Vector) -> float:
        u = state.regularised(w)
        return 0.5 * float(u @ u) + state.respond(w, run.passes)[0]

    if objective(w) < objective(state.w):  # a NaN is not
        state.w[:] = w


def _certificate_of_rounded(state: SoftmaxState, used: _Used) -> Certificate:
    """Return the certificate of the intercepts for X as it was given, rounded; scores are those around the mean."""
    at = state.snapshot()
    rounded = used.intercepts(at.w, at.intercept, 1)
    state.intercepts_of(state.w)[:] = used.intercepts(at.w, rounded, -1) / state.data.rows.bias
    return state.refresh(Pace())


class _Used(NamedTuple):
    """The problem as it is solved: rows around the mean of their columns, classes that have any weight.

    Attributes
    ----------
    problem : Problem
    n_classes : int
        Number of classes of the original problem.
    classes : ndarray
        Those that remain in ``problem``.
    mean : ndarray
        What was subtracted from its rows; empty if nothing was.
    """

    problem: Problem
    n_classes: int
    classes: Indices
    mean: Vector

    @classmethod
    def of(cls, problem: Problem, n_classes: int, free_intercept: bool) -> _Used:
        """Return the problem that is solved instead of ``problem``."""
        if not free_intercept:
            return cls(problem, n_classes, np.arange(n_classes), np.empty(0))
        counted = np.broadcast_to(np.asarray(problem.C) > 0.0, problem.data.n_rows)
        present = np.bincount(problem.y[counted], minlength=n_classes) > 0
        numbers = np.cumsum(present) - 1
        y = numbers[problem.y].clip(0).astype(np.uint32)
        data, mean = centred(problem.data, problem.C_values)
        return cls(replace(problem, data=data, y=y), n_classes, np.flatnonzero(present), mean)

    def intercepts(self, W: Matrix, b: Vector, sign: int) -> Vector:
        """Return intercepts for X as it was given from those around the mean, or (``sign`` -1) the other way."""
        if not self.mean.size:
            return b
        shift = W.astype(np.longdouble) @ self.mean
        return np.asarray(b - sign * shift, dtype=np.float64)

    def weights(self, W: Matrix) -> Vector:
        """Return weights of the original problem, those of the constant feature last, as the state holds them."""
        bias = self.problem.data.rows.bias
        own = W[self.classes].copy()
        if self.mean.size:
            own[:, -1] = self.intercepts(own[:, :-1], bias * own[:, -1], -1) / bias
        return np.ascontiguousarray(own.T).ravel()

    def restored(self, at: Snapshot) -> Snapshot:
        """Return a snapshot of the original problem."""
        assert at.alpha is not None
        b = self.intercepts(at.w, at.intercept, 1)
        if self.classes.size == self.n_classes:
            return at._replace(intercept=b)
        W, intercept = np.zeros((self.n_classes, at.w.shape[1])), np.full(self.n_classes, b.min() - NEVER)
        alpha = np.zeros((len(at.alpha), self.n_classes))
        W[self.classes], intercept[self.classes], alpha[:, self.classes] = at.w, b, at.alpha
        return at._replace(w=W, intercept=intercept, alpha=alpha)
