"""What a shard computes with its rows: responses, sums along a line, products, the certificate's sums.

psi_i(m) = max over the box of  a m - conjugate_i(a) - sigma_i (a - abar_i)^2/2,   sigma_i = 2 delta / C_i,

is the loss of row i smoothed around the centre abar_i. It is smooth in m, with the slope alpha_i that the verb
``proximal`` gives. For the hinge that is clip(abar_i + m/sigma_i, 0, C_i), with curvature 1/sigma_i = C_i/(2 delta) in
the band where nothing is clipped. Losses that are smooth by themselves take delta = 0. Curvatures are ``scale`` times
the entries of ``band``.

Work on a row's entries and work on one number per row alternate block by block, so that the vectors of a block are
still in the cache when its rows are read.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import (
    Loss,
    gap_estimate,
    lower,
    missing,
    primal_term,
    proximal,
    pull,
    unsettled,
    upper,
)
from ...kernels.rows import ONE, Rows, add_rows, axpy, dot
from ...kernels.types import Index, Indices, Vector

BLOCK = np.uint64(512)  # rows; seven vectors of this length fit into a first-level cache


class Vectors(NamedTuple):
    """What Newton's method keeps for each row.

    Attributes
    ----------
    C : C_i, or 0 if the row does not respond: it has no weight, or it is a row of zeros and already solved
    s : the sign of z_i = s_i x_i
    m : margin m_i, what is missing at the current w
    t : <z_i, p> for the direction p
    abar : centre of the smoothing; a smooth loss does not use it
    alpha : response to the margin
    band : C_i (logistic loss: its curvature) if alpha_i moves with m_i, else 0
    counted : the band entries that the Gram matrix contains
    """

    C: Vector
    s: Vector
    m: Vector
    t: Vector
    abar: Vector
    alpha: Vector
    band: Vector
    counted: Vector


def new_vectors(signs: Vector, is_smooth: bool, room: Vectors | None = None) -> Vectors:
    """Return room for vectors, filled by ``begin_rows``: memory then belongs to the thread that works on it.

    ``room`` holds the vectors of another problem with as many rows, which are reused if possible.
    """
    if room is not None and (is_smooth or room.abar is not room.alpha):
        return room._replace(s=signs)
    C, m, t, alpha, band, counted = (np.empty(signs.size) for _ in range(6))
    return Vectors(C, signs, m, t, alpha if is_smooth else np.empty(signs.size), alpha, band, counted)


# What kernels take: ``Vectors`` as a plain tuple, which takes numba half the time to unpack.
Arrays: TypeAlias = tuple[Vector, ...]


@kernel
def begin_rows(
    rows: Rows,
    loss: Loss,
    y: Vector,
    C: Vector,
    q: Vector,
    start: Vector,
    vectors: Arrays,
    w: Vector,
    centred: bool,
    begin: Index,
    end: Index,
) -> float:
    """Fill ``vectors`` for weights w and dual variables ``start``; returns the losses of the rows that do not respond.

    ``C`` has one entry per row, or a single one for all; ``w`` is empty if it is zero. ``centred`` smooths around the
    start rather than around the middle of the box.
    """
    responding, _, m, t, abar, alpha, band, counted = vectors
    settled = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C[i] if C.size > 1 else C[0]
        at_zero = missing(loss, y[i], 0.0)
        m[i] = missing(loss, y[i], dot(rows, i, w)) if w.size > 0 else at_zero
        alpha[i] = start[i]
        band[i] = 0.0
        counted[i] = 0.0
        t[i] = 0.0
        if q[i] > 0.0 and own > 0.0:
            responding[i] = own
            abar[i] = start[i] if centred else 0.5 * (lower(loss, own) + upper(loss, own))
        else:
            responding[i] = 0.0
            abar[i] = alpha[i]
            if own > 0.0:
                settled += primal_term(loss, at_zero, own)
    return settled


@kernel
def place_rows(rows: Rows, loss: Loss, y: Vector, m: Vector, w: Vector, begin: Index, end: Index) -> None:
    """Set m_i to the margins at weights w."""
    for i in range(np.uint64(begin), np.uint64(end)):
        m[i] = missing(loss, y[i], dot(rows, i, w))


@kernel
def respond(
    rows: Rows,
    loss: Loss,
    vectors: Arrays,
    tau: float,
    delta: float,
    recentred: bool,
    afresh: bool,
    v: Vector,
    change: Vector,
    begin: Index,
    end: Index,
) -> tuple[float, int, int, float, float, float]:
    """m <- m - tau t, alpha_i at these margins, the band; v <- v + Z'(change of alpha), or + Z' alpha if ``afresh``.

    ``recentred`` first makes the current alpha the centre of the smoothing. ``change`` is room for a block of numbers.
    Returns the largest violation, the size of the band, the number of rows where it is not ``counted``, and the sums of
    the losses, of the gap terms and of the band.
    """
    C, s, m, t, abar, alpha, band, counted = vectors
    violation, size, moved, losses, gap, total = 0.0, 0, 0, 0.0, 0.0, 0.0
    known = 0.0 if afresh else 1.0  # fraction of the old alpha that v already contains
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        last = min(first + BLOCK, beyond)
        if recentred:
            for i in range(first, last):
                abar[i] = alpha[i]
        for i in range(first, last):
            margin = m[i] - tau * t[i]
            a, inside = proximal(loss, margin, abar[i], delta, C[i])
            apart, term = unsettled(loss, margin, a, C[i])
            violation = max(violation, apart)
            gap += term
            losses += primal_term(loss, margin, C[i])
            size += inside > 0.0
            total += inside
            moved += inside != counted[i]
            new = a if C[i] > 0.0 else alpha[i]
            change[i - first] = (new - known * alpha[i]) * s[i]
            m[i], band[i], alpha[i] = margin, inside, new
        add_rows(rows, first, last, change, v)
        first = last
    return violation, size, moved, losses, gap, total


@kernel
def add_derivatives(
    loss: Loss, vectors: Arrays, delta: float, scale: float, tau: float, begin: Index, end: Index
) -> tuple[float, float]:
    """First and second derivative in tau of sum_i psi_i(m_i - tau t_i)."""
    C, _, m, t, abar, _, _, _ = vectors
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        a, band = proximal(loss, m[i] - tau * t[i], abar[i], delta, C[i])
        first -= a * t[i]
        second += scale * band * t[i] * t[i]
    return first, second


@kernel
def derivatives(
    loss: Loss, vectors: Arrays, delta: float, scale: float, taus: Vector, out: Vector, begin: Index, end: Index
) -> None:
    """Add both derivatives at every one of ``taus`` to ``out``, block by block: memory is read once for all of them."""
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        last = min(first + BLOCK, beyond)
        for k in range(taus.size):
            slope, curvature = add_derivatives(loss, vectors, delta, scale, taus[k], first, last)
            out[k, 0] += slope
            out[k, 1] += curvature
        first = last


@kernel
def project(
    rows: Rows,
    loss: Loss,
    vectors: Arrays,
    p: Vector,
    delta: float,
    scale: float,
    taus: Vector,
    out: Vector,
    begin: Index,
    end: Index,
) -> None:
    """t_i = <z_i, p>, and the derivatives along the line at ``taus``, added to ``out``."""
    _, s, _, t, _, _, _, _ = vectors
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        last = min(first + BLOCK, beyond)
        for i in range(first, last):
            t[i] = s[i] * dot(rows, i, p)
        derivatives(loss, vectors, delta, scale, taus, out, first, last)
        first = last


@kernel
def band_change(vectors: Arrays, afresh: bool, begin: Index, end: Index) -> None:
    """t <- the band's change since it was counted, or all of it if ``afresh``; marks it as counted.

    t is unused between the responses to one direction and the next direction.
    """
    _, _, _, t, _, _, band, counted = vectors
    known = 0.0 if afresh else 1.0
    for i in range(np.uint64(begin), np.uint64(end)):
        t[i] = band[i] - known * counted[i]
        counted[i] = band[i]


@kernel
def copy_entries(
    indptr: Indices, source: Vector, chosen: Indices, at: Indices, out: Vector, begin: int, end: int
) -> None:
    """Copy the entries of the ``chosen`` rows to where ``at`` says."""
    for k in range(np.uint64(begin), np.uint64(end)):
        first, n = indptr[chosen[k]], indptr[chosen[k] + ONE] - indptr[chosen[k]]
        for j in range(n):
            out[at[k] + j] = source[first + j]


@kernel
def propose(vectors: Arrays, a: Vector, tau: float, scale: float, begin: Index, end: Index) -> None:
    """a <- a + tau (alpha - S t - a): move towards what Newton's equation proposes for the dual variables."""
    _, _, _, t, _, alpha, band, _ = vectors
    for i in range(np.uint64(begin), np.uint64(end)):
        target = alpha[i] - scale * band[i] * t[i]
        a[i] = target if tau == 1.0 else a[i] + tau * (target - a[i])  # a whole step to a bound ends exactly there


