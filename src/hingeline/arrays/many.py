"""The passes of several problems over the same rows: matrices with a row per problem, and an entry per row of X.

``ManyPasses`` is written in the array API, for any namespace. fused_many.py has kernels that do the same in one go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.losses import Loss
from .losses import array_loss
from .namespace import Place, is_fused

MOST_SEARCHED = 24  # steps along a line that are tried, one after the other


class ManyVectors(NamedTuple):
    """What Newton's method keeps: C_i, signs, margins, their change along the line, and centres of the smoothing.

    Signs that all problems share are a single row, or a single entry.
    """

    C: Any
    s: Any
    m: Any
    t: Any
    abar: Any


class ManyFound(NamedTuple):
    """The responses of the rows to their margins.

    Attributes
    ----------
    m, alpha, band : matrices
    signed : matrix
        s_i alpha_i.
    sums : array of shape (n_problems, 4)
        Largest violation, and the sums of losses, gap terms and band.
    """

    m: Any
    alpha: Any
    band: Any
    signed: Any
    sums: Any


class Lines(NamedTuple):
    """Lines w + tau p, an entry per problem: <residual, p>, <w, p> and <p, p>; what may be left of the slope."""

    slope: Any
    wp: Any
    pp: Any
    accuracy: float


class ManyPasses:
    """The passes for a loss; ``delta`` has the width of the smoothing for each problem."""

    def __init__(self, loss: Loss, place: Place) -> None:
        self._loss, self._place = loss, place
        self.verbs = array_loss(loss, place.xp)

    def respond(self, at: ManyVectors, tau: Any, delta: Any) -> ManyFound:
        """Move the margins by tau t, and respond."""
        xp, verbs = self._place.xp, self.verbs
        m = at.m - tau[:, None] * at.t
        alpha, band = verbs.proximal(m, at.abar, delta[:, None], at.C)
        violation, gap = verbs.unsettled(m, alpha, at.C)
        sums = [xp.max(violation, axis=1)]
        sums += [xp.sum(terms, axis=1) for terms in (verbs.primal_terms(m, at.C), gap, band)]
        return ManyFound(m, alpha, band, at.s * alpha, xp.stack(sums, axis=1))

    def search(self, at: ManyVectors, lines: Lines, delta: Any) -> Any:
        """Return steps near the minima along the lines: Newton's method within brackets, all lines at a time."""
        xp, (slope, wp, pp, accuracy) = self._place.xp, lines
        scale = self._loss.curvature_scale / delta
        one = xp.ones_like(wp)
        tau, low, high = one, xp.zeros_like(wp), xp.full_like(wp, float("inf"))
        for _ in range(MOST_SEARCHED):
            alpha, band = self.verbs.proximal(at.m - tau[:, None] * at.t, at.abar, delta[:, None], at.C)
            first = wp + tau * pp - xp.sum(alpha * at.t, axis=1)
            good = xp.abs(first) <= accuracy * xp.abs(slope)
            if bool(xp.all(good)):
                break
            second = pp + scale * xp.sum(band * at.t * at.t, axis=1)
            low, high = xp.where(first < 0.0, tau, low), xp.where(first < 0.0, high, tau)
            guess = tau - first / xp.where(second > 0.0, second, one)
            bounded = xp.where(xp.isinf(high), 2.0 * low + 1.0, high)
            inside = (guess > low) & (guess < bounded)
            tau = xp.where(good, tau, xp.where(inside, guess, 0.5 * (low + bounded)))
        return tau


def many_passes(loss: Loss, place: Place) -> ManyPasses:
    """Return the passes for several problems of a loss, wherever their rows are."""
    if not is_fused(place):
        return ManyPasses(loss, place)
    from .fused_many import FusedManyPasses

    return FusedManyPasses(loss, place)
