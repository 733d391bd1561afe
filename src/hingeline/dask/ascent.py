"""Dual ascent on the rows of one partition, against the local problem of CoCoA+: the hybrid's sweeps.

With w the weights of all dual variables and Delta the changes of those of this worker, the local problem is

    max over Delta   sum_i -conjugate_i(alpha_i + Delta_i) - <w, Z' Delta> - sigma |Z' Delta|^2 / 2.

In units of sigma, beta = sigma (alpha + Delta), it is an ordinary problem: the same loss with sigma C_i instead of
C_i, at the weights u = w + Z'(beta - sigma alpha). So the kernels of one machine solve it as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.losses import lower, upper
from ..kernels.passes import sum_dual_terms
from ..kernels.random import seeded
from ..kernels.schedule import Learning, Preferences, keep_active
from ..kernels.shrink import Thresholds, cautious_thresholds, next_thresholds
from ..kernels.types import Vector
from ..runtime.pace import Pace
from ..runtime.threads import part_bounds
from ..solvers.dual.active_sweep import Seen, visit_active, with_adjusted_p_max
from ..solvers.state import C_of_visited, packed_variables
from ..solvers.visit_order import new_accounts, order_visits, room_for_visits

PIECES = 16  # pieces of a sweep: a worker's partitions take turns, so that their variables react to each other


class Ascended(NamedTuple):
    """What the sweeps of a round have seen and changed; results of several workers add up.

    Attributes
    ----------
    visits : visits of variables
    violation, gap : largest violation and sum of the gap terms, as the last whole sweep has seen them
    none, half, whole : sums of the dual's terms if none, half or all of the change is taken
    squares : sum over workers of |Z' Delta|^2
    """

    visits: int
    violation: float
    gap: float
    none: float
    half: float
    whole: float
    squares: float

    @classmethod
    def merged(cls, parts: list[Ascended]) -> Ascended:
        """Return what all workers have done together."""
        visits, violations, *sums = zip(*parts, strict=True)
        return cls(sum(visits), max(violations), *map(sum, sums))


class Ascent:
    """The dual variables of one partition, with what the hybrid has learned about them.

    ``alpha`` is what all workers agree on. A round proposes changes, and ``take`` applies a fraction of them.
    """

    def __init__(self, problem: Problem, alpha: Vector, seed: int, between: Callable[[], None]) -> None:
        self.problem, self.alpha = problem, alpha
        self._visits, self._passes = Pace(between), Pace(between)
        self._variables, self._C = packed_variables(problem), C_of_visited(problem)
        self._rng = seeded(seed)
        self._accounts = new_accounts(problem.data.n_rows)
        self._order = room_for_visits(problem.n_variables)
        self._preferences, self._seen, self._sweeps = Preferences(), Seen(), 0
        self._before = Thresholds()
        self._sigma, self.n_visits = 1.0, 0
        self._visit_everyone()

    def _visit_everyone(self) -> None:
        np.abs(self._variables.p, out=self._variables.p)
        self._A = self.problem.variables_in_order()
        self._n_active, self._thresholds, self._complete = self._A.size, Thresholds(), True

    def begin_round(self, sigma: float) -> None:
        """Begin at alpha."""
        self._sigma = sigma
        self._variables.C[:] = sigma * self._C
        np.multiply(self.alpha, sigma, out=self._variables.alpha)

    def schedule(self, complete: bool) -> None:
        """Choose the visits of a sweep: every variable, or the active ones as often as their preferences say."""
        if complete or self._n_active == 0:
            self._visit_everyone()
        p, active = self._variables.p, self._A[: self._n_active]
        self._I = order_visits(
            p, active, self._accounts, self._order, once=self._complete, rng=self._rng, pace=self._visits
        )
        self._seen = Seen(D_ref=self._seen.D_ref)

    def visit(self, u: Vector, piece: int) -> None:
        """Do a piece of the sweep; updates u."""
        first, last = part_bounds(self._I.size, PIECES, piece)
        if first == last:
            return
        rows, loss, seen = self.problem.data.rows, self.problem.loss, self._seen
        learning = Learning(*self._preferences, 1.0 / self._n_active, True, self._sweeps == 0)
        rule = (self._thresholds, learning, self._complete)
        for begin, end in self._visits.slices(last - first):
            done = (self._variables, u, self._I, first + begin, first + end)
            seen = Seen(*visit_active(rows, loss, *done, *rule, seen))
        self.n_visits += seen.steps - self._seen.steps
        self._seen = seen

    def end_sweep(self) -> Seen:
        """Drop variables that press against their bounds; returns what the sweep has seen."""
        if self._I.size:
            self._preferences = with_adjusted_p_max(self._preferences, Preferences().p_max, self._seen)
            self._shrink(self._seen)
        return self._seen

    def _shrink(self, seen: Seen) -> None:
        """Choose who stays active."""
        self._n_active = keep_active(self._variables.p, self._A, self._n_active)
        last = next_thresholds(seen.v_min, seen.v_max)
        self._thresholds = cautious_thresholds(self._sweeps, last, self._before)
        self._before, self._complete = last, False
        self._sweeps += 1

    def terms(self, share: float) -> float:
        """Return the dual's terms of these variables after this fraction of the change."""
        a, problem = self._after(share), self.problem
        fixed = (problem.loss, problem.y, problem.C_values, a, 1.0)
        return sum(sum_dual_terms(*fixed, begin, end) for begin, end in self._passes.slices(a.size))

    def _after(self, share: float) -> Vector:
        if share == 0.0:
            return self.alpha
        beta, loss, C = self._variables.alpha, self.problem.loss, self.problem.C_values
        proposed = beta / self._sigma
        for bound in (
            lower,
            upper,
        ):  # exactly, since a variable that misses its bound by rounding does not count as being there
            at_bound = beta == bound(loss, self._variables.C)
            proposed[at_bound] = np.broadcast_to(bound(loss, C), proposed.shape)[at_bound]
        if share < 1.0:
            proposed = (1.0 - share) * self.alpha + share * proposed
        return np.ascontiguousarray(proposed)

    def take(self, share: float) -> None:
        """Add this fraction of the change to alpha."""
        self.alpha[:] = self._after(share)
