"""The objective itself, by adaptive frequencies over its columns, for losses that consist of parabolas.

Newton's model of a squared loss counts the rows beyond its bend. At large C thousands of rows lie close to the bend and
change sides in every step, so that the minimum of the model is far from that of the objective. Here, a visit of a
column knows on which side each row is, and brings the margins up to date. Rows that are far on the flat side of their
loss are left out for some sweeps. The line search that comes after them knows all rows.

Columns are copied with their values times the signs of the rows, so that a visit looks up one number per entry, its
row's margin (and C_i, if C is not the same for all).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import Loss, curvature, missing, response
from ...kernels.prefetch import prefetch
from ...kernels.rows import ONE
from ...kernels.schedule import Learning, learn
from ...kernels.types import Index, Indices, Vector
from ..driver import Run
from ..frequencies import Frequencies
from .columns import Columns, near_part
from .lasso import AHEAD, ENTRIES_PER_LINE, sweep_until_solved
from .one_weight import Seen, best_weight, subgradient
from .penalised import Penalised

MOST_TRIES = 4  # for a step that goes too far
TOO_FAR = 0.5  # slope at the end of a step, as a share of that at its beginning
BEYOND = 1e300  # beyond the bend of any loss


class Pieces(NamedTuple):
    """The problem over some columns and the rows near the bends, at the weights z.

    m_i is what is missing in row i, and ``C`` has one entry per row, or a single one for all. bound_k is the curvature
    of column k if all rows were beyond their bend; it is negative until it is needed for the first time.
    """

    columns: Columns
    loss: Loss
    C: Vector
    m: Vector
    bound: Vector
    l1: Vector
    l2: Vector
    z: Vector


@kernel
def visit_pieces(
    pieces: Pieces, p: Vector, I: Indices, begin: Index, end: Index, enough: float, learning: Learning, seen: Seen
) -> tuple[int, float, float, float]:
    """Coordinate descent over the columns I[begin:end]; columns leave the active set as in ``lasso.visit_columns``."""
    (indptr, indices, data), loss, C, m, bound, l1, l2, z = pieces
    steps, v, D_ref, gain = seen
    same_C, first_C = C.size == 1, C[0]
    for s in range(np.uint64(begin), np.uint64(end)):
        if s + AHEAD < np.uint64(I.size):
            far = I[s + AHEAD]
            for t in range(indptr[far], indptr[far + ONE], ENTRIES_PER_LINE):
                prefetch(indices, t)
                prefetch(data, t)
        k = I[s]
        if p[k] < 0.0:
            continue
        steps += 1
        first_entry, last_entry = indptr[k], indptr[k + ONE]
        G, H = l2[k] * z[k], l2[k]
        for t in range(first_entry, last_entry):
            i, x = indices[t], data[t]
            own = first_C if same_C else C[i]
            G -= x * response(loss, m[i], own)
            H += x * x * curvature(loss, m[i], own, 0.0)
        if z[k] == 0.0 and abs(G) + enough < l1[k]:
            p[k] = -p[k]
            continue
        v = max(v, subgradient(z[k], G, l1[k]))
        if H <= l2[k]:  # no row has curvature here, but some may on the way
            if bound[k] < 0.0:
                bound[k] = l2[k]
                for t in range(first_entry, last_entry):
                    own = first_C if same_C else C[indices[t]]
                    bound[k] += data[t] * data[t] * curvature(loss, BEYOND, own, 0.0)
            H = bound[k]
        start = z[k]
        best, delta = best_weight(start, G, H, l1[k])
        way = 1.0 if best > start else -1.0
        before = way * G + (l1[k] if way * start >= 0.0 else -l1[k])  # slope on the way
        if best != start and before < 0.0:
            share, mu, after = 1.0, best - start, 0.0
            for _ in range(MOST_TRIES):
                z[k] += mu
                G = l2[k] * z[k]
                for t in range(first_entry, last_entry):
                    i, x = indices[t], data[t]
                    there = m[i] - mu * x
                    m[i] = there
                    G -= x * response(loss, there, first_C if same_C else C[i])
                after = way * G + (l1[k] if way * z[k] > 0.0 else -l1[k])
                if after <= -TOO_FAR * before:
                    break
                # Other rows have curvature there: back to the secant's zero.
                shorter = share * before / (before - after)
                mu, share = (shorter - share) * (best - start), shorter
            delta = max(-0.5 * (before + after) * abs(z[k] - start), 0.0)
        gain += delta
        p[k], D_ref = learn(learning, p[k], delta, D_ref)
    return steps, v, D_ref, gain


def descend(
    primal: Penalised,
    run: Run,
    S: Indices,
    frequencies: Frequencies,
    seen: Seen,
    first: bool,
    sweeps: int,
    margin: float,
) -> tuple[Vector, Seen]:
    """Minimise the objective over the columns S, rows up to ``margin`` from their bend taking part."""
    pieces = _pieces(primal, S, margin)
    seen = sweep_until_solved(visit_pieces, pieces, primal, run, frequencies, seen, first, sweeps)
    return pieces.z, seen


def _pieces(primal: Penalised, S: Indices, margin: float) -> Pieces:
    """Return the problem over the columns S at the present weights."""
    assert primal.columns is not None
    rows, signs = np.flatnonzero(primal.near(margin)), primal.problem.signs
    columns = near_part(primal.columns, S.astype(np.uint64), rows, signs, primal.products.pace)
    loss, y, C = primal.losses_by_row
    m = missing(loss, y[rows].astype(np.float64), primal.f[rows])
    own = C[rows] if np.ndim(primal.problem.C) else C[:1].copy()
    return Pieces(columns, loss, own, m, np.full(S.size, -1.0), primal.l1[S], primal.l2[S], primal.w[S])
