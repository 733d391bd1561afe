"""The dual variables of rows in memory as a whole: where they begin, copies, the balance for a free intercept."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.problem import Problem
from ...kernels.passes import settle_rows
from ...kernels.types import Vector
from ...runtime.pace import NUMBERS, Pace
from ..balance import SidesInMemory, balance
from .interface import Shards

NO_START = np.empty(0)


def starting_alpha(problem: Problem, alpha0: Vector | None = None, pace: Pace | None = None) -> Vector:
    """Return dual variables at ``alpha0`` (moved into the box) or at zero.

    Rows of zeros get their optimal value at once, rows of no weight get zero: no engine visits them.
    """
    if alpha0 is None and problem.data.smallest_q > 0.0:
        return np.zeros(problem.data.n_rows)
    alpha, start = np.empty(problem.data.n_rows), NO_START if alpha0 is None else np.ascontiguousarray(alpha0)
    arrays = (problem.loss, problem.y, problem.C_values, problem.data.q, start, alpha)
    (pace or Pace(first=NUMBERS)).each(alpha.size, lambda part, begin, end: settle_rows(*arrays, begin, end))
    return alpha


class AlphaInMemory(Shards):
    """Shards whose dual variables are one array, ``alpha``."""

    problem: Problem
    alpha: Vector

    def copy_alpha(self) -> Vector:  # noqa: D102
        return self.alpha.copy()

    def set_alpha(self, copy: Any) -> None:  # noqa: D102
        self.alpha[:] = copy

    def reset_alpha(self) -> None:  # noqa: D102
        self.alpha[:] = starting_alpha(self.problem)

    def balance(self) -> None:  # noqa: D102
        balance(SidesInMemory(self.problem, self.alpha))
