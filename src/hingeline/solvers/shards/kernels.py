"""What a shard computes with its rows: responses, sums along a line, products, the certificate's sums.

psi_i(m) = max over the box of  a m - conjugate_i(a) - sigma_i (a - abar_i)^2/2,   sigma_i = 2 delta / C_i,

is the loss of row i smoothed around the centre abar_i. It is smooth in m, with the slope alpha_i that the verb
``proximal`` gives. For the hinge that is clip(abar_i + m/sigma_i, 0, C_i), with curvature 1/sigma_i = C_i/(2 delta) in
the band where nothing is clipped. Losses that are smooth by themselves take delta = 0. Curvatures are ``scale`` times
C_i times the entries of ``band``.

Work on a row's entries and work on one number per row alternate block by block, so that the vectors of a block are
still in the cache when its rows are read.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from ...data.problem import Problem
from ...kernels.compile import kernel
from ...kernels.gram import gram
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
from ...kernels.rows import ONE, Rows, add_rows, add_squares, axpy, dot
from ...kernels.types import Index, Indices, Matrix, Vector

BLOCK = np.uint64(512)  # rows; seven vectors of this length fit into a first-level cache


class Vectors(NamedTuple):
    """What Newton's method keeps for each row.

    Attributes
    ----------
    C : C_i, or 0 if the row does not respond: it has no weight, or it is a row of zeros and already solved; a single
        entry if it is the same for all rows
    s : the sign of z_i = s_i x_i
    m : margin m_i, what is missing at the current w
    t : <z_i, p> for the direction p; free for other use until there is a direction
    abar : centre of the smoothing; a smooth loss does not use it, so it is t
    band : 1 (logistic loss: its curvature over C_i) if alpha_i moves with m_i, else 0
    counted : the band entries that the Gram matrix contains; the band itself if there is no such matrix

    The responses alpha are not kept: they follow from m and abar.
    """

    C: Vector
    s: Vector
    m: Vector
    t: Vector
    abar: Vector
    band: Vector
    counted: Vector

    def part(self, inside: slice) -> Vectors:
        """Return a view of some rows."""
        C, *others = self
        return Vectors(C[inside] if C.size > 1 else C, *(vector[inside] for vector in others))

    def counting(self) -> Vectors:
        """Return the vectors with what a Gram matrix contains; nothing yet, unless it was already there."""
        return self if self.counted is not self.band else self._replace(counted=np.zeros_like(self.band))


def new_vectors(problem: Problem, room: Vectors | None = None) -> Vectors:
    """Return room for vectors, filled by ``begin_rows``: memory then belongs to the thread that works on it.

    ``room`` holds the vectors of another problem with as many rows, which are reused if possible.
    """
    loss, n, C = problem.loss, problem.data.n_rows, problem.C_values
    if problem.kept is not None and problem.data.smallest_q <= 0.0:  # else only rows without weight are left out
        C = np.zeros(n)
        C[problem.kept] = problem.C_values[problem.kept] if problem.C_values.size > 1 else problem.C_values
    entry = np.dtype(np.uint8 if loss.slope_has_kinks else np.float64)
    if room is not None and room.band.dtype == entry and (loss.is_smooth or room.abar is not room.t):
        m, t, abar, band = room.m, room.t, room.abar, room.band
    else:
        m, t, abar = (np.empty(size) for size in (n, n, 0 if loss.is_smooth else n))
        band = np.empty(n, dtype=entry)
    return Vectors(C, problem.signs, m, t, t if loss.is_smooth else abar, band, band)


# What kernels take: ``Vectors`` as a plain tuple, which takes numba half the time to unpack.
Arrays: TypeAlias = tuple[Vector, ...]


@kernel
def own(C: Vector, i: Index) -> float:
    """C_i, where C has one entry per row, or a single one for all."""
    return C[i] if C.size > 1 else C[0]


@kernel
def begin_rows(
    rows: Rows,
    loss: Loss,
    y: Vector,
    C: Vector,
    start: Vector,
    vectors: Arrays,
    w: Vector,
    centred: bool,
    begin: Index,
    end: Index,
) -> float:
    """Fill ``vectors`` for weights w and dual variables ``start``; returns the losses of the rows that do not respond.

    ``C`` is that of all rows, whether they respond or not; ``w`` is empty if it is zero. ``centred`` smooths around the
    start rather than around the middle of the box.
    """
    responding, _, m, t, abar, band, counted = vectors
    settled = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        C_i = own(responding, i)
        at_zero = missing(loss, y[i], 0.0)
        m[i] = missing(loss, y[i], dot(rows, i, w)) if w.size > 0 else at_zero
        abar[i] = start[i] if centred else 0.5 * (lower(loss, C_i) + upper(loss, C_i))
        t[i] = 0.0  # after abar, which may be t
        band[i] = 0
        counted[i] = 0
        if C_i == 0.0 and own(C, i) > 0.0:
            settled += primal_term(loss, at_zero, own(C, i))
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
    afresh: bool,
    v: Vector,
    change: Vector,
    begin: Index,
    end: Index,
) -> tuple[float, int, int, float, float, float]:
    """m <- m - tau t, alpha_i at these margins, the band; v <- v + Z'(change of alpha), or + Z' alpha if ``afresh``.

    ``change`` is room for a block of numbers. Returns the largest violation, the size of the band, the number of rows
    where it is not ``counted``, and the sums of the losses, of the gap terms and of the curvatures.
    """
    C, s, m, t, abar, band, counted = vectors
    violation, size, moved, losses, gap, total = 0.0, 0, 0, 0.0, 0.0, 0.0
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        last = min(first + BLOCK, beyond)
        for i in range(first, last):
            C_i = own(C, i)
            margin = m[i] - tau * t[i]
            a, inside = proximal(loss, margin, abar[i], delta, C_i)
            known = 0.0 if afresh else proximal(loss, m[i], abar[i], delta, C_i)[0]  # what v already contains
            gap += unsettled(loss, margin, a, C_i)[1]
            losses += primal_term(loss, margin, C_i)
            size += inside > 0.0
            total += inside
            share = inside / C_i if C_i > 0.0 else 0.0
            moved += share != counted[i]
            change[i - first] = (a - known) * s[i]
            m[i], band[i] = margin, share
        for i in range(first, last):  # apart from the sums, which use the vector units; this cannot
            a = proximal(loss, m[i], abar[i], delta, own(C, i))[0]
            violation = max(violation, unsettled(loss, m[i], a, own(C, i))[0])
        add_rows(rows, first, last, change, v)
        first = last
    return violation, size, moved, losses, gap, total


@kernel
def extend_rows(
    rows: Rows, loss: Loss, vectors: Arrays, delta: float, v: Vector, begin: Index, end: Index
) -> tuple[int, int]:
    """Put the rows that a new stage has taken out of the band back into it, as if their variables had no bounds.

    t holds the band before the stage, and abar the responses then. v <- v + Z'(what the variables would be beyond their
    bounds). Returns how many rows these are, and by how many more the band differs from what is ``counted``.
    """
    C, s, m, t, abar, band, counted = vectors
    n, moved = 0, 0
    for i in range(np.uint64(begin), np.uint64(end)):
        if t[i] > 0.0 and band[i] == 0:
            C_i = own(C, i)
            unbounded = abar[i] + pull(loss, m[i], abar[i], C_i)[0] * C_i * (0.5 / delta)
            a = proximal(loss, m[i], abar[i], delta, C_i)[0]
            axpy(rows, i, (unbounded - a) * s[i], v)
            n += 1
            moved += (t[i] != counted[i]) - (counted[i] != 0)
            band[i] = t[i]
    return n, moved


@kernel
def write_responses(loss: Loss, vectors: Arrays, delta: float, out: Vector, begin: Index, end: Index) -> None:
    """out_i <- alpha_i for the rows that respond."""
    C, _, m, _, abar, _, _ = vectors
    for i in range(np.uint64(begin), np.uint64(end)):
        if own(C, i) > 0.0:
            out[i] = proximal(loss, m[i], abar[i], delta, own(C, i))[0]


@kernel
def add_derivatives(
    loss: Loss, vectors: Arrays, delta: float, scale: float, tau: float, begin: Index, end: Index
) -> tuple[float, float]:
    """First and second derivative in tau of sum_i psi_i(m_i - tau t_i)."""
    C, _, m, t, abar, _, _ = vectors
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        a, band = proximal(loss, m[i] - tau * t[i], abar[i], delta, own(C, i))
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
    """t_i = <z_i, p>, or 0 for rows that do not respond; the derivatives along the line at ``taus`` go to ``out``."""
    C, s, _, t, _, _, _ = vectors
    first, beyond = np.uint64(begin), np.uint64(end)
    while first < beyond:
        last = min(first + BLOCK, beyond)
        for i in range(first, last):
            t[i] = s[i] * dot(rows, i, p) if own(C, i) > 0.0 else 0.0
        derivatives(loss, vectors, delta, scale, taus, out, first, last)
        first = last


@kernel
def add_band_gram(
    rows: Rows, vectors: Arrays, afresh: bool, distinct: bool, G: Matrix, room: Matrix, begin: Index, end: Index
) -> None:
    """Do what ``band_change`` does, and add the Gram matrix of that change to G: one call for both."""
    band_change(vectors, afresh, begin, end)
    gram(rows, vectors[3], distinct, G, room, begin, end)


@kernel
def band_change(vectors: Arrays, afresh: bool, begin: Index, end: Index) -> None:
    """t <- C times the band's change since it was counted, or all of it if ``afresh``; marks it as counted.

    t is unused between the responses to one direction and the next direction.
    """
    C, _, _, t, _, band, counted = vectors
    known = 0.0 if afresh else 1.0
    for i in range(np.uint64(begin), np.uint64(end)):
        t[i] = own(C, i) * (band[i] - known * counted[i])
        counted[i] = band[i]


@kernel
def add_curvature(rows: Rows, vectors: Arrays, v: Vector, out: Vector, begin: Index, end: Index) -> None:
    """out <- out + sum_i C_i band_i <x_i, v> x_i: each row is read once."""
    C, _, _, _, _, band, _ = vectors
    for i in range(np.uint64(begin), np.uint64(end)):
        if band[i] > 0:
            axpy(rows, i, own(C, i) * band[i] * dot(rows, i, v), out)


@kernel
def add_diagonal(rows: Rows, vectors: Arrays, out: Vector, begin: Index, end: Index) -> None:
    """out_j <- out_j + sum_i C_i band_i x_ij^2 (repeated indices one by one)."""
    C, _, _, _, _, band, _ = vectors
    for i in range(np.uint64(begin), np.uint64(end)):
        if band[i] > 0:
            add_squares(rows, i, own(C, i) * band[i], out)


@kernel
def expand_rows(rows: Rows, which: Indices, s: Vector, Z: Matrix, begin: Index, end: Index) -> None:
    """Add z_i = s_i x_i to row k of Z, the constant feature last, for the rows i = which[k]."""
    for k in range(np.uint64(begin), np.uint64(end)):
        axpy(rows, which[k], s[which[k]], Z[k])


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
def propose(
    loss: Loss, vectors: Arrays, delta: float, scale: float, a: Vector, tau: float, begin: Index, end: Index
) -> None:
    """a <- a + tau (alpha - S t - a): move towards what Newton's equation proposes for the dual variables."""
    C, _, m, t, abar, band, _ = vectors
    for i in range(np.uint64(begin), np.uint64(end)):
        C_i = own(C, i)
        if C_i > 0.0:
            target = proximal(loss, m[i], abar[i], delta, C_i)[0] - scale * C_i * band[i] * t[i]
            a[i] = target if tau == 1.0 else a[i] + tau * (target - a[i])  # a whole step to a bound ends exactly there


