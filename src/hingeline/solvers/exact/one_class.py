"""The one-class problem in decimals: rho is a free weight with a slope of its own."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from ...kernels.types import Vector
from ...solution import Certificate, Solution
from ..one_class.dual_variables import OneClass, make_feasible
from ..origin import small_copy
from ..stop import Stop
from .decimals import ONE, ZERO, decimals, floats
from .interior import DenseRows, Pieces, Point
from .last_resort import Model, finished

NOTHING = 1e-20  # share of the largest dual variable that is none


def finished_one_class(state: OneClass, solution: Solution, stop: Stop) -> Solution:
    """Return a better solution of the problem of ``state`` if it is small and this one has stalled."""

    def keep(model: Model) -> dict[str, Any]:
        return {"w": model.w[:-1], "intercept": -float(model.w[-1]), "alpha": model.alpha}

    make = lambda: ExactOneClass(state)  # noqa: E731
    return finished(state.data, state.data.n_features + 1, solution, stop, make, keep)


class ExactOneClass:
    """The rows that count; the last column is that of rho, minus ones."""

    def __init__(self, state: OneClass) -> None:
        X = small_copy(state.data)
        assert X is not None
        self._state, self._which = state, np.flatnonzero(state.C > 0.0)
        self._Z = decimals(np.column_stack([X, np.full(len(X), -1.0)])[self._which])
        self._C = decimals(state.C[self._which])
        self._total = Decimal(state.total)

    @cached_property
    def pieces(self) -> Pieces:
        """The losses C_i max(0, rho - <x_i, w>), and -total rho."""
        d, n = self._Z.shape[1], self._C.size
        R, q = np.full(d, ONE), np.full(d, ZERO)
        R[-1], q[-1] = ZERO, -self._total
        return Pieces(R, q, DenseRows(self._Z), np.full(n, ZERO), np.arange(n), self._C, np.full(0, ZERO))

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Vector:
        """Return the dual variables, rounded, with the sum that they must have."""
        state, out = self._state, np.zeros(self._state.C.size)
        a = floats(at.a)
        a[a <= NOTHING * a.max()] = 0.0
        out[self._which] = a
        misfits = np.zeros_like(out)
        misfits[self._which] = floats(np.abs(self._Z @ at.w))
        make_feasible(out, state.C, state.total, state.data.q, lambda: misfits)
        return out

    def model(self, w: Vector, alpha: Vector) -> Model:
        """Return the model with its certificate."""
        exact, a = decimals(w), decimals(alpha[self._which])
        m = -(self._Z @ exact)
        u, v = exact[:-1], (self._Z.T @ a)[:-1]
        losses = sum((C * max(m_i, ZERO) for C, m_i in zip(self._C, m, strict=True)), ZERO)
        primal = u @ u / 2 - self._total * exact[-1] + losses
        dual = -(v @ v) / 2
        scores = exact[-1] - m
        rising = [s for s, a_i, C in zip(scores, a, self._C, strict=True) if a_i < C]
        falling = [s for s, a_i in zip(scores, a, strict=True) if a_i > 0]
        violation = max(max(falling) - min(rising), ZERO) if rising and falling else ZERO
        size = self._state.size_of(float(primal), float(dual), alpha)
        difference = float(max(primal - dual, ZERO))
        return Model(w, alpha, Certificate.of(float(violation), float(primal), difference, size))
