"""What an engine works on: the dual variables, w, and the generator. Valid at any time, so a run can end anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.losses import at_zero_row, upper
from ..kernels.variables import Variables, new_variables
from ..problem import Problem


@dataclass
class State:
    """Dual variables with w = sum_i alpha_i y_i x_i, up to rounding."""

    problem: Problem
    variables: Variables
    w: np.ndarray
    rng: np.ndarray


def new_variables_of(problem: Problem, alpha0: np.ndarray | None) -> Variables:
    """Return the packed variables of ``problem``, at ``alpha0`` (moved into the box) or at zero.

    Rows of zeros get their optimal value at once, rows of no weight get zero: no engine visits them.
    """
    variables = new_variables(problem.data.n_rows)
    variables.q[:] = problem.data.q
    variables.C[:] = problem.C
    variables.y[:] = problem.y
    if alpha0 is not None:
        variables.alpha[:] = np.minimum(alpha0, upper(problem.loss, variables.C))
    if not problem.every_row:
        out = np.ones(problem.data.n_rows, dtype=bool)
        out[problem.variables_in_order()] = False
        variables.alpha[out] = at_zero_row(problem.loss, variables.C[out])
    return variables
