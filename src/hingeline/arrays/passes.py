"""Passes over what has one entry per row: the responses to a step, and sums along a line.

``Passes`` is written in the array API, for any namespace. fused.py has kernels that do the same in one go, for CUDA.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.types import Vector
from ..solvers.shards.line import Line
from .namespace import is_fused
from .problem import ArrayProblem


class Vectors(NamedTuple):
    """What Newton's method keeps for each row, as in solvers/shards/kernels.py; s or C may have a single entry."""

    C: Any
    s: Any
    m: Any
    t: Any
    abar: Any
    alpha: Any
    counted: Any


class Found(NamedTuple):
    """The responses of the rows to their margins.

    Attributes
    ----------
    m, alpha, band : arrays
    change : array
        s_i times the change of alpha_i, or times alpha_i itself.
    sums : array of shape (6,)
        The entries of ``Responses``, but for the losses of rows that do not respond.
    """

    m: Any
    alpha: Any
    band: Any
    change: Any
    sums: Any


class Passes:
    """The passes of one problem."""

    can_search = False  # whether ``search`` finds the step along a line without asking the coordinator

    def __init__(self, problem: ArrayProblem) -> None:
        self._verbs, self._xp = problem.verbs, problem.place.xp

    def respond(self, vectors: Vectors, tau: float, delta: float, afresh: bool) -> Found:
        """Move the margins by tau t, and respond."""
        xp, verbs, C = self._xp, self._verbs, vectors.C
        m = vectors.m - tau * vectors.t
        a, band = verbs.proximal(m, vectors.abar, delta, C)
        a = xp.where(C > 0.0, a, vectors.alpha)
        violation, gap = verbs.unsettled(m, a, C)
        sums = [
            xp.max(violation),
            xp.sum(xp.astype(band > 0.0, xp.float64)),
            xp.sum(xp.astype(band != vectors.counted, xp.float64)),
            xp.sum(verbs.primal_terms(m, C)),
            xp.sum(gap),
            xp.sum(band),
        ]
        return Found(m, a, band, vectors.s * (a if afresh else a - vectors.alpha), xp.stack(sums))

    def derivatives(self, vectors: Vectors, taus: Vector, delta: float, scale: float) -> Any:
        """Return both derivatives in tau of the sum of the smoothed losses, for each of ``taus``."""
        xp, t = self._xp, vectors.t
        values = []
        for tau in taus.tolist():
            a, band = self._verbs.proximal(vectors.m - tau * t, vectors.abar, delta, vectors.C)
            values += [-xp.sum(a * t), scale * xp.sum(band * t * t)]
        return xp.reshape(xp.stack(values), (-1, 2))

    def search(
        self, vectors: Vectors, line: Line, delta: float, afresh: bool, known: Any = None
    ) -> tuple[Any, Found, Any]:
        """Return the step along a line with the slope that is left there, and the responses of the rows to it.

        The last item is the state of the search, from which another one can continue.
        """
        raise NotImplementedError

    def certify(self, C: Any, m: Any, alpha: Any) -> Any:
        """Return the largest violation, the sum of the losses and that of the gap terms."""
        xp, verbs = self._xp, self._verbs
        violation, losses = xp.max(verbs.violations(m, alpha, C)), xp.sum(verbs.primal_terms(m, C))
        return xp.stack([violation, losses, xp.sum(verbs.gap_terms(m, alpha, C))])


def passes_of(problem: ArrayProblem) -> Passes:
    """Return the passes for the rows of ``problem``, wherever they are."""
    if not is_fused(problem.place):
        return Passes(problem)
    from .fused_passes import FusedPasses

    return FusedPasses(problem)