@kernel
def compare(
    rows: Rows, loss: Loss, vectors: Arrays, a: Vector, excess: Vector, begin: Index, end: Index
) -> tuple[float, float, bool]:
    """Clip the proposed dual variables ``a`` to the box; excess <- excess + Z'(what was clipped).

    Returns the largest violation, the sum of the gap terms (estimated), and whether anything was clipped.
    """
    C, s, m, _, _, _, _ = vectors
    violation, gap, clipped = 0.0, 0.0, False
    for i in range(np.uint64(begin), np.uint64(end)):
        C_i = own(C, i)
        if C_i > 0.0:
            inside = min(max(a[i], lower(loss, C_i)), upper(loss, C_i))
            if inside != a[i]:
                axpy(rows, i, (a[i] - inside) * s[i], excess)
                a[i] = inside
                clipped = True
            violation = max(violation, abs(pull(loss, m[i], a[i], C_i)[0]))
            gap += gap_estimate(loss, m[i], a[i], C_i)
    return violation, gap, clipped


@kernel
def sum_losses_at_zero(loss: Loss, y: Vector, C: Vector) -> float:
    """Sum of the losses at w = 0. ``C`` has one entry per row, or a single one for all."""
    total = 0.0
    for i in range(np.uint64(y.size)):
        total += primal_term(loss, missing(loss, y[i], 0.0), own(C, i))
    return total
