"""One worker's part of a problem: the rows of its partitions, and everything with one entry per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..data.problem import Problem
from ..kernels.passes import respond_rows, squared_length
from ..kernels.rows import CsrRows, DenseRows, Rows
from ..kernels.types import Matrix, Vector
from ..runtime.pace import Pace
from ..runtime.threads import Team
from ..solvers.balance import SidesInMemory
from ..solvers.certificate_parts import CertificateParts
from ..solvers.origin import best_level
from ..solvers.shards.alpha import starting_alpha
from ..solvers.shards.in_memory import InMemoryShards
from ..solvers.shards.interface import Responses
from ..solvers.shards.kernels import Vectors
from ..solvers.shards.sample import chosen_rows, take_rows
from .ascent import PIECES, Ascended, Ascent
from .merge import GatheredRows, Widest, merged
from .spec import Summary


class Resident:
    """Verbs of the coordinator, done by every partition of this worker and merged in their order.

    Parameters
    ----------
    problems : the problems of the partitions, by their numbers
    team : the threads of the worker
    between : called between two slices of work
    room : vectors that an earlier problem has left, by the numbers of the partitions; new memory is slow
    """

    def __init__(
        self,
        problems: dict[int, Problem],
        team: Team,
        between: Callable[[], None],
        room: dict[int, Vectors] | None = None,
    ) -> None:
        self._room = {} if room is None else room
        self.numbers, self._team, self._between = list(problems), team, between
        self.shards = [InMemoryShards(p, starting_alpha(p), team, between) for p in problems.values()]
        self._copies: dict[int, list[Vector]] = {}
        self._G: Matrix = np.zeros((0, 0))
        self._last = Responses()
        self._level = 0.0

    def do(self, verb: str, args: Sequence[Any]) -> Any:
        """Do a verb of this class, or one that every shard knows."""
        own = getattr(self, verb, None)
        if own is not None:
            return own(*args)
        return merged([getattr(shard, verb)(*args) for shard in self.shards])

    @property
    def _problems(self) -> list[Problem]:
        return [shards.problem for shards in self.shards]

    def summary(self) -> Summary:
        """Return the sizes of the problem."""
        return Summary.merged([Summary.of(problem) for problem in self._problems])

    def levels(self) -> dict[int, tuple[float, float]]:
        """Return the best constant prediction of each partition, and the weight of its rows."""
        weights = [float(np.broadcast_to(p.C, p.data.n_rows).sum()) for p in self._problems]
        return {
            number: (best_level(problem), weight)
            for number, problem, weight in zip(self.numbers, self._problems, weights, strict=True)
            if weight > 0.0
        }

    def measure_from(self, level: float) -> Summary:
        """Measure targets from a level (calling it twice does no harm); returns the sizes of the resulting problem."""
        problems = [replace(problem, y=problem.y - (level - self._level)) for problem in self._problems]
        self._level = level
        self.shards = [InMemoryShards(p, starting_alpha(p), self._team, self._between) for p in problems]
        return self.summary()

    # Newton's method.

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:
        """Begin at w; the Gram matrix is empty."""
        self._G = np.zeros((0, 0))
        for number, shards in zip(self.numbers, self.shards, strict=True):
            if shards.vectors is None:
                shards.vectors = self._room.pop(number, None)
        return self._respond([shards.begin(w, delta) for shards in self.shards])

    def leave_room(self) -> None:
        """Leave the vectors to the next problem: this one has ended."""
        for number, shards in zip(self.numbers, self.shards, strict=True):
            if shards.vectors is not None:
                self._room[number] = shards.vectors

    def respond(self, tau: float, afresh: bool) -> tuple[Responses, Vector]:
        """Move the margins and respond."""
        return self._respond([shards.respond(tau, afresh) for shards in self.shards])

    def recentre(self, delta: float) -> tuple[Responses, Vector]:
        """Centre the smoothing at the current alpha."""
        return self._respond([shards.recentre(delta) for shards in self.shards])

    def _respond(self, parts: list[tuple[Responses, Vector]]) -> tuple[Responses, Vector]:
        together: tuple[Responses, Vector] = merged(parts)
        self._last = together[0]
        return together

    def gram(self) -> Vector:
        """Return the upper triangle of this worker's Gram matrix, brought up to date."""
        n = self.shards[0].n_weights
        afresh = len(self._G) != n or self._last.moved >= self._last.band_size
        if afresh:
            self._G = np.zeros((n, n))
        for shards in self.shards:
            shards.add_gram(self._G, afresh)
        self._last = self._last._replace(moved=0)
        return self._G[np.triu_indices(n)]

    def sampled_gram(self, share: float, seed: int) -> Vector:
        """Return the upper triangle of the Gram matrix of this fraction of the band, scaled up to all of it."""
        n = self.shards[0].n_weights
        G = np.zeros((n, n))
        for number, shards in zip(self.numbers, self.shards, strict=True):
            shards.sampled_gram(G, max(1, round(share * shards.band_size())), seed + number)
        return G[np.triu_indices(n)]

    def certify_with_weights(self, w: Vector) -> tuple[CertificateParts, Vector]:
        """Return the certificate's parts at w, and Z' alpha."""
        return self.do("certify", (w,)), self.do("weights", ())

    # Dual ascent.

    def begin_ascent(self, seed: int) -> None:
        """Begin rounds of dual ascent at the current dual variables."""
        self._ascents = [
            Ascent(shards.problem, shards.alpha, seed + number, self._between)
            for number, shards in zip(self.numbers, self.shards, strict=True)
        ]
        self._piece, self._swept = 0, (0.0, 0.0)

    def ascend(self, w: Vector, sigma: float, n_pieces: int, complete: bool) -> tuple[Ascended, Vector]:
        """Ascend from w for some pieces of sweeps; if ``complete``, the next one that begins visits every variable."""
        u, before = w.copy(), sum(ascent.n_visits for ascent in self._ascents)
        for ascent in self._ascents:
            ascent.begin_round(sigma)
        for _ in range(n_pieces):
            if self._piece == 0:
                for ascent in self._ascents:
                    ascent.schedule(complete)
                complete = False
            for ascent in self._ascents:
                ascent.visit(u, self._piece)
            self._piece = (self._piece + 1) % PIECES
            if self._piece == 0:
                seen = [ascent.end_sweep() for ascent in self._ascents]
                self._swept = max(s.violation for s in seen), sum(s.gap for s in seen) / sigma
        u -= w
        u /= sigma
        visits = sum(ascent.n_visits for ascent in self._ascents) - before
        none, half, whole = (sum(ascent.terms(share) for ascent in self._ascents) for share in (0.0, 0.5, 1.0))
        return Ascended(visits, *self._swept, none, half, whole, squared_length(u)), u

    def take(self, share: float) -> None:
        """Add this fraction of the last round's changes to alpha."""
        for ascent in self._ascents:
            ascent.take(share)

    # The dual variables as a whole.

    def copy_alpha(self, number: int) -> None:
        """Keep a copy under this number."""
        self._copies[number] = [shards.alpha.copy() for shards in self.shards]

    def set_alpha(self, number: int) -> None:
        """Go back to a copy."""
        for shards, alpha in zip(self.shards, self._copies.get(number, ()), strict=False):  # a new host has none
            shards.set_alpha(alpha)

    def drop_copies(self, numbers: list[int]) -> None:
        """Drop copies that are no longer needed."""
        for number in numbers:
            self._copies.pop(number, None)

    def revive(self, w: Vector, delta: float | None) -> None:
        """Set dual variables that match w: those of these rows were lost with another worker.

        Newton's method centres its smoothing of width ``delta`` at them, so they are smoothed as well: rows near their
        kink are between their bounds. Its kernels do that, which are loaded already.
        """
        if delta is not None:
            self.begin(w, delta)
            self.do("keep", ())
            return
        for shards, problem in zip(self.shards, self._problems, strict=True):
            rows, C = problem.data.rows, problem.C_values
            for begin, end in Pace(self._between).slices(shards.n_rows):
                respond_rows(rows, problem.loss, problem.y, C, w, shards.alpha, begin, end)
            shards.alpha[:] = starting_alpha(problem, shards.alpha)

    # The balance for a free intercept.

    @property
    def _sides(self) -> list[SidesInMemory]:
        return [SidesInMemory(shards.problem, shards.alpha) for shards in self.shards]

    def signed_sum(self) -> tuple[float, float]:
        """Return the sum of alpha_i s_i and the sum of |alpha_i|."""
        found: tuple[float, float] = merged([sides.signed_sum() for sides in self._sides])
        return found

    def room(self) -> tuple[float, Widest]:
        """Return how far all variables together can move, and which one can move farthest."""
        parts = []
        for number, sides in zip(self.numbers, self._sides, strict=True):
            total, row = sides.room()
            parts.append((total, Widest(sides.widest(row), number, row)))
        found: tuple[float, Widest] = merged(parts)
        return found

    def shift(self, step: float) -> None:
        """Move every variable by its share of the room."""
        for sides in self._sides:
            sides.shift(step)

    def scale_side(self, side: float, factor: float) -> None:
        """Scale the variables of one side."""
        for sides in self._sides:
            sides.scale_side(side, factor)

    def give(self, which: Widest, excess: float) -> None:
        """Let one variable take the excess, if it is here."""
        if which.partition in self.numbers:
            self._sides[self.numbers.index(which.partition)].give(which.row, excess)

    # Rows for another worker.

    def rows(self, step: int, with_X: bool) -> GatheredRows | None:
        """Return one row in ``step`` of every partition; None if there are none."""
        parts = []
        for number, problem in zip(self.numbers, self._problems, strict=True):
            data = problem.data
            chosen = np.arange(data.n_rows) if step == 1 else chosen_rows(data.n_rows, step)
            if chosen.size:
                C = np.broadcast_to(problem.C, data.n_rows)[chosen]
                own = data.rows if step == 1 or not with_X else take_rows(data.rows, chosen)
                X = matrix_of(own, chosen.size, data.n_features) if with_X else None
                parts.append(GatheredRows(X, problem.y[chosen], C, ((number, chosen.size),)))
        return GatheredRows.merged(parts) if parts else None


def matrix_of(rows: Rows, n_rows: int, n_features: int) -> Any:
    """Return rows as a matrix that can leave this process, without the constant feature."""
    if isinstance(rows, DenseRows):
        return rows.X
    indices, indptr = (array.view(f"i{array.itemsize}") for array in (rows.indices, rows.indptr))
    data = rows.data if isinstance(rows, CsrRows) else np.ones(indices.size, dtype=np.float32)
    return sparse.csr_matrix((data, indices, indptr), shape=(n_rows, n_features))
