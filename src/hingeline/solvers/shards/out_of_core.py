"""Rows in files: a shard is a block of the file, read ahead, one after the other.

Everything with one entry per row stays in memory, so verbs that need no row (the derivatives along a line) read
nothing. A verb that needs rows reads the file once; ``respond`` updates the Gram matrix in the same pass, since
Newton's method needs it next. So an iteration reads the file twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from math import sqrt

import numpy as np

from ...data.blocks import Block
from ...data.matrix import Data
from ...data.problem import Problem
from ...kernels.passes import weighted_lengths
from ...kernels.rows import CsrRows
from ...kernels.types import Matrix, Vector
from ...runtime.threads import Team
from ..certificate_parts import CertificateParts, sum_parts
from .alpha import AlphaInMemory
from .in_memory import InMemoryShards
from .interface import Comparison, Responses, Shards
from .kernels import Vectors, new_vectors
from .line import Line
from .sample import chosen_rows, concatenated, losses_at_zero, mean_margin_at_zero, scaled_problem, take_rows
from .shard import Shard

LARGEST_GRAM = 2_000  # weights up to which ``respond`` brings the Gram matrix up to date


class BlockShards(AlphaInMemory):
    """The rows of ``problem``, which do not fit in memory, with dual variables ``alpha``."""

    def __init__(self, problem: Problem, alpha: Vector, between: Callable[[], None]) -> None:
        data = problem.data
        assert data.blocks is not None
        self.problem, self.loss, self.alpha, self.blocks = problem, problem.loss, alpha, data.blocks
        self.n_rows, self.n_weights, self.n_stored = data.n_rows, data.n_features + 1, data.n_stored
        self.longest, self.bias = sqrt(data.largest_q), data.rows.bias
        self._between = between
        self._vectors: Vectors | None = None
        self._a: Vector | None = None
        self._delta = 0.0
        self._settled = np.zeros(len(self.blocks))  # losses of rows that do not respond, block by block
        self._G = np.zeros((0, 0))
        self._all = self._shard(Block(0, 0, self.n_rows, self.blocks.rows))  # for verbs that need no row

    def _shard(self, block: Block) -> Shard:
        """Return the rows of ``block`` as a shard."""
        inside, data = slice(block.begin, block.end), self.problem.data
        C = self.problem.C_values
        C = C[inside] if C.size > 1 else C
        arrays = (self.problem.y[inside], C, data.q[inside], self.alpha[inside], self.problem.signs[inside])
        shard = Shard(block.number, block.rows, data.distinct, self.loss, *arrays, self._between)
        shard.smooth_at(self._delta)
        if self._vectors is not None:
            shard.take(self._vectors.part(inside))
            shard.settled_losses = float(self._settled[block.number])
        if self._a is not None:
            shard.a = self._a[inside]
        return shard

    def _read(self) -> Iterator[Shard]:
        """Read the file from the beginning to the end, block by block."""
        with self.blocks.read() as stream:
            for block in chain.from_iterable(stream):
                yield self._shard(block)

    def _summed(self, verb: Callable[[Shard, Vector], None], out: Vector | None = None) -> Vector:
        """Return the vector of weights to which ``verb`` adds for all blocks."""
        total = np.zeros(self.n_weights) if out is None else out
        total.fill(0.0)
        for shard in self._read():
            verb(shard, total)
        return total

    def is_any_alpha(self) -> bool:  # noqa: D102
        return bool(self.alpha.any())

    def alpha_lengths(self) -> float:  # noqa: D102
        return weighted_lengths(self.alpha, self.problem.data.q)

    # The certificate.

    def weights(self, out: Vector | None = None) -> Vector:  # noqa: D102
        return self._summed(Shard.add_weights, out)

    def certify(self, w: Vector) -> CertificateParts:  # noqa: D102
        return sum_parts(shard.certify(w) for shard in self._read())

    def certify_with_weights(self, w: Vector) -> tuple[CertificateParts, Vector]:  # noqa: D102
        parts, v = [], np.zeros(self.n_weights)
        for shard in self._read():
            parts.append(shard.certify(w))
            shard.add_weights(v)
        return sum_parts(parts), v

    # Newton's method.

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._G = np.zeros((self.n_weights,) * 2) if self.n_weights <= LARGEST_GRAM else np.zeros((0, 0))
        vectors = new_vectors(self.problem)
        self._vectors = vectors.counting() if self._G.size else vectors
        self._all.take(self._vectors)
        self._smooth_at(delta)
        centred = self.loss.is_smooth or self.is_any_alpha()
        w = w if w.any() else w[:0]
        return self._responses(lambda shard, v: shard.begin(w, centred, v))

    def _smooth_at(self, delta: float) -> None:
        self._delta = delta
        self._all.smooth_at(delta)

    def _responses(self, verb: Callable[[Shard, Vector], Responses]) -> tuple[Responses, Vector]:
        """Let every block respond, and bring the Gram matrix up to date."""
        parts, v = [], np.zeros(self.n_weights)
        for shard in self._read():
            parts.append(verb(shard, v))
            self._settled[shard.number] = shard.settled_losses
            if self._G.size:
                shard.add_gram(self._G, afresh=False)
        return Responses.total(parts), v

    def project(self, p: Vector, taus: Vector) -> Matrix:  # noqa: D102
        out = np.zeros((taus.size, 2))
        for shard in self._read():
            shard.project(p, taus, out)
        return out

    def derivatives(self, taus: Vector) -> Matrix:  # noqa: D102
        out = np.zeros((taus.size, 2))
        self._all.derivatives(taus, out)
        return out

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:  # noqa: D102
        return self._all.step_to_minimum(line, values[0])

    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:  # noqa: D102
        return self._responses(lambda shard, v: shard.respond(tau, afresh, v))

    def place(self, w: Vector) -> None:  # noqa: D102
        for shard in self._read():
            shard.place(w)

    def recentre(self, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        found = self._responses(lambda shard, v: shard.recentre(delta, v))
        self._smooth_at(delta)  # each block has left the width before
        return found

    def add_gram(self, G: Matrix, afresh: bool) -> None:  # noqa: D102
        G[:] = self._G

    def sampled_gram(self, G: Matrix, size: int, seed: int) -> None:  # noqa: D102
        G += self._G  # of all rows, which have just been read

    def curvature_times(self, v: Vector) -> Vector:  # noqa: D102
        return self._summed(lambda shard, out: shard.add_curvature(v, out))

    def curvature_diagonal(self) -> Vector:  # noqa: D102
        return self._summed(Shard.add_diagonal)

    def band_block(self) -> tuple[Matrix, Vector] | None:  # noqa: D102
        return None

    def keep(self, proposed: bool = False) -> None:  # noqa: D102
        self._all.keep(proposed)

    def propose(self, tau: float) -> None:  # noqa: D102
        if self._a is None:
            self._a = self._all.a = self.alpha.copy()
        self._all.propose(tau)

    def compare(self) -> Comparison:  # noqa: D102
        violation, gap, clipped, excess = 0.0, 0.0, False, np.zeros(self.n_weights)
        for shard in self._read():
            found = shard.compare(excess)
            violation, gap, clipped = max(violation, found[0]), gap + found[1], clipped or found[2]
        return Comparison(violation, gap, excess if clipped else None)

    def adopt(self) -> None:  # noqa: D102
        self._all.adopt()

    def sample(self, step: int) -> Shards | None:  # noqa: D102
        rows = self.blocks.rows
        per_value = rows.indices.itemsize + (rows.data.itemsize if isinstance(rows, CsrRows) else 0)
        step = max(step, -(-self.n_stored * per_value // max(1, self.blocks.resident_bytes)))
        chosen = chosen_rows(self.n_rows, step)
        bounds = np.searchsorted(chosen, self.blocks.bounds)
        parts = []
        for shard in self._read():
            own = chosen[bounds[shard.number] : bounds[shard.number + 1]]
            parts.append(take_rows(shard.rows, own - self.blocks.bounds[shard.number]))
        data = self.problem.data
        taken = Data(concatenated(parts), chosen.size, data.n_features, data.distinct, data.q[chosen])
        part = scaled_problem(self.problem, taken, chosen)
        return None if part is None else InMemoryShards(part, np.zeros(chosen.size), Team(1), self._between)

    def losses_at_zero(self) -> float:  # noqa: D102
        return losses_at_zero(self.problem)

    def mean_margin_at_zero(self) -> float:  # noqa: D102
        return mean_margin_at_zero(self.problem)
