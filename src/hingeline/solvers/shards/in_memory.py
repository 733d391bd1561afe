"""Rows in memory, on one thread or several: a shard is a range of rows (views, no copies), one per thread.

Results are added up in the order of the shards, so they depend on the number of threads and never on timing. With one
shard there is nothing to add up: every verb is a direct call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from math import sqrt
from typing import TypeVar

import numpy as np

from ...data.problem import Problem
from ...kernels.passes import weighted_lengths
from ...kernels.rows import DenseRows, Rows
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.blas import one_blas_thread
from ...runtime.threads import WORTH_SHARING, Team, part_bounds
from ..certificate_parts import CertificateParts, sum_parts
from ..weighted_gram import uses_blas
from .alpha import AlphaInMemory
from .interface import Comparison, Extension, Responses, Shards
from .kernels import Vectors, new_vectors
from .line import LADDER, Line
from .precise import PreciseRows
from .sample import losses_at_zero, mean_margin_at_zero, sample_of
from .shard import Shard
from .small import step_at_once

T = TypeVar("T")

LEAST_STORED = 100_000  # values per shard: a pass over fewer takes no longer than waking a thread
STORED_PER_WEIGHT = 4  # values per shard and weight: with fewer, adding up weights costs more than a pass
WAKING = 100_000  # numbers that a thread processes while one more thread wakes up
MOVED_AT_ONCE = 10_000_000  # stored values up to which a step along a line is one call: some 30 ms
FEW_WEIGHTS, AT_ONCE = 64, 300_000  # weights, and rows times weights, up to which a step is one call (milliseconds)


def shard_count(n_stored: int, n_weights: int, n_threads: int) -> int:
    """Return how many shards are worthwhile."""
    if n_stored < WORTH_SHARING:
        return 1
    return max(1, min(n_threads, n_stored // LEAST_STORED, n_stored // (STORED_PER_WEIGHT * n_weights)))


def slice_of_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Return a view of the rows begin to end."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.X[begin:end], rows.bias)
    return rows._replace(indptr=rows.indptr[begin : end + 1])


class InMemoryShards(AlphaInMemory):
    """The rows of ``problem`` with dual variables ``alpha``, shared among the threads of ``team``.

    ``between`` is called between two slices of work. ``weights`` and ``certify`` read ``alpha``, and ``keep`` replaces
    it.
    """

    def __init__(self, problem: Problem, alpha: Vector, team: Team, between: Callable[[], None]) -> None:
        data = problem.data
        self.problem, self.loss, self.alpha, self.team = problem, problem.loss, alpha, team
        self.n_rows, self.n_weights, self.n_stored = data.n_rows, data.n_features + 1, data.n_stored
        self.longest, self.bias = sqrt(data.largest_q), data.rows.bias
        self._between = between
        self.n_shards = shard_count(data.n_stored, self.n_weights, team.n_threads)
        self._parts = np.empty((self.n_shards - 1, self.n_weights))  # what all shards but the first add up in
        self._shards = [self._shard(k) for k in range(self.n_shards)]
        self._has_proposal = False
        self.vectors: Vectors | None = None  # of Newton's method, or room for them

    def _shard(self, k: int) -> Shard:
        problem, data = self.problem, self.problem.data
        if self.n_shards == 1:
            arrays = (problem.y, problem.C_values, data.q, self.alpha, problem.signs)
            return Shard(k, data.rows, data.distinct, self.loss, *arrays, self._between)
        begin, end = part_bounds(self.n_rows, self.n_shards, k)
        inside = slice(begin, end)
        C = problem.C_values[inside] if problem.C_values.size > 1 else problem.C_values
        arrays = (problem.y[inside], C, data.q[inside], self.alpha[inside], problem.signs[inside])
        return Shard(k, slice_of_rows(data.rows, begin, end), data.distinct, self.loss, *arrays, self._check)

    def _check(self) -> None:
        """Called between two slices of work on any thread."""
        self.team.check()
        self._between()

    def _each(self, verb: Callable[[Shard], T], n_values: int | None = None) -> list[T]:
        """Return the result of ``verb`` for every shard, in order.

        A verb that works on ``n_values`` numbers, rather than on all stored values, may use fewer threads; each of them
        then handles several shards.
        """
        if self.n_shards == 1:
            return [verb(self._shards[0])]
        n_threads = self.n_shards
        if n_values is not None:
            n_threads = max(1, min(n_threads, round(sqrt(n_values / WAKING))))

        def some(k: int) -> list[T]:
            begin, end = part_bounds(self.n_shards, n_threads, k)
            return [verb(shard) for shard in self._shards[begin:end]]

        return [result for part in self.team.each(n_threads, some) for result in part]

    def _summed(self, verb: Callable[[Shard, Vector], T], out: Vector | None = None) -> tuple[list[T], Vector]:
        """Return the result of ``verb`` for every shard, and the sum of the weight vectors that they add to."""
        total = np.empty(self.n_weights) if out is None else out
        if self.n_shards == 1:
            total.fill(0.0)
            return [verb(self._shards[0], total)], total

        def own(k: int) -> T:
            room = self._parts[k - 1] if k else total
            room.fill(0.0)
            return verb(self._shards[k], room)

        results = self.team.each(self.n_shards, own)
        self._add_up(total, self._parts)
        return results, total

    def _add_up(self, total: Matrix, parts: Matrix) -> None:
        """Add ``parts`` to ``total`` in order; many weights are shared among the threads."""
        if total.size < WORTH_SHARING:
            for part in parts:
                total += part
            return

        def add(k: int) -> None:
            inside = slice(*part_bounds(len(total), self.n_shards, k))
            for part in parts:
                total[inside] += part[inside]

        self.team.each(self.n_shards, add)

    def is_any_alpha(self) -> bool:  # noqa: D102
        return any(self._each(lambda shard: bool(shard.alpha.any()), self.n_rows))

    def alpha_lengths(self) -> float:  # noqa: D102
        if self.n_shards == 1:
            return weighted_lengths(self.alpha, self.problem.data.q)
        return sum(self._each(lambda shard: weighted_lengths(shard.alpha, shard.q), self.n_rows))

    # The certificate.

    def weights(self, out: Vector | None = None) -> Vector:  # noqa: D102
        return self._summed(Shard.add_weights, out)[1]

    def certify(self, w: Vector) -> CertificateParts:  # noqa: D102
        return sum_parts(self._each(lambda shard: shard.certify(w)))

    # Newton's method.

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._take(new_vectors(self.problem, self.vectors))
        centred = self.loss.is_smooth or self.is_any_alpha()
        if not w.any():
            w = w[:0]
        for shard in self._shards:
            shard.smooth_at(delta)
        self._small: tuple[Matrix, Vector] | None = None
        if self.n_shards == 1 and self.n_weights <= FEW_WEIGHTS and self.n_rows * self.n_weights <= AT_ONCE:
            self._small = (np.empty((self.n_weights, self.n_weights)), np.empty(self.n_weights))
        return self._responses(lambda shard, v: shard.begin(w, centred, v))

    def _take(self, vectors: Vectors) -> None:
        """Let the shards work on these vectors from now on."""
        self.vectors, self._arrays = vectors, tuple(vectors)
        for k, shard in enumerate(self._shards):
            inside = slice(*part_bounds(self.n_rows, self.n_shards, k))
            shard.take(vectors if self.n_shards == 1 else vectors.part(inside))

    def _responses(self, verb: Callable[[Shard, Vector], Responses]) -> tuple[Responses, Vector]:
        if self.n_shards == 1:
            v = np.zeros(self.n_weights)
            return verb(self._shards[0], v), v
        parts, v = self._summed(verb)
        return Responses.total(parts), v

    def project(self, p: Vector, taus: Vector) -> Matrix:  # noqa: D102
        return self._along(taus, lambda shard, out: shard.project(p, taus, out))

    def derivatives(self, taus: Vector) -> Matrix:  # noqa: D102
        return self._along(taus, lambda shard, out: shard.derivatives(taus, out), self.n_rows * taus.size)

    def _along(self, taus: Vector, verb: Callable[[Shard, Matrix], None], n_values: int | None = None) -> Matrix:
        out = np.zeros((self.n_shards, taus.size, 2))
        self._each(lambda shard: verb(shard, out[shard.number]), n_values)
        return np.asarray(out[0] if self.n_shards == 1 else out.sum(axis=0))

    @property
    def first_taus(self) -> Vector:  # noqa: D102
        waking_costs_more = 4 * self.n_rows < WAKING * self.n_shards * self.n_shards
        return LADDER if self.n_shards > 1 and waking_costs_more else LADDER[:1]

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:  # noqa: D102
        if self.n_shards == 1:
            return self._shards[0].step_to_minimum(line, values[0])
        return super().step_to_minimum(line, taus, values)

    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:  # noqa: D102
        return self._responses(lambda shard, v: shard.respond(tau, afresh, v))

    def move(self, p: Vector, line: Line, afresh: bool) -> tuple[float, Responses, Vector]:  # noqa: D102
        if self.n_shards > 1 or self.n_stored > MOVED_AT_ONCE:
            return super().move(p, line, afresh)
        v = np.zeros(self.n_weights)
        return *self._shards[0].move(p, line, afresh, v), v

    def place(self, w: Vector) -> None:  # noqa: D102
        self._each(lambda shard: shard.place(w))

    def recentre(self, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        return self._responses(lambda shard, v: shard.recentre(delta, v))

    def extend(self) -> Extension | None:  # noqa: D102
        parts, v = self._summed(Shard.extend)
        n, moved = map(sum, zip(*parts, strict=True))
        return Extension(n, moved, v)

    def add_gram(self, G: Matrix, afresh: bool) -> None:  # noqa: D102
        assert self.vectors is not None
        self._take(self.vectors.counting())
        self._add_grams(lambda shard, room: shard.add_gram(room, afresh), G)

    def band_size(self) -> int:
        """Return how many rows are in the band."""
        return sum(self._each(lambda shard: int(np.count_nonzero(shard.vectors.band))))

    def sampled_gram(self, G: Matrix, size: int, seed: int) -> None:  # noqa: D102
        share = min(1.0, size / max(1, self.band_size()))
        seeds = np.random.SeedSequence(seed).spawn(self.n_shards)

        def add(shard: Shard, room: Matrix) -> None:
            which, entries = shard.curved()
            if share < 1.0 and which.size:
                rng = np.random.default_rng(seeds[shard.number])
                chosen = rng.choice(which.size, max(1, round(share * which.size)), replace=False)
                which, entries = which[chosen], entries[chosen] * (which.size / chosen.size)
            s = shard.vectors.t
            s.fill(0.0)
            s[which] = entries
            shard.gram.add(s, room)

        self._add_grams(add, G)

    def _add_grams(self, verb: Callable[[Shard, Matrix], None], G: Matrix) -> None:
        """Let every shard add its part to G; all but the first use matrices of their own."""
        if self.n_shards == 1:
            verb(self._shards[0], G)
            return
        parts = np.zeros((self.n_shards - 1, *G.shape))
        with one_blas_thread() if uses_blas(self.problem.data.rows, len(G)) else nullcontext():
            self.team.each(self.n_shards, lambda k: verb(self._shards[k], parts[k - 1] if k else G))
        self._add_up(G, parts)

    def curvature_times(self, v: Vector) -> Vector:  # noqa: D102
        return self._summed(lambda shard, out: shard.add_curvature(v, out))[1]

    def curvature_diagonal(self) -> Vector:  # noqa: D102
        return self._summed(Shard.add_diagonal)[1]

    def band_block(self) -> tuple[Matrix, Vector] | None:  # noqa: D102
        if self.n_shards > 1:
            return None
        which, entries = self._shards[0].curved()
        return self._shards[0].dense_rows(which, self.n_weights), entries

    def band_entries(self) -> Vector | None:  # noqa: D102
        if self.vectors is None or self.loss.gives_probabilities:
            return None
        return np.asarray(self.vectors.C * self.vectors.band)

    def dense_rows(self, which: Indices) -> Matrix:  # noqa: D102
        begins = [part_bounds(self.n_rows, self.n_shards, k)[0] for k in range(self.n_shards)]
        each = zip(self._shards, begins, np.split(which, np.searchsorted(which, begins[1:])), strict=True)
        return np.concatenate([shard.dense_rows(part - begin, self.n_weights) for shard, begin, part in each])

    def precise(self) -> PreciseRows | None:  # noqa: D102
        return PreciseRows(self._shards[0], self.n_weights) if self.n_shards == 1 else None

    def keep(self, proposed: bool = False) -> None:  # noqa: D102
        if self.n_shards == 1:
            self._shards[0].keep(proposed)
        else:
            self._each(lambda shard: shard.keep(proposed), self.n_rows)

    def propose(self, tau: float) -> None:  # noqa: D102
        if not self._has_proposal:
            self._has_proposal = True
            a = self.alpha.copy()
            for k, shard in enumerate(self._shards):
                shard.a = a[slice(*part_bounds(self.n_rows, self.n_shards, k))]
        self._each(lambda shard: shard.propose(tau), self.n_rows)

    def compare(self) -> Comparison:  # noqa: D102
        parts, excess = self._summed(Shard.compare)
        violations, gaps, clipped = zip(*parts, strict=True)
        return Comparison(max(violations), sum(gaps), excess if any(clipped) else None)

    def adopt(self) -> None:  # noqa: D102
        self._each(Shard.adopt, self.n_rows)

    def whole_step(  # noqa: D102
        self, w: Vector, v: Vector, accuracy: float, damping: float, free: bool
    ) -> tuple[float, float, float, Responses] | None:
        if self._small is None:
            return None
        shard, (H, p) = self._shards[0], self._small
        problem = (shard.rows, self.loss, self._arrays, shard.delta, shard.scale, shard.distinct)
        room = (H, p, shard.gram.room(), shard.change)
        decrement, tau, condition, responses = step_at_once(*problem, accuracy, damping, free, w, v, *room)
        self._between()
        found = Responses(*responses)
        return decrement, tau, condition, found._replace(losses=found.losses + shard.settled_losses)

    def sample(self, step: int) -> Shards | None:  # noqa: D102
        part = sample_of(self.problem, step, self.team)
        if part is None:
            return None
        return InMemoryShards(part, np.zeros(part.data.n_rows), self.team, self._between)

    def losses_at_zero(self) -> float:  # noqa: D102
        return losses_at_zero(self.problem)

    def mean_margin_at_zero(self) -> float:  # noqa: D102
        return mean_margin_at_zero(self.problem)
