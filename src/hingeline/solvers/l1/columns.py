"""Columns: the data matrix as the engines of L1-regularised problems see it, one feature at a time.

A feature's entries lie together, with the numbers of their rows. The intercept is one more column, stored like the
others. The quadratic sub-problem of these engines is a lasso, its rows weighted by curvatures; ``squeeze`` copies the
columns that it is about without the rows that have none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.compile import by_type, kernel, prefetch
from ...kernels.rows import ONE, CsrRows, DenseRows, OnesRows, value
from ...kernels.schedule import adapted

AHEAD = np.uint64(4)
ENTRIES_PER_LINE = np.uint64(8)


class Columns(NamedTuple):
    """Compressed sparse columns."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def sparse_count(rows: CsrRows | OnesRows, counts: np.ndarray, begin: Any, end: Any) -> None:
    for t in range(rows.indptr[np.uint64(begin)], rows.indptr[np.uint64(end)]):
        counts[rows.indices[t] + ONE] += ONE


def dense_count(rows: DenseRows, counts: np.ndarray, begin: Any, end: Any) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for j in range(np.uint64(rows.X.shape[1])):
            if rows.X[i, j] != 0.0:
                counts[j + ONE] += ONE


def sparse_fill(
    rows: CsrRows | OnesRows, at: np.ndarray, indices: np.ndarray, data: np.ndarray, begin: Any, end: Any
) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for t in range(rows.indptr[i], rows.indptr[i + ONE]):
            k = at[rows.indices[t]]
            at[rows.indices[t]] = k + ONE
            indices[k] = i
            data[k] = value(rows, t)


def dense_fill(rows: DenseRows, at: np.ndarray, indices: np.ndarray, data: np.ndarray, begin: Any, end: Any) -> None:
    for i in range(np.uint64(begin), np.uint64(end)):
        for j in range(np.uint64(rows.X.shape[1])):
            if rows.X[i, j] != 0.0:
                k = at[j]
                at[j] = k + ONE
                indices[k] = i
                data[k] = rows.X[i, j]


_count = by_type({CsrRows: sparse_count, OnesRows: sparse_count, DenseRows: dense_count})
_fill = by_type({CsrRows: sparse_fill, OnesRows: sparse_fill, DenseRows: dense_fill})


@kernel
def count_entries(rows: Any, counts: Any, begin: Any, end: Any) -> None:
    """Add the entries of column j in the rows begin to end to counts[j + 1]."""
    _count(rows, counts, begin, end)


@kernel
def fill_entries(rows: Any, at: Any, indices: Any, data: Any, begin: Any, end: Any) -> None:
    """Write the entries of the rows begin to end to where their column has got to (``at``)."""
    _fill(rows, at, indices, data, begin, end)


@kernel
def column_dots(columns: Any, which: Any, r: Any, out: Any, begin: Any, end: Any) -> None:
    """out_k = <x_j, r>, j = which_k, for k from begin to end."""
    for k in range(np.uint64(begin), np.uint64(end)):
        j, s = which[k], 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            s += columns.data[t] * r[columns.indices[t]]
        out[k] = s


@kernel
def add_columns(columns: Any, which: Any, d: Any, u: Any, begin: Any, end: Any) -> None:
    """u <- u + sum_k d_k x_j, j = which_k, over k from begin to end."""
    for k in range(np.uint64(begin), np.uint64(end)):
        if d[k] != 0.0:
            j = which[k]
            for t in range(columns.indptr[j], columns.indptr[j + ONE]):
                u[columns.indices[t]] += d[k] * columns.data[t]


@kernel
def squeeze(columns: Any, which: Any, h: Any, least: Any, sub: Any, rest: Any, begin: Any, end: Any) -> None:
    """Copy the columns which[begin:end] without the rows of curvature h_i < least; rest_k = sum of their h_i x_ik^2."""
    for k in range(np.uint64(begin), np.uint64(end)):
        j, n, left = which[k], sub.indptr[k], 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            i = columns.indices[t]
            if h[i] >= least:
                sub.indices[n], sub.data[n] = i, columns.data[t]
                n += ONE
            else:
                left += h[i] * columns.data[t] * columns.data[t]
        sub.indptr[k + ONE], rest[k] = n, left


@kernel
def soft(z: Any, l1: Any) -> Any:
    """Soft threshold: z moved towards zero by l1."""
    if z > l1:
        return z - l1
    return z + l1 if z < -l1 else 0.0


@kernel
def subgradient(z: Any, g: Any, l1: Any) -> Any:
    """How far a weight z is from optimal where the smooth part has slope g: the shortest subgradient's length."""
    if z > 0.0:
        return abs(g + l1)
    return abs(g - l1) if z < 0.0 else max(0.0, abs(g) - l1)


@kernel
def best_weight(z: Any, G: Any, H: Any, l1: Any) -> Any:
    """Return where l1 |z| plus a parabola, of slope G and curvature H at z, is least, and what going there gains."""
    if H > 0.0:
        best = soft(z - G / H, l1 / H)
        mu = best - z
        return best, l1 * (abs(z) - abs(best)) - mu * (G + 0.5 * H * mu)
    if G == 0.0 and l1 > 0.0:  # no curvature, no slope: the penalty decides
        return 0.0, l1 * abs(z)
    return z, 0.0


@kernel
def visit_columns(
    columns: Any, which: Any, hu: Any, norms: Any, rest: Any, g: Any, l1: Any, l2: Any, w: Any, z: Any, p: Any, I: Any,
    begin: Any, end: Any, enough: Any, preferences: Any, fading: Any, adapts: Any, first: Any, seen: Any,
) -> Any:  # fmt: skip
    """Coordinate descent over I[begin:end] on the lasso

        g'(z - w) + sum_i h_i u_i^2/2 + sum_k rest_k (z_k - w_k)^2/2 + sum_k (l1_k |z_k| + l2_k z_k^2/2).

    u = X (z - w), and the row i has h_i and u_i side by side in hu. Column k is ``which[k]`` of the matrix;
    norms_k = sum_i h_i x_ik^2 is negative until it is computed, at the first visit. Columns that rest at zero with a
    slope short of l1 by more than ``enough`` leave the active set: the sign of p_k is turned.
    """
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
        G = g[k] + l2[k] * z[k] + rest[k] * (z[k] - w[k]) + slope
        if z[k] == 0.0 and abs(G) + enough < l1[k]:
            p[k] = -p[k]
            continue
        v = max(v, subgradient(z[k], G, l1[k]))
        stepped, delta = best_weight(z[k], G, norms[k] + l2[k] + rest[k], l1[k])
        mu = stepped - z[k]
        if mu != 0.0:
            for t in range(first_entry, last_entry):
                hu[columns.indices[t], 1] += mu * columns.data[t]
            z[k] = stepped
        gain += delta
        if first:
            D_ref += fading * delta
        else:
            if adapts:
                p[k] = adapted(preferences, p[k], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v, D_ref, gain
