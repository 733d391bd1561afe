"""Newton's method on the rows of a cluster: the back end of Dask. A shard is a partition on its worker.

An iteration takes two or three rounds: one for the search along a direction, one for the responses. The Gram matrix
comes with the responses if that saves a round that would take longer than the matrix. If the loss is smooth, a step of
length 1 is mostly good enough: then it is taken in advance, and an iteration is one round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..kernels.types import Matrix, Vector
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.newton.newton import WIDTH_SHARE
from ..solvers.shards.interface import Comparison, Responses, Shards
from ..solvers.shards.line import LADDER, Line
from ..solvers.state import Near
from .line import search
from .messages import Call
from .remote import RemoteShards

WORTH_A_ROUND = 2.0  # most that a possibly unneeded Gram matrix may take, times a round's communication
SAMPLED_PER_WEIGHT, SAMPLED_IF_SMOOTH = 512, 64  # most sampled rows per weight: one worker gathers and solves them
FEW_ROUNDS = 4  # rounds after which the seconds of a round are known
WHOLE_STEP = 0.5  # share of the slope that may be left at a step of length 1, if another one costs a round
LEAST_GAIN = 0.1  # over the slope: what such a step must gain; Newton's method promises 0.5
NOT_YET: Matrix = np.empty((0, 2))  # derivatives that come with the responses

T = TypeVar("T")


class _Taken(NamedTuple):
    """What came of a step of length 1: responses, Z'(change of alpha), and what was proposed, if anything."""

    responses: Responses
    change: Vector
    comparison: Comparison | None


