"""Rows on the workers of a cluster, as the client sees them: the certificate, the dual variables, dual ascent.

A verb is a round (rounds.py). Verbs that return nothing wait for the next round. The client holds what has the size of
w, and nothing with one entry per row.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import sqrt
from typing import Any
from weakref import finalize

import numpy as np

from ..kernels.types import Vector
from ..solvers.balance import balance
from ..solvers.certificate_parts import CertificateParts
from ..solvers.shards.interface import Shards
from .ascent import PIECES, Ascended
from .merge import Widest
from .messages import Call
from .rounds import Hosts
from .spec import Spec, Summary


class _Copy:
    """A copy of the dual variables, which lies on the workers."""

    def __init__(self, number: int) -> None:
        self.number = number


class RemoteShards(Shards):
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
        self._w = np.zeros(self.n_weights)
        self._delta: float | None = None  # width of the smoothing
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
