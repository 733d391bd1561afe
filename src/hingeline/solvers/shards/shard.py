"""One shard: some rows in memory, their vectors, and what the compiled verbs do with them on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...kernels.losses import Loss
from ...kernels.passes import add_weights, certify_rows
from ...kernels.rows import DenseRows, Rows
from ...kernels.types import Indices, Matrix, Vector
from ...runtime.pace import FIRST_SLICE, NUMBERS, Pace
from ..certificate_parts import CertificateParts, sum_parts
from ..weighted_gram import WeightedGram
from .interface import Responses
from .kernels import (
    BLOCK,
    Vectors,
    add_band_gram,
    add_curvature,
    add_diagonal,
    band_change,
    begin_rows,
    compare,
    derivatives,
    expand_rows,
    extend_rows,
    place_rows,
    project,
    propose,
    respond,
    write_responses,
)
from .line import MOST_EVALUATIONS, Line, beginning, move_rows, narrowed, search_at_once, step_found

SEARCHED_AT_ONCE = 10_000_000  # rows times evaluations of a line search: some 30 ms


FIRST_VALUES = 2_000_000  # stored values that are read in a first slice: some milliseconds


def first_slice(rows: Rows) -> int:
    """Return the rows of a first slice."""
    if isinstance(rows, DenseRows):
        per_row = float(rows.X.shape[1])
    else:
        per_row = float(rows.indptr[-1] - rows.indptr[0]) / max(1, rows.indptr.size - 1)
    return max(FIRST_SLICE, int(FIRST_VALUES / max(1.0, per_row)))


class Shard:
    """Rows with their labels or targets, C (one per row, or one for all), squared norms q and dual variables alpha.

    ``vectors`` belong to Newton's method. All arrays are views that the shard may share with others, each on its own
    rows. ``between`` is called between two slices of work.
    """

    def __init__(
        self,
        number: int,
        rows: Rows,
        distinct: bool,
        loss: Loss,
        y: Vector,
        C: Vector,
        q: Vector,
        alpha: Vector,
        signs: Vector,
        between: Callable[[], None],
    ) -> None:
        self.number, self.rows, self.distinct, self.loss = number, rows, distinct, loss
        self.y, self.C, self.q, self.alpha, self.signs = y, C, q, alpha, signs
        self.n_rows = y.size
        self.smooth_at(0.0)
        self.gram = WeightedGram(rows, distinct, between)
        self._between = between
        self._products, self._terms = Pace(between, first=first_slice(rows)), Pace(between, first=NUMBERS)
        self.change = np.empty(BLOCK)  # work space of ``respond`` and ``certify``
        self._searches = Pace(between, first=max(1, SEARCHED_AT_ONCE // self.n_rows))

    vectors: Vectors  # set before Newton's method begins, by ``take``
    a: Vector  # proposed dual variables, set before they are asked for

    def take(self, vectors: Vectors) -> None:
        """Work on these vectors from now on."""
        self.vectors, self._arrays = vectors, tuple(vectors)

    def smooth_at(self, delta: float) -> None:
        """Set the width of the smoothing, and ``scale``, a row's curvature over C_i times its entry in the band."""
        self.delta, self.scale = delta, self.loss.curvature_scale / (delta or 1.0)

    def add_weights(self, out: Vector) -> None:
        """out <- out + Z' alpha."""
        for begin, end in self._products.slices(self.n_rows):
            add_weights(self.rows, self.alpha, self.signs, out, begin, end)

    def certify(self, w: Vector) -> CertificateParts:
        """Return the largest violation, the losses and the gap terms at w."""
        fixed = (self.rows, self.loss, self.y, self.C, self.alpha, w, self.change)
        return sum_parts(certify_rows(*fixed, begin, end) for begin, end in self._products.slices(self.n_rows))

    def begin(self, w: Vector, centred: bool, v: Vector) -> Responses:
        """Fill the vectors at weights w (empty: zero); v <- v + Z' alpha."""
        settled = 0.0
        for begin, end in self._products.slices(self.n_rows):
            start = (self.rows, self.loss, self.y, self.C, self.alpha)
            settled += begin_rows(*start, self._arrays, w, centred, begin, end)
        self.settled_losses = settled
        return self.respond(0.0, True, v)

    def place(self, w: Vector) -> None:
        """Compute the margins at w afresh."""
        self.margins(w, self.vectors.m)

    def margins(self, w: Vector, out: Vector) -> None:
        """out = the margins at w."""
        for begin, end in self._products.slices(self.n_rows):
            place_rows(self.rows, self.loss, self.y, out, w, begin, end)

    def respond(self, tau: float, afresh: bool, v: Vector) -> Responses:
        """Move the margins by tau t and respond; v <- v + Z'(change of alpha), or + Z' alpha if ``afresh``."""
        violation, band_size, moved, losses, gap, band = 0.0, 0, 0, self.settled_losses, 0.0, 0.0
        fixed = (self.rows, self.loss, self._arrays, tau, self.delta, afresh, v, self.change)
        for begin, end in self._products.slices(self.n_rows):
            part = respond(*fixed, begin, end)
            violation = max(violation, part[0])
            band_size += part[1]
            moved += part[2]
            losses += part[3]
            gap += part[4]
            band += part[5]
        return Responses(violation, band_size, moved, losses, gap, band)

    def recentre(self, delta: float, v: Vector) -> Responses:
        """Smooth around the current alpha with width ``delta``; v <- v + Z' alpha."""
        self.responses(self.vectors.abar)
        self.vectors.t[:] = self.vectors.band
        self.smooth_at(delta)
        return self.respond(0.0, True, v)

    def extend(self, v: Vector) -> tuple[int, int]:
        """Put the rows of the last stage's band back into the band: see ``Shards.extend``."""
        n, moved = 0, 0
        for begin, end in self._products.slices(self.n_rows):
            part = extend_rows(self.rows, self.loss, self._arrays, self.delta, v, begin, end)
            n, moved = n + part[0], moved + part[1]
        return n, moved

    def responses(self, out: Vector) -> Vector:
        """Return the responses alpha in ``out``, whose entries for rows that do not respond stay."""
        for begin, end in self._terms.slices(self.n_rows):
            write_responses(self.loss, self._arrays, self.delta, out, begin, end)
        return out

    def project(self, p: Vector, taus: Vector, out: Matrix) -> None:
        """Set t = Zp; add the derivatives along the line at ``taus`` to ``out``."""
        for begin, end in self._products.slices(self.n_rows):
            project(self.rows, self.loss, self._arrays, p, self.delta, self.scale, taus, out, begin, end)

    def derivatives(self, taus: Vector, out: Matrix) -> None:
        """Add the derivatives along the line at ``taus`` to ``out``."""
        for begin, end in self._terms.slices(self.n_rows):
            derivatives(self.loss, self._arrays, self.delta, self.scale, taus, out, begin, end)

    def step_to_minimum(self, line: Line, at_one: Vector) -> float:
        """Return the step to the minimum along the line; ``at_one`` are the derivatives of the losses at tau = 1."""
        first, second = float(at_one[0]) + line.wp + line.pp, float(at_one[1]) + line.pp
        at = narrowed(beginning(line.slope), first, second, line.slope, line.accuracy)
        if not at[-1]:
            for begin, end in self._searches.slices(MOST_EVALUATIONS - 1):
                at = search_at_once(self.loss, self._arrays, self.delta, self.scale, line, end - begin, at)
                if at[-1]:
                    break
        return float(step_found(at))

    def move(self, p: Vector, line: Line, afresh: bool, v: Vector) -> tuple[float, Responses]:
        """Go along p to the minimum and respond there, in one call; returns the step, and v as ``respond`` does."""
        problem = (self.rows, self.loss, self._arrays, p, self.delta, self.scale, line, afresh, v, self.change)
        tau, responses = move_rows(*problem)
        self._between()
        found = Responses(*responses)
        return tau, found._replace(losses=found.losses + self.settled_losses)

    def add_gram(self, G: Matrix, afresh: bool) -> None:
        """Add what the band has changed since it was counted (or all of it, if ``afresh``) to G."""
        if not self.gram.is_by_blas(G):
            self.gram.add_slices(partial(add_band_gram, self.rows, self._arrays, afresh), self.n_rows, G)
            return
        for begin, end in self._terms.slices(self.n_rows):
            band_change(self._arrays, afresh, begin, end)
        self.gram.add(self.vectors.t, G)

    def add_curvature(self, v: Vector, out: Vector) -> None:
        """out <- out + sum_i C_i band_i z_i <z_i, v>."""
        for begin, end in self._products.slices(self.n_rows):
            add_curvature(self.rows, self._arrays, v, out, begin, end)

    def add_diagonal(self, out: Vector) -> None:
        """out <- out + the diagonal of sum_i C_i band_i z_i z_i'."""
        for begin, end in self._products.slices(self.n_rows):
            add_diagonal(self.rows, self._arrays, out, begin, end)

    def curved(self) -> tuple[Indices, Vector]:
        """Return the rows of the band, and their C_i times their entries in it."""
        C, which = self.vectors.C, np.flatnonzero(self.vectors.band)
        return which, (C[which] if C.size > 1 else C) * self.vectors.band[which]

    def keep(self, proposed: bool) -> None:
        """Make the responses, or the proposed dual variables, the shard's alpha."""
        if proposed:
            self.alpha[:] = self.a
        else:
            self.responses(self.alpha)

    def propose(self, tau: float) -> None:
        """Move the proposed dual variables by the fraction tau towards what Newton's equation proposes."""
        for begin, end in self._terms.slices(self.n_rows):
            propose(self.loss, self._arrays, self.delta, self.scale, self.a, tau, begin, end)

    def adopt(self) -> None:
        """Replace the proposed dual variables by the responses."""
        self.responses(self.a)

    def compare(self, excess: Vector) -> tuple[float, float, bool]:
        """Clip the proposed dual variables to the box; excess <- excess + Z'(what was clipped).

        Returns the largest violation, the gap terms, and whether anything was clipped.
        """
        violation, gap, clipped = 0.0, 0.0, False
        for begin, end in self._products.slices(self.n_rows):
            found = compare(self.rows, self.loss, self._arrays, self.a, excess, begin, end)
            violation, gap, clipped = max(violation, found[0]), gap + found[1], clipped or found[2]
        return violation, gap, clipped

    def dense_rows(self, which: Indices, n_weights: int) -> Matrix:
        """Return the rows ``which`` of Z as a dense matrix."""
        Z = np.zeros((which.size, n_weights))
        for begin, end in self._products.slices(which.size):
            expand_rows(self.rows, which.astype(np.uint64), self.signs, Z, begin, end)
        return Z
