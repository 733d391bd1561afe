"""What an engine works on: dual variables, w, random generator. Valid at any time, so a run can end at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.random import seeded
from ..kernels.types import Vector
from ..kernels.variables import Variables, new_variables
from ..runtime.pace import do_nothing
from ..runtime.threads import ALONE, Team
from ..solution import Snapshot
from .engines import Engine
from .shards import Shards, shards_of
from .shards.alpha import starting_alpha


class Near(NamedTuple):
    """The solution of a similar problem, for engines that can start from weights that are not those of alpha.

    Attributes
    ----------
    w : ndarray of shape (n_features + 1,)
        Its weights, the intercept's last.
    width : float
        How far the margins are expected to move from there, on average.
    """

    w: Vector
    width: float


class Known(NamedTuple):
    """What is known of the dual variables that a run starts from: their weights, up to rounding, and the dual value."""

    w: Vector
    dual: float


@dataclass
class State:
    """Dual variables with w = sum_i alpha_i s_i x_i, up to rounding (s_i = y_i, or 1 in a regression).

    Engines that visit one variable at a time need all its data in one cache line: between ``pack`` and ``unpack`` they
    work on ``variables``, and alpha is a copy that ``refresh_alpha`` brings up to date.
    """

    shards: Shards
    problem: Problem
    alpha: Vector  # the array that the shards look at
    w: Vector
    rng: np.ndarray
    anchor: float = 0.0  # the intercept's weight is regularised towards this; see anchored.py
    is_free: bool = False  # ... or it is not regularised at all: w[-1] does not follow from alpha
    near: Near | None = None  # where Newton's method begins, if no other engine ran before
    resumed: bool = False  # ... or if it goes on after rows were lost and read again
    is_primal: bool = False  # an engine computed w by itself: it is close to the weights of alpha, but not the same
    began_at_zero: bool = False  # w = 0 before the first engine
    engines: list[Engine] = field(default_factory=list)  # those that have worked on it, the current one last
    _records: Variables | None = None
    _is_packed: bool = False

    @property
    def is_in_step(self) -> bool:
        """Whether one engine has moved w from 0 in step with alpha."""
        return self.began_at_zero and len(self.engines) == 1 and self.engines[0].stepwise

    @property
    def variables(self) -> Variables:
        """The packed records that stepwise engines work on."""
        if not self._is_packed:
            self.pack()
        assert self._records is not None
        return self._records

    def pack(self) -> None:
        """Hand the dual variables over to the packed records."""
        if self._records is None:
            self._records = packed_variables(self.problem)
        self._records.alpha[:] = self.alpha
        self._is_packed = True

    def refresh_alpha(self) -> None:
        """Bring alpha up to date with the packed records, if these are in use."""
        if self._is_packed:
            assert self._records is not None
            self.alpha[:] = self._records.alpha

    def unpack(self) -> None:
        """Take the dual variables back from the packed records; preferences stay there for a later phase."""
        self.refresh_alpha()
        self._is_packed = False

    def move_to(self, w: Vector, is_primal: bool) -> None:
        """Set the weights to w; ``is_primal`` says that an engine computed them by itself."""
        self.w[:] = w
        self.is_primal = is_primal

    def begins_near(self, n_iter: int) -> bool:
        """Tell whether an engine that starts after ``n_iter`` iterations begins at ``near``."""
        return self.near is not None and (n_iter == 0 or self.resumed)

    def regularised(self) -> Vector:
        """Return the part of w that is regularised: the intercept's weight measured from the anchor, or without it."""
        u = self.w.copy()
        u[-1] = 0.0 if self.is_free else u[-1] - self.anchor
        return u

    def follow(self, v: Vector) -> None:
        """Set w to the weights v = Z' alpha of the dual variables; a free intercept stays."""
        self.w[:-1] = v[:-1]
        if not self.is_free:
            self.w[-1] = v[-1] + self.anchor
        self.is_primal = False

    def snapshot(self) -> Snapshot:
        """Return copies of the variables."""
        problem, p = self.problem, None
        if self.engines[-1].adapts:
            p, visited = np.zeros(problem.data.n_rows), problem.variables_in_order()
            p[visited] = np.maximum(self.variables.p[visited], 0.0)  # negative: left out
        self.refresh_alpha()
        bounds = (f(problem.loss, problem.C_values) for f in (lower, upper))
        least, most = (np.broadcast_to(bound, self.alpha.shape).copy() for bound in bounds)
        return Snapshot(self.w[:-1].copy(), self.intercept, self.alpha.copy(), least, most, p)

    @property
    def intercept(self) -> float:
        """The intercept: its weight times the value of the constant feature."""
        return self.problem.data.rows.bias * float(self.w[-1])


def new_state(
    problem: Problem,
    seed: int,
    alpha0: Vector | None = None,
    anchor: float = 0.0,
    near: Near | None = None,
    *,
    free: bool = False,
    team: Team = ALONE,
    between: Callable[[], None] = do_nothing,
) -> State:
    """Return the state at which training begins: the variables at ``alpha0`` or zero, w at the anchor.

    w matches the variables only if these are zero. ``free`` leaves the intercept out of the regulariser. Passes over
    the rows are shared among ``team``, with ``between`` called between two slices of them.
    """
    w = np.zeros(problem.data.n_features + 1)
    w[-1] = anchor
    alpha = starting_alpha(problem, alpha0, team.pace())
    shards, at_zero = shards_of(problem, alpha, team, between), anchor == 0.0 and alpha0 is None
    return State(shards, problem, alpha, w, seeded(seed), anchor, free, near, began_at_zero=at_zero)


def packed_variables(problem: Problem) -> Variables:
    """Return the packed variables of ``problem``, alpha = 0."""
    C = C_of_visited(problem)
    variables = new_variables(problem.data.n_rows, targets=problem.loss.is_regression, same_C=np.ndim(C) == 0)
    variables.q[:] = problem.data.q
    variables.C[:] = C
    variables.y[:] = problem.y
    return variables


def C_of_visited(problem: Problem) -> Vector | float:
    """Return C, one number if it is the same for all rows that have weight, as in the folds of a search."""
    C = problem.C_values
    largest = float(C.max())
    is_same = np.count_nonzero(C == largest) + np.count_nonzero(C == 0.0) == C.size
    return largest if is_same else C
