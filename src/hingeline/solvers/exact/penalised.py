"""Problems with an L1 or elastic-net penalty, in decimals: |w_j| is a sum of two pieces like those of a loss."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.losses import gap_term, primal_term, response
from ...kernels.types import Vector
from ...solution import Certificate, Solution
from ..stop import Stop
from .composite import PenalisedLogistic
from .decimals import ONE, ZERO, Decimals, decimals, floats
from .interior import DenseRows, Point
from .last_resort import Model, finished
from .rows import ExactRows, weights_and_variables

NOTHING = Decimal("1e-20")  # a weight whose contribution to scores is below this fraction of the largest is zero
LEAST_ROOM = Decimal("0.01")  # least fraction of their bounds that dual variables keep
MOST_ROOMS, MOST_SHRINKS = 5, 20
ACCURATE = 1e-6  # rounding error of v_j that is allowed, as a fraction of its bound
SHRUNK = 1.0 - 2.0**-52


def finished_penalised(
    problem: Problem,
    solution: Solution,
    stop: Stop,
    l1: Vector,
    l2: Vector,
    cancelled: Callable[[], bool] | None,
) -> Solution:
    """Return a better solution of ``problem`` with these penalties if it is small and this one has stalled."""
    data = problem.data
    make = lambda: ExactPenalised(problem, l1, l2, np.append(solution.w, solution.intercept))  # noqa: E731
    return finished(data, data.n_features + 1, solution, stop, make, weights_and_variables, cancelled)


class ExactPenalised(ExactRows):
    """The rows, and the penalty sum_j l1_j |w_j| + l2_j w_j^2/2; ``start`` are weights that may be near."""

    def __init__(self, problem: Problem, l1: Vector, l2: Vector, start: Vector) -> None:
        super().__init__(problem, is_free=not (l1[-1] or l2[-1]))
        self._l1, self._R, self._start = decimals(l1), decimals(l2), decimals(start)
        bias = problem.data.rows.bias
        if bias:
            self._l1[-1] /= abs(Decimal(bias))
            self._R[-1] /= Decimal(bias) ** 2

    @cached_property
    def pieces(self) -> Any:
        """The penalty's pieces, then those of the losses."""
        if not self._problem.loss.slope_has_kinks:
            return PenalisedLogistic(self._R, self._l1, self._Z, self._c, decimals(self._C), self._start)
        losses = super().pieces
        penalised = np.flatnonzero(self._l1)
        signs = np.full((penalised.size, self._l1.size), ZERO)
        signs[np.arange(penalised.size), penalised] = ONE
        U = np.tile(self._l1[penalised], 2)
        return losses._replace(
            Z=DenseRows(np.concatenate([signs, -signs, *(side * self._Z for side in self._sides)])),
            c=np.concatenate([np.full(U.size, ZERO), losses.c]),
            group=np.arange(U.size),
            U=U,
        )

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Vector:
        """Return the dual variables, scaled so that |v_j| <= l1_j if l2_j = 0.

        If rounding makes v_j exceed that, bounds that leave room for it cost less than scaling, which rounds anew.
        """
        alpha, room = self._rounded(at, check), ONE
        over = self._excess(alpha)
        for _ in range(MOST_ROOMS):
            if over <= 0 or room <= LEAST_ROOM:
                break
            room = max(room - 4 * over, LEAST_ROOM)
            roomy = self._with_room(room, at.w).solved(check)
            if roomy is None:
                break
            alpha = min(alpha, self._rounded(roomy, check), key=self._excess)
            over = self._excess(alpha)
        for _ in range(MOST_SHRINKS):
            over = self._excess(alpha)
            if over <= 0:
                break
            alpha = alpha * min(float(1 / (1 + over)), SHRUNK)
        return alpha

    def _rounded(self, at: Point, check: Callable[[], None]) -> Vector:
        n = 0 if isinstance(self.pieces, PenalisedLogistic) else self.pieces.U.size
        return super().dual_variables(at._replace(a=at.a[n:]), check)

    def _accuracy(self, a: Vector, value: float) -> Vector:
        l1 = floats(self._l1)
        return np.where((l1 > 0.0) & (floats(self._R) == 0.0), ACCURATE * l1, super()._accuracy(a, value))

    def _with_room(self, room: Decimal, near: Decimals) -> Any:
        """Return the problem with bounds on v that are smaller by this factor; its solution is ``near``."""
        if isinstance(self.pieces, PenalisedLogistic):
            return self.pieces._replace(l1=room * self._l1, start=near)
        return self.pieces._replace(U=room * self.pieces.U)

    def _excess(self, alpha: Vector) -> Decimal:
        """Return the largest fraction by which |v_j| exceeds l1_j, if l2_j = 0."""
        v = np.abs(self._Z.T @ decimals(alpha[self._which]))
        return max(
            (v_j / l1 - 1 for v_j, l1, l2 in zip(v, self._l1, self._R, strict=True) if l1 and not l2), default=ZERO
        )

    def model(self, w: Vector, alpha: Vector) -> Model:
        """Return the model with its certificate; weights that make no difference are zero."""
        loss, exact, own = self._problem.loss, decimals(w), alpha[self._which]
        sizes = np.abs(exact) * np.abs(self._Z).max(axis=0)
        w = np.where([bool(size <= NOTHING * max(sizes)) for size in sizes], 0.0, w)
        exact = decimals(w)
        m = floats(self._c - self._Z @ exact)
        of_rows = list(zip(m.tolist(), own.tolist(), self._C, strict=True))
        penalty = self._l1 * np.abs(exact) + self._R * exact * exact / 2
        v = self._Z.T @ decimals(own)
        over = [max(size, ZERO) for size in np.abs(v) - self._l1]
        conjugate = [above * above / (2 * l2) if l2 else ZERO for above, l2 in zip(over, self._R, strict=True)]
        of_weights = penalty + np.array(conjugate) - v * exact
        if self._is_free:
            of_weights[-1] = ZERO
        primal = fsum([float(penalty.sum()), *(primal_term(loss, m, C) for m, _, C in of_rows)])
        difference = fsum([float(of_weights.sum()), *(gap_term(loss, m, a, C) for m, a, C in of_rows)])
        return Model(w, alpha, Certificate.of(self._violation(exact, m), primal, max(difference, 0.0)))

    def _violation(self, w: Decimals, m: Vector) -> float:
        """Return the largest violation of a weight, at the slopes of the losses."""
        slopes = decimals([response(self._problem.loss, m_i, C) for m_i, C in zip(m.tolist(), self._C, strict=True)])
        found = [
            abs(slope + l1.copy_sign(w_j)) if w_j else max(abs(slope) - l1, ZERO)
            for slope, l1, w_j in zip(self._R * w - self._Z.T @ slopes, self._l1, w, strict=True)
        ]
        return float(max(found))
