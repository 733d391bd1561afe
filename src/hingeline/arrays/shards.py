"""The back end of rows on a device: all rows are one shard there, and each verb brings one small array back.

Vectors that have one entry per row are replaced, not overwritten, so a copy of alpha is a reference to it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ..kernels.types import Matrix, Vector
from ..runtime.pace import do_nothing
from ..solvers.certificate_parts import CertificateParts
from ..solvers.newton.conjugate import conjugate_gradients
from ..solvers.shards.interface import Comparison, Responses, Shards
from ..solvers.shards.line import Line, search
from .balance import balanced
from .namespace import to_numpy
from .passes import Found, Vectors, passes_of
from .problem import ArrayProblem
from .rows import chosen_rows

FIRST_TAUS = np.array([1.0, 0.5, 0.25, 2.0, 0.75, 0.125, 1.5, 4.0])  # steps to try first, in one call: calls cost time
NO_TAUS = np.empty(0)
SEARCHES = 3  # on the device, each going on from where the last one ended


class ArrayShards(Shards):
    """The rows of ``problem`` with dual variables ``alpha``, on the device.

    ``between`` is called after each verb.
    """

    def __init__(self, problem: ArrayProblem, alpha: Any, between: Callable[[], None] = do_nothing) -> None:
        rows = problem.rows
        self.problem, self.alpha, self.rows, self.loss = problem, alpha, rows, problem.loss
        self.n_rows, self.n_weights, self.n_stored = rows.n_rows, rows.n_features + 1, rows.n_stored
        self.longest, self.bias = sqrt(problem.range_of_q[1]), rows.bias
        self._between, self._passes = between, passes_of(problem)
        self._found: tuple[float, bool, Found, Any] | None = None  # what the rows respond to the step just found
        self._afresh = False  # whether the last responses came with all of Z' alpha

    def _read(self, *arrays: Any) -> list[Any]:
        """Bring small arrays back, all at once; those of no dimension as floats."""
        xp = self.problem.place.xp
        flat = to_numpy(xp.concat([xp.reshape(array, (-1,)) for array in arrays]))
        self._between()
        parts, at = list[Any](), 0
        for array in arrays:
            size = int(np.prod(array.shape)) if array.ndim else 1
            part = flat[at : at + size]
            parts.append(part.reshape(array.shape) if array.ndim else float(part[0]))
            at += size
        return parts

    # The certificate.

    def is_any_alpha(self) -> bool:  # noqa: D102
        return bool(self.problem.place.xp.any(self.alpha != 0.0))

    def alpha_lengths(self) -> float:  # noqa: D102
        xp = self.problem.place.xp
        return float(xp.sum(xp.abs(self.alpha) * xp.sqrt(self.problem.q)))

    def weights(self, out: Vector | None = None) -> Vector:  # noqa: D102
        (v,) = self._read(self.rows.transposed_times(self.alpha * self.problem.signs))
        if out is None:
            return np.asarray(v)
        out[:] = v
        return out

    def certify(self, w: Vector) -> CertificateParts:  # noqa: D102
        return CertificateParts(*self._read(self._certified(w))[0].tolist())

    def certify_with_weights(self, w: Vector) -> tuple[CertificateParts, Vector]:  # noqa: D102
        parts, v = self._read(self._certified(w), self.rows.transposed_times(self.alpha * self.problem.signs))
        return CertificateParts(*parts.tolist()), v

    def _certified(self, w: Vector) -> Any:
        return self._passes.certify(self.problem.C, self._margins(w), self.alpha)

    def _margins(self, w: Vector) -> Any:
        problem = self.problem
        return problem.verbs.missing(problem.y, self.rows.times(problem.place.put(w)))

    # The dual variables as a whole.

    def copy_alpha(self) -> Any:  # noqa: D102
        return self.alpha

    def set_alpha(self, copy: Any) -> None:  # noqa: D102
        self.alpha = copy

    def reset_alpha(self) -> None:  # noqa: D102
        self.alpha = self.problem.starting_alpha()

    def balance(self) -> None:  # noqa: D102
        self.alpha = balanced(self.problem, self.alpha)

    # Newton's method.

    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        problem, xp = self.problem, self.problem.place.xp
        self._C, self._delta = problem.responding, delta
        self._m, self._alpha, self._found = self._margins(w), self.alpha, None
        self._t = self._counted = self._band = xp.zeros_like(self._m)
        self._abar, self._proposed = self._alpha, self.alpha
        if not (self.loss.is_smooth or self.is_any_alpha()):
            least, most = problem.verbs.bounds(self._C)
            self._abar = xp.where(self._C > 0.0, 0.5 * (least + most), self._alpha)
        return self._respond(0.0, afresh=True)

    @property
    def _vectors(self) -> Vectors:
        return Vectors(self._C, self.problem.signs, self._m, self._t, self._abar, self._alpha, self._counted)

    def _respond(self, tau: float, afresh: bool) -> tuple[Responses, Vector]:
        known, self._found = self._found, None
        if known is None or known[:2] != (tau, afresh):
            found = self._passes.respond(self._vectors, tau, self._delta, afresh)
            known = (tau, afresh, found, self._read(found.sums, self.rows.transposed_times(found.change)))
        _, self._afresh, found, (sums, v) = known
        self._m, self._alpha, self._band = found.m, found.alpha, found.band
        violation, size, moved, losses, gap, band = sums.tolist()
        losses += self.problem.settled_losses
        return Responses(violation, int(size), int(moved), losses, gap, band), v

    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:  # noqa: D102
        return self._respond(tau, afresh)

    def place(self, w: Vector) -> None:  # noqa: D102
        self._m = self._margins(w)

    def recentre(self, delta: float) -> tuple[Responses, Vector]:  # noqa: D102
        self._delta, self._abar = delta, self._alpha
        return self._respond(0.0, afresh=True)

    def project(self, p: Vector, taus: Vector) -> Matrix:  # noqa: D102
        self._t, self._found = self.rows.signed_times(self.problem.place.put(p), self.problem.signs), None
        return self.derivatives(taus) if taus.size else np.empty((0, 2))

    def derivatives(self, taus: Vector) -> Matrix:  # noqa: D102
        (found,) = self._read(self._passes.derivatives(self._vectors, taus, self._delta, self._scale))
        return np.asarray(found)

    @property
    def first_taus(self) -> Vector:  # noqa: D102
        return NO_TAUS if self._passes.can_search else FIRST_TAUS

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:
        """Return the step; if the device has searched for it, the responses are known as well."""
        if self._passes.can_search:
            known = None
            for _ in range(SEARCHES):
                at, found, known = self._passes.search(self._vectors, line, self._delta, self._afresh, known)
                (tau, left), sums, v = self._read(at, found.sums, self.rows.transposed_times(found.change))
                if left <= line.accuracy * abs(line.slope):
                    self._found = (float(tau), self._afresh, found, (sums, v))
                    return float(tau)
            taus, values = FIRST_TAUS, self.derivatives(FIRST_TAUS)
        return search(self.derivatives, line, taus, values)

    @property
    def _scale(self) -> float:
        """Curvature of a row over its entry in the band."""
        return self.loss.curvature_scale / (self._delta or 1.0)

    def add_gram(self, G: Matrix, afresh: bool) -> None:  # noqa: D102
        change = self._band if afresh else self._band - self._counted
        self._counted = self._band
        G += self._read(self.rows.gram(change))[0]

    def sampled_gram(self, G: Matrix, size: int, seed: int) -> None:  # noqa: D102
        xp, n = self.problem.place.xp, self.n_rows
        step, band = max(1, n // size), self._band
        if step > 1:
            places = (np.arange(n) + seed) % step == 0
            band = xp.where(self.problem.place.put(places, xp.bool), step * band, xp.zeros_like(band))
        G += self._read(self.rows.gram(band))[0]

    def curvature_times(self, v: Vector) -> Vector:  # noqa: D102
        scores = self.rows.times(self.problem.place.put(v))
        return np.asarray(self._read(self.rows.transposed_times(self._band * scores))[0])

    def curvature_diagonal(self) -> Vector:  # noqa: D102
        return np.asarray(self._read(self.rows.diagonal(self._band))[0])

    def solve_by_products(  # noqa: D102
        self, r: Vector, diagonal: Vector, scale: float, free: bool, enough: float, most: int
    ) -> tuple[Vector, Vector, int]:
        place, regularised = self.problem.place, np.ones_like(r)
        regularised[-1] -= free
        identity, inverse, band = place.put(regularised), place.put(1.0 / diagonal), scale * self._band

        def product(d: Any) -> Any:
            return identity * d + self.rows.transposed_times(band * self.rows.times(d))

        p, left, n_products = conjugate_gradients(product, lambda r: r * inverse, place.put(r), enough, most)
        p, left = self._read(p, left)
        return p, left, n_products

    def band_block(self) -> tuple[Matrix, Vector] | None:  # noqa: D102
        xp = self.problem.place.xp
        (which,) = xp.nonzero(self._band)
        signs = self.problem.signs
        Z = self.rows.dense(which) * (signs if signs.shape[0] == 1 else xp.take(signs, which))[:, None]
        Z, band = self._read(Z, xp.take(self._band, which))
        return Z, band

    def keep(self, proposed: bool = False) -> None:  # noqa: D102
        self.alpha = self._proposed if proposed else self._alpha

    def propose(self, tau: float) -> None:  # noqa: D102
        step = self._alpha - self._scale * self._band * self._t - self._proposed
        self._proposed = self._proposed + tau * step

    def compare(self) -> Comparison:  # noqa: D102
        xp, verbs, C = self.problem.place.xp, self.problem.verbs, self._C
        least, most = verbs.bounds(C)
        inside = xp.minimum(xp.maximum(self._proposed, least), most)
        inside = xp.where(C > 0.0, inside, self._alpha)
        outside = xp.where(C > 0.0, self._proposed - inside, xp.zeros_like(inside))
        self._proposed = inside
        violation = xp.max(verbs.violations(self._m, inside, C))
        gap = xp.sum(verbs.gap_estimates(self._m, inside, C))
        excess = self.rows.transposed_times(outside * self.problem.signs)
        clipped = xp.astype(xp.any(outside != 0.0), xp.float64)
        violation, gap, clipped, excess = self._read(violation, gap, clipped, excess)
        return Comparison(violation, gap, excess if clipped else None)

    def adopt(self) -> None:  # noqa: D102
        self._proposed = self._alpha

    def sample(self, step: int) -> Shards | None:  # noqa: D102
        if not self.rows.can_sample:
            return None
        problem, place = self.problem, self.problem.place
        which = chosen_rows(place, self.n_rows, step)

        def of_sample(array: Any) -> Any:
            return array if array.shape[0] == 1 else place.xp.take(array, which)

        C = of_sample(problem.C)
        share = float(place.xp.sum(C)) * (which.shape[0] if C.shape[0] == 1 else 1) / problem.sum_C
        if share == 0.0:
            return None
        rows = problem.rows.taken(which)
        part = ArrayProblem(rows, of_sample(problem.y), C / share, problem.loss, of_sample(problem.q))
        return ArrayShards(part, part.starting_alpha(), self._between)

    def losses_at_zero(self) -> float:  # noqa: D102
        verbs, y = self.problem.verbs, self.problem.y
        if not self.loss.is_regression:  # all labels have the same margin
            one = self.problem.place.full((1,), 1.0)
            return self.problem.sum_C * float(verbs.primal_terms(verbs.missing(one, 0.0 * one), one)[0])
        return float(self.problem.place.xp.sum(verbs.primal_terms(verbs.missing(y, 0.0 * y), self.problem.C)))

    def mean_margin_at_zero(self) -> float:  # noqa: D102
        if not self.loss.is_regression:
            return 1.0
        xp = self.problem.place.xp
        return float(xp.mean(xp.abs(self.problem.y))) or 1.0