class DaskShards(RemoteShards):
    """The rows of a problem, for Newton's method."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._p = np.zeros(self.n_weights)
        self._gram: Vector | None = None  # its upper triangle, if it came with the last responses
        self.uses_gram, self._gram_seconds = False, 0.0
        self._responses = Responses()
        self._comparison: Comparison | None = None  # what came with the last responses
        self._has_proposal = False  # for the step that is under way
        self._along: tuple[Any, ...] = ()  # results of what had waited for the last responses
        self._taken: _Taken | None = None  # a step of length 1 along p, before its length was known
        self._takes_whole_steps = False  # since the last one was good enough

    def where_it_was(self) -> Near | None:
        """Return the last w sent to the hosts, and how far its margins may still move; None if there is none."""
        if not (self._w.any() and np.isfinite(self._w).all()):
            return None
        return Near(self._w.copy(), self._delta / WIDTH_SHARE if self._delta else inf)

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._go_to(w.copy(), delta)
        self._has_proposal, self._taken = False, None  # nor has a host that has replaced a lost one
        self._takes_whole_steps = bool(w.any())  # a sample has led there
        return self._responded(("begin", (w, delta)), with_gram=self.uses_gram)

    def _responded(self, call: Call, with_gram: bool) -> tuple[Responses, Vector]:
        """Let the shards respond; the same round may return their Gram matrix and their view of a proposal."""
        calls, compares, n = [call], self._has_proposal, self.n_weights
        if with_gram:
            calls.append(("gram", ()))
        if compares:
            calls.append(("compare", ()))
        values = self._ask(*calls, result=n + n * n // 2 if with_gram else n)
        self._along, values = values[: -len(calls)], values[-len(calls) :]
        (responses, v), self._gram = values[0], values[1] if with_gram else None
        self._comparison, self._has_proposal = Comparison(*values[-1]) if compares else None, False
        self._responses = responses
        return responses, v

    def project(self, p: Vector, taus: Vector) -> Matrix:  # noqa: D102
        self._p, self._taken = p.copy(), None
        is_search = taus is LADDER  # which begins with a step of length 1
        if is_search and self.uses_gram and self.loss.is_smooth and self._takes_whole_steps:
            self._tell("project", p, taus)
            return NOT_YET
        return np.asarray(self._sum("project", p, taus))

    def derivatives(self, taus: Vector) -> Matrix:  # noqa: D102
        return np.asarray(self._sum("derivatives", taus))

    @property
    def first_taus(self) -> Vector:  # noqa: D102
        return LADDER

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:  # noqa: D102
        derivatives, before = self.derivatives, 0.0
        if values is NOT_YET:
            self._go_to(self._w + self._p, self._delta)
            before = self._responses.losses
            responses, change = self._responded(("respond", (1.0, False)), with_gram=True)
            self._taken, values = _Taken(responses, change, self._comparison), np.asarray(self._along[0])
            derivatives = self._derivatives_from_there
        left = abs(float(values[0, 0]) + line.wp + line.pp)
        self._takes_whole_steps = left <= max(line.accuracy, WHOLE_STEP) * abs(line.slope)
        if self._taken is not None and self._takes_whole_steps:
            gain = before - self._taken.responses.losses - line.wp - 0.5 * line.pp
            if gain >= LEAST_GAIN * abs(line.slope):
                return 1.0
        return search(derivatives, line, taus, values)

    def _derivatives_from_there(self, taus: Vector) -> Matrix:
        """Do as ``derivatives`` does after a step of length 1 was taken; the Gram matrix has overwritten t since."""
        return np.asarray(self._sum("project", self._p, taus - 1.0))

    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:  # noqa: D102
        taken, self._taken = self._taken, None
        if taken is None:
            self._go_to(self._w + tau * self._p, self._delta)
            return self._responded(("respond", (tau, afresh)), with_gram=self.uses_gram and self._is_gram_cheap())
        if tau == 1.0:
            return taken.responses, taken.change
        self._go_to(self._w + (tau - 1.0) * self._p, self._delta)
        self._tell("project", self._p, np.empty(0))
        self._has_proposal = taken.comparison is not None
        responses, change = self._responded(("respond", (tau - 1.0, False)), with_gram=True)
        if self._comparison is not None and taken.comparison is not None:  # the box has cut the proposal before
            self._comparison = self._comparison._replace(excess=taken.comparison.excess)
        return responses, taken.change + change

    def _is_gram_cheap(self) -> bool:
        """Tell whether a Gram matrix that may not be needed costs less than a round of its own.

        After responses a smooth loss always needs it; the others may centre their smoothing anew first.
        """
        costs = self.hosts.costs
        if self.loss.is_smooth or costs.rounds < FEW_ROUNDS:
            return True
        return self._gram_seconds <= WORTH_A_ROUND * costs.communicating / costs.rounds

    def place(self, w: Vector) -> None:  # noqa: D102
        self._go_to(w.copy(), self._delta)
        self._tell("place", w)

    def recentre(self, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._go_to(self._w, delta)
        return self._responded(("recentre", (delta,)), with_gram=self.uses_gram)

    def add_gram(self, G: Matrix, afresh: bool) -> None:  # noqa: D102
        self.uses_gram = self.n_weights <= LARGEST_FACTOR
        if self._gram is None:
            before = self.hosts.costs.computing
            self._gram = self._sum("gram", result=self.n_weights**2 // 2)
            self._gram_seconds = self.hosts.costs.computing - before
        G[np.triu_indices(self.n_weights)] = self._gram

    def sampled_gram(self, G: Matrix, size: int, seed: int) -> None:  # noqa: D102
        share = min(1.0, size / max(1, self._responses.band_size))
        G[np.triu_indices(self.n_weights)] += self._sum("sampled_gram", share, seed, result=self.n_weights**2 // 2)

    def curvature_times(self, v: Vector) -> Vector:  # noqa: D102
        return np.asarray(self._sum("curvature_times", v, result=self.n_weights))

    def curvature_diagonal(self) -> Vector:  # noqa: D102
        return np.asarray(self._sum("curvature_diagonal", result=self.n_weights))

    def band_block(self) -> tuple[Matrix, Vector] | None:  # noqa: D102
        return None

    def keep(self, proposed: bool = False) -> None:  # noqa: D102
        self._tell("keep", proposed)

    def propose(self, tau: float) -> None:  # noqa: D102
        self._tell("propose", tau)
        self._has_proposal = True

    def compare(self) -> Comparison:  # noqa: D102
        if self._comparison is not None:
            return self._comparison
        return Comparison(*self._sum("compare", result=self.n_weights))

    def adopt(self) -> None:  # noqa: D102
        self._tell("adopt")

    def sample(self, step: int) -> Shards | None:  # noqa: D102
        return None  # its rows would come to the client

    def solve_sample(self, step: int, solve: Callable[[Shards], T]) -> T | None:  # noqa: D102
        per_weight = SAMPLED_IF_SMOOTH if self.loss.is_smooth else SAMPLED_PER_WEIGHT
        step = max(step, self.n_rows // (per_weight * self.n_weights))
        found: T | None = self.hosts.solve_sample(self.name, step, self.summary.sum_C, solve)
        self._between()
        return found

    def losses_at_zero(self) -> float:  # noqa: D102
        return self.summary.losses_at_zero

    def mean_margin_at_zero(self) -> float:  # noqa: D102
        return self.summary.margins_at_zero / self.summary.n_rows