@kernel
def compare(
    rows: Rows, loss: Loss, vectors: Arrays, a: Vector, excess: Vector, begin: Index, end: Index
) -> tuple[float, float, bool]:
    """Clip the proposed dual variables ``a`` to the box; excess <- excess + Z'(what was clipped).

    Returns the largest violation, the sum of the gap terms (estimated), and whether anything was clipped.
    """
    C, s, m, _, _, alpha, _, _ = vectors
    violation, gap, clipped = 0.0, 0.0, False
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            inside = min(max(a[i], lower(loss, C[i])), upper(loss, C[i]))
            if inside != a[i]:
                axpy(rows, i, (a[i] - inside) * s[i], excess)
                a[i] = inside
                clipped = True
            violation = max(violation, abs(pull(loss, m[i], a[i], C[i])[0]))
            gap += gap_estimate(loss, m[i], a[i], C[i])
        else:
            a[i] = alpha[i]
    return violation, gap, clipped


@kernel
def sum_losses_at_zero(loss: Loss, y: Vector, C: Vector) -> float:
    """Sum of the losses at w = 0. ``C`` has one entry per row, or a single one for all."""
    total = 0.0
    for i in range(np.uint64(y.size)):
        total += primal_term(loss, missing(loss, y[i], 0.0), C[i] if C.size > 1 else C[0])
    return total
