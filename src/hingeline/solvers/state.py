"""What an engine works on: the dual variables, w, and the generator. Valid at any time, so a run can end anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.passes import settle_rows
from ..kernels.random import seeded
from ..kernels.variables import Variables, new_variables
from ..solution import Snapshot
from .engines import Engine


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
    began_at_zero: bool = False  # w = 0 before the first engine
    engines: list[Engine] = field(default_factory=list)  # those that have worked on it, the present one last

    @property
    def is_in_step(self) -> bool:
        """Whether w has come from 0 by steps of one engine that moves it along with alpha."""
        return self.began_at_zero and len(self.engines) == 1 and self.engines[0].stepwise

    def to_anchor(self, u: np.ndarray) -> np.ndarray:
        """Return the weights w of which ``u`` is the part that is regularised."""
        w = u.copy()
        w[-1] += self.anchor
        return w

    def from_anchor(self, w: np.ndarray) -> np.ndarray:
        """Return the part of w that is regularised: w itself, the intercept's weight measured from the anchor."""
        u = w.copy()
        u[-1] -= self.anchor
        return u

    def snapshot(self) -> Snapshot:
        """Return copies of the variables."""
        problem, variables, p = self.problem, self.variables, None
        if self.engines[-1].adapts:
            p, visited = np.zeros(problem.data.n_rows), problem.variables_in_order()
            p[visited] = np.maximum(variables.p[visited], 0.0)  # negative: left out
        alpha = variables.alpha.copy()
        least, most = (np.broadcast_to(f(problem.loss, variables.C), alpha.shape).copy() for f in (lower, upper))
        return Snapshot(self.w[:-1].copy(), self.intercept, alpha, least, most, p)

    @property
    def intercept(self) -> float:
        """The intercept: its weight times the value of the constant feature."""
        return self.problem.data.rows.bias * float(self.w[-1])


def new_state(
    problem: Problem, seed: int, alpha0: np.ndarray | None = None, anchor: float = 0.0, near: Near | None = None
) -> State:
    """Return the state at which training begins: the variables at ``alpha0`` or zero, w at the anchor.

    w is that of the variables only if these are zero.
    """
    w = np.zeros(problem.data.n_features + 1)
    w[-1] = anchor
    at_zero = anchor == 0.0 and alpha0 is None
    return State(problem, new_variables_of(problem, alpha0), w, seeded(seed), anchor, near, began_at_zero=at_zero)


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
