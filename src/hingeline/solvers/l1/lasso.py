"""The quadratic sub-problem of a proximal Newton step: a lasso, by adaptive frequencies over its columns.

min_z   g'(z - w) + sum_i h_i u_i^2/2 + sum_k (l1_k |z_k| + l2_k z_k^2/2),    u = X (z - w)

If half of the rows have next to no curvature h_i, the columns are copied without them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.prefetch import prefetch
from ...kernels.rows import ONE
from ...kernels.schedule import Learning, learn
from ...kernels.types import Index, Indices, Matrix, Vector
from ...runtime.pace import Pace
from ..driver import Run
from ..frequencies import Frequencies
from .columns import Columns, room_for
from .one_weight import Seen, best_weight, subgradient
from .penalised import Penalised

SOLVED = 0.2  # share of the violation at which a sub-problem counts as solved
WORTH_COPYING = 4  # sweeps for which a copy without the flat rows pays off
FLAT_SHARE = 0.01  # of all curvature that the rows left out may have together
AHEAD = np.uint64(4)
ENTRIES_PER_LINE = np.uint64(8)


class Quadratic(NamedTuple):
    """The sub-problem over some columns, and where its solution has got to.

    Column k of the sub-problem is ``which[k]`` of ``columns``. Row i has h_i and u_i side by side in ``hu``.
    norms_k = sum_i h_i x_ik^2 is negative until it is computed, at the first visit; flat_k is the same sum over the
    rows that were left out.
    """

    columns: Columns
    which: Indices
    hu: Matrix
    norms: Vector
    flat: Vector
    g: Vector
    l1: Vector
    l2: Vector
    w: Vector
    z: Vector


@kernel
def visit_columns(
    quadratic: Quadratic, p: Vector, I: Indices, begin: Index, end: Index, enough: float, learning: Learning, seen: Seen
) -> tuple[int, float, float, float]:
    """Coordinate descent over the columns I[begin:end].

    Columns that rest at zero with a slope short of l1 by more than ``enough`` leave the active set: the sign of p_k is
    flipped.
    """
    columns, which, hu, norms, flat, g, l1, l2, w, z = quadratic
    steps, v, D_ref, gain = seen
    for s in range(np.uint64(begin), np.uint64(end)):
        if s + AHEAD < np.uint64(I.size):
            far = which[I[s + AHEAD]]
            for t in range(columns.indptr[far], columns.indptr[far + ONE], ENTRIES_PER_LINE):
                prefetch(columns.indices, t)
                prefetch(columns.data, t)
        k = I[s]
        if p[k] < 0.0:
            continue
        steps += 1
        j = which[k]
        first_entry, last_entry = columns.indptr[j], columns.indptr[j + ONE]
        slope = 0.0
        if norms[k] < 0.0:
            norm = 0.0
            for t in range(first_entry, last_entry):
                i, x = columns.indices[t], columns.data[t]
                slope += x * hu[i, 0] * hu[i, 1]
                norm += x * x * hu[i, 0]
            norms[k] = norm
        else:
            for t in range(first_entry, last_entry):
                i = columns.indices[t]
                slope += columns.data[t] * hu[i, 0] * hu[i, 1]
        G = g[k] + l2[k] * z[k] + flat[k] * (z[k] - w[k]) + slope
        if z[k] == 0.0 and abs(G) + enough < l1[k]:
            p[k] = -p[k]
            continue
        v = max(v, subgradient(z[k], G, l1[k]))
        stepped, delta = best_weight(z[k], G, norms[k] + l2[k] + flat[k], l1[k])
        mu = stepped - z[k]
        if mu != 0.0:
            for t in range(first_entry, last_entry):
                hu[columns.indices[t], 1] += mu * columns.data[t]
            z[k] = stepped
        gain += delta
        p[k], D_ref = learn(learning, p[k], delta, D_ref)
    return steps, v, D_ref, gain


@kernel
def copy_curved(
    columns: Columns, which: Indices, h: Vector, least: float, sub: Columns, flat: Vector, begin: Index, end: Index
) -> None:
    """Copy the columns which[begin:end] without the rows of curvature h_i < least; flat_k = sum of their h_i x_ik^2."""
    for k in range(np.uint64(begin), np.uint64(end)):
        j, n, left = which[k], sub.indptr[k], 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            i = columns.indices[t]
            if h[i] >= least:
                sub.indices[n], sub.data[n] = i, columns.data[t]
                n += ONE
            else:
                left += h[i] * columns.data[t] * columns.data[t]
        sub.indptr[k + ONE], flat[k] = n, left


def lasso(
    primal: Penalised, run: Run, S: Indices, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
) -> tuple[Vector, Vector | None, Seen]:
    """Minimise the quadratic model over the columns S; returns their new weights, and X (z - w) if it is known."""
    quadratic, knows_every_row = _quadratic(primal, S, sweeps)
    seen = sweep_until_solved(visit_columns, quadratic, primal, run, frequencies, seen, first, sweeps)
    return quadratic.z, quadratic.hu[:, 1].copy() if knows_every_row else None, seen


def sweep_until_solved(
    visit: Callable[..., tuple[int, float, float, float]],
    problem: Any,
    primal: Penalised,
    run: Run,
    frequencies: Frequencies,
    seen: Seen,
    first: bool,
    sweeps: int,
) -> Seen:
    """Have ``visit`` go over the columns of ``problem``, until it is solved or these sweeps are done."""
    enough = inf
    for sweep in range(sweeps):
        I = frequencies.schedule(run)
        seen = seen._replace(v=0.0)
        rule = (enough, frequencies.learning(first and sweep == 0))
        for begin, end in run.visits.slices(I.size):
            seen = Seen(*visit(problem, frequencies.p, I, begin, end, *rule, seen))
        solved = seen.v <= SOLVED * primal.violation
        if solved and frequencies.complete:
            break
        enough = frequencies.next_sweep(seen.v, not solved)
    return seen


def _quadratic(primal: Penalised, S: Indices, sweeps: int) -> tuple[Quadratic, bool]:
    """Return the sub-problem over the columns S at the current weights, and whether no row was left out of it."""
    assert primal.columns is not None
    columns, which, flat = primal.columns, S.astype(np.uint64), np.zeros(S.size)
    least = _least_that_counts(primal.h) if sweeps >= WORTH_COPYING else 0.0
    knows_every_row = bool(2 * np.count_nonzero(primal.h >= least) >= primal.h.size)
    if not knows_every_row:
        columns = _curved_part(columns, which, primal.h, least, flat, primal.products.pace)
        which = np.arange(S.size, dtype=np.uint64)
    hu = np.zeros((primal.f.size, 2))
    hu[:, 0] = primal.h
    norms, w = np.full(S.size, -1.0), primal.w[S]
    penalty = (primal.g[S], primal.l1[S], primal.l2[S])
    return Quadratic(columns, which, hu, norms, flat, *penalty, w, w.copy()), knows_every_row


def _curved_part(columns: Columns, which: Indices, h: Vector, least: float, flat: Vector, pace: Pace) -> Columns:
    sub = room_for(columns, which)
    for begin, end in pace.slices(which.size):
        copy_curved(columns, which, h, least, sub, flat, begin, end)
    return sub


def _least_that_counts(h: Vector) -> float:
    """Return a curvature such that rows with less have no more than a small share of all of it."""
    ordered = np.sort(h)
    total = np.cumsum(ordered)
    return float(max(ordered[np.searchsorted(total, FLAT_SHARE * total[-1])], np.nextafter(0.0, 1.0)))
