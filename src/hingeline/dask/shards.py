"""Rows on the workers of a cluster: the back end of Dask. A shard is a partition on its worker.

A verb is a round (rounds.py). Verbs that return nothing wait for the next round. The Gram matrix comes with the
responses if that saves a round that would take longer than the matrix, so an iteration of Newton's method takes two or
three rounds. The client holds what has the size of w, and nothing with one entry per row.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf, sqrt
from typing import Any, TypeVar
from weakref import finalize

import numpy as np

from ..kernels.types import Matrix, Vector
from ..solvers.balance import balance
from ..solvers.certificate_parts import CertificateParts
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.newton.newton import WIDTH_SHARE
from ..solvers.shards.interface import Comparison, Responses, Shards
from ..solvers.shards.line import LADDER, Line
from ..solvers.state import Near
from .ascent import PIECES, Ascended
from .line import search
from .merge import Widest
from .messages import Call
from .rounds import Hosts
from .spec import Spec, Summary

WORTH_A_ROUND = 2.0  # most that a possibly unneeded Gram matrix may take, times a round's communication
SAMPLED_PER_WEIGHT, SAMPLED_IF_SMOOTH = 512, 64  # most sampled rows per weight: one worker gathers and solves them
FEW_ROUNDS = 4  # rounds after which the seconds of a round are known


T = TypeVar("T")


class _Copy:
    """A copy of the dual variables, which lies on the workers."""

    def __init__(self, number: int) -> None:
        self.number = number


class DaskShards(Shards):
    """The rows of problem ``name`` of ``hosts``.

    ``between`` is called after each round.
    """

    is_remote = True

    def __init__(self, hosts: Hosts, name: str, summary: Summary, spec: Spec, between: Callable[[], None]) -> None:
        self.hosts, self.name, self.loss, self.summary = hosts, name, spec.loss, summary
        self.n_rows, self.n_weights, self.n_stored = summary.n_rows, hosts.n_features + 1, summary.n_stored
        self.longest, self.bias = sqrt(summary.largest_q), spec.bias
        self._spec, self._between = spec, between
        self._waiting: list[Call] = []
        self._dropped: list[int] = []
        self._numbers = count()
        self._w = self._p = np.zeros(self.n_weights)
        self._delta: float | None = None  # width of the smoothing
        self._gram: Vector | None = None  # its upper triangle, if it came with the last responses
        self.uses_gram, self._gram_seconds = False, 0.0
        self._responses = Responses()
        self._comparison: Comparison | None = None  # what came with the last responses
        self._has_proposal = False  # for the step that is under way
        self.is_at_zero = False  # whether all dual variables are known to be zero

    def _ask(self, *calls: Call, result: int = 0) -> tuple[Any, ...]:
        """Send what waits, and these calls, and return their results; about ``result`` numbers come back."""
        if self._dropped:
            self._waiting.append(("drop_copies", (self._dropped.copy(),)))
            self._dropped.clear()
        calls, self._waiting, self.is_at_zero = (*self._waiting, *calls), [], False
        values = self.hosts.ask(self.name, calls, 8 * result)
        self._between()
        return values

    def _tell(self, verb: str, *args: Any) -> None:
        """Let a verb that returns nothing wait for the next round."""
        self._waiting.append((verb, args))

    def _sum(self, verb: str, *args: Any, result: int = 0) -> Any:
        """Return the result of one verb."""
        return self._ask((verb, args), result=result)[-1]

    def _go_to(self, w: Vector, delta: float | None) -> None:
        self._w, self._delta = w, delta
        self.hosts.moved(self.name, w, delta)

    def where_it_was(self) -> Near | None:
        """Return the last w sent to the hosts, and how far its margins may still move; None if there is none."""
        if not (self._w.any() and np.isfinite(self._w).all()):
            return None
        return Near(self._w.copy(), self._delta / WIDTH_SHARE if self._delta else inf)

    def best_level(self) -> float:
        """Return approximately the constant prediction of least loss: the weighted median over the partitions."""
        found = self._sum("levels")
        levels, weights = np.array([found[number] for number in sorted(found)]).T
        order = np.argsort(levels)
        total = np.cumsum(weights[order])
        return float(levels[order][np.searchsorted(total, 0.5 * total[-1])])

    def measure_from(self, level: float) -> None:
        """Measure the targets of a regression from a level, which a free intercept absorbs."""
        self.summary = self._sum("measure_from", level)
        self.hosts.measured_from(self.name, level)

    # The certificate.

    def is_any_alpha(self) -> bool:  # noqa: D102
        return not self.is_at_zero and bool(self._sum("is_any_alpha"))

    def alpha_lengths(self) -> float:  # noqa: D102
        return float(self._sum("alpha_lengths"))

    def weights(self, out: Vector | None = None) -> Vector:  # noqa: D102
        total: Vector = self._sum("weights", result=self.n_weights)
        if out is None:
            return total
        out[:] = total
        return out

    def certify(self, w: Vector) -> CertificateParts:  # noqa: D102
        return CertificateParts(*self._sum("certify", w))

    def certify_with_weights(self, w: Vector) -> tuple[CertificateParts, Vector]:  # noqa: D102
        parts, v = self._sum("certify_with_weights", w, result=self.n_weights)
        return parts, v

    # The dual variables as a whole.

    def copy_alpha(self) -> _Copy:  # noqa: D102
        copy = _Copy(next(self._numbers))
        finalize(copy, self._dropped.append, copy.number)
        self._tell("copy_alpha", copy.number)
        return copy

    def set_alpha(self, copy: _Copy) -> None:  # noqa: D102
        self._tell("set_alpha", copy.number)

    def reset_alpha(self) -> None:  # noqa: D102
        self._tell("reset_alpha")

    def balance(self) -> None:  # noqa: D102
        balance(self)

    def signed_sum(self) -> tuple[float, float]:
        """Return the sum of alpha_i s_i and the sum of |alpha_i|."""
        excess, size = self._sum("signed_sum")
        return excess, size

    def room(self) -> tuple[float, Widest]:
        """Return how far all variables together can move, and which one can move farthest."""
        total, widest = self._sum("room")
        return total, widest

    def shift(self, step: float) -> None:
        """Move every variable by -step s_i times its room."""
        self._tell("shift", step)

    def scale_side(self, side: float, factor: float) -> None:
        """Multiply the variables whose alpha_i s_i has the sign of ``side`` by ``factor``."""
        self._tell("scale_side", side, factor)

    def give(self, which: Widest, excess: float) -> None:
        """Let one variable take the excess."""
        self._tell("give", which, excess)

    # Dual ascent.

    def begin_ascent(self, seed: int) -> tuple[int, int]:  # noqa: D102
        self._tell("begin_ascent", seed)
        return self.hosts.n_hosts, PIECES

    def ascend(self, w: Vector, sigma: float, n_pieces: int, complete: bool) -> tuple[Ascended, Vector]:  # noqa: D102
        self._go_to(w.copy(), None)
        ascended, change = self._sum("ascend", w, sigma, n_pieces, complete, result=self.n_weights)
        return ascended, change

    def take(self, share: float) -> None:  # noqa: D102
        self._tell("take", share)

    def last_round(self) -> tuple[float, float]:  # noqa: D102
        return self.hosts.costs.last

    # Newton's method.

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._go_to(w.copy(), delta)
        self._has_proposal = False  # nor has a host that has replaced a lost one
        return self._responded(("begin", (w, delta)), with_gram=self.uses_gram)

    def _responded(self, call: Call, with_gram: bool) -> tuple[Responses, Vector]:
        """Let the shards respond; the same round may return their Gram matrix and their view of a proposal."""
        calls, compares, n = [call], self._has_proposal, self.n_weights
        if with_gram:
            calls.append(("gram", ()))
        if compares:
            calls.append(("compare", ()))
        values = self._ask(*calls, result=n + n * n // 2 if with_gram else n)
        (responses, v), self._gram = values[0], values[1] if with_gram else None
        self._comparison, self._has_proposal = Comparison(*values[-1]) if compares else None, False
        self._responses = responses
        return responses, v

    def project(self, p: Vector, taus: Vector) -> Matrix:  # noqa: D102
        self._p = p.copy()
        return np.asarray(self._sum("project", p, taus))

    def derivatives(self, taus: Vector) -> Matrix:  # noqa: D102
        return np.asarray(self._sum("derivatives", taus))

    @property
    def first_taus(self) -> Vector:  # noqa: D102
        return LADDER

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:  # noqa: D102
        return search(self.derivatives, line, taus, values)

    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:  # noqa: D102
        self._go_to(self._w + tau * self._p, self._delta)
        return self._responded(("respond", (tau, afresh)), with_gram=self.uses_gram and self._is_gram_cheap())

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
