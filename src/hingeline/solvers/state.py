"""What an engine works on: the dual variables, w, and the generator. Valid at any time, so a run can end anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.passes import settle_rows
from ..kernels.variables import Variables, new_variables


class Near(NamedTuple):
    """The solution of a similar problem, for engines that can start from weights that are not those of alpha.

    Attributes
    ----------
    w : ndarray of shape (n_features + 1,)
        Its weights, the intercept's last.
    width : float
        How far the margins are believed to move from there (on average).
    """

    w: np.ndarray
    width: float


@dataclass
class State:
    """Dual variables with w = sum_i alpha_i s_i x_i, up to rounding (s_i = y_i, or 1 in a regression)."""

    problem: Problem
    variables: Variables
    w: np.ndarray
    rng: np.ndarray
    anchor: float = 0.0  # the intercept's weight is regularised towards this; see free_intercept.py
    near: Near | None = None  # where Newton's method begins, if no other engine has been at work before
    is_primal: bool = False  # w is an engine's own, near to what the dual variables give but not the same

    def to_anchor(self, u: np.ndarray) -> np.ndarray:
        """Return the weights w of which ``u`` is the part that is regularised."""
        w = u.copy()
        w[-1] += self.anchor
        return w

    def from_anchor(self, w: np.ndarray) -> np.ndarray:
        """Return the part of w that is regularised: w itself, the intercept's weight taken from the anchor."""
        u = w.copy()
        u[-1] -= self.anchor
        return u


def new_variables_of(problem: Problem, alpha0: np.ndarray | None) -> Variables:
    """Return the packed variables of ``problem``, at ``alpha0`` (moved into the box) or at zero.

    Rows of zeros get their optimal value at once, rows of no weight get zero: no engine visits them.
    """
    loss = problem.loss
    variables = new_variables(problem.data.n_rows, targets=loss.is_regression)
    variables.q[:] = problem.data.q
    variables.C[:] = problem.C
    variables.y[:] = problem.y
    if alpha0 is not None:
        variables.alpha[:] = np.clip(alpha0, lower(loss, variables.C), upper(loss, variables.C))
    if not problem.every_row:
        out = np.ones(problem.data.n_rows, dtype=bool)
        out[problem.variables_in_order()] = False
        settle_rows(loss, variables, np.flatnonzero(out).astype(np.uint64))
    return variables
