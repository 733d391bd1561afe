"""Columns: the data matrix as the engines of L1-regularised problems see it, one feature at a time.

A feature's entries lie together, with the numbers of their rows. The intercept is one more column, stored like the
others. The quadratic sub-problem of these engines is a lasso: its matrix, the columns with rows multiplied by the roots
of the curvatures, is copied out by ``squeeze``, without the rows that have none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compile import by_type, kernel, prefetch
from .rows import ONE, CsrRows, DenseRows, OnesRows, value
from .schedule import adapted

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
def column_dots(columns: Any, r: Any, out: Any, begin: Any, end: Any) -> None:
    """out_j = <x_j, r> for the columns begin to end."""
    for j in range(np.uint64(begin), np.uint64(end)):
        s = 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            s += columns.data[t] * r[columns.indices[t]]
        out[j] = s


@kernel
def add_columns(columns: Any, d: Any, u: Any, begin: Any, end: Any) -> None:
    """u <- u + sum_j d_j x_j over the columns begin to end."""
    for j in range(np.uint64(begin), np.uint64(end)):
        if d[j] != 0.0:
            for t in range(columns.indptr[j], columns.indptr[j + ONE]):
                u[columns.indices[t]] += d[j] * columns.data[t]


@kernel
def squeeze(columns: Any, S: Any, root: Any, sub: Any, norms: Any, begin: Any, end: Any) -> None:
    """Copy the columns S[begin:end], row i times root_i, without rows of root zero; norms are their squared lengths."""
    for k in range(np.uint64(begin), np.uint64(end)):
        j, n, s = S[k], sub.indptr[k], 0.0
        for t in range(columns.indptr[j], columns.indptr[j + ONE]):
            i = columns.indices[t]
            if root[i] != 0.0:
                v = root[i] * columns.data[t]
                sub.indices[n], sub.data[n] = i, v
                s += v * v
                n += ONE
        sub.indptr[k + ONE] = n
        norms[k] = s


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
def visit_columns(
    sub: Any, norms: Any, g: Any, l1: Any, l2: Any, z: Any, u: Any, p: Any, I: Any, begin: Any, end: Any,
    enough: Any, preferences: Any, fading: Any, adapts: Any, first: Any, seen: Any,
) -> Any:  # fmt: skip
    """Coordinate descent over I[begin:end] on  g'(z - w) + |u|^2/2 + sum_j l1_j |z_j| + l2_j z_j^2/2,  u = sub (z - w).

    Columns that rest at zero with a slope short of l1 by more than ``enough`` leave the active set: the sign of p_j is
    turned.
    """
    steps, v, D_ref, gain = seen
    for s in range(np.uint64(begin), np.uint64(end)):
        if s + AHEAD < np.uint64(I.size):
            far = I[s + AHEAD]
            for t in range(sub.indptr[far], sub.indptr[far + ONE], ENTRIES_PER_LINE):
                prefetch(sub.indices, t)
                prefetch(sub.data, t)
        j = I[s]
        if p[j] < 0.0:
            continue
        steps += 1
        first_entry, last_entry = sub.indptr[j], sub.indptr[j + ONE]
        G = g[j] + l2[j] * z[j]
        for t in range(first_entry, last_entry):
            G += sub.data[t] * u[sub.indices[t]]
        if z[j] == 0.0 and abs(G) + enough < l1[j]:
            p[j] = -p[j]
            continue
        v = max(v, subgradient(z[j], G, l1[j]))
        H = norms[j] + l2[j]
        delta = 0.0
        if H > 0.0:
            stepped = soft(z[j] - G / H, l1[j] / H)
            mu = stepped - z[j]
            if mu != 0.0:
                for t in range(first_entry, last_entry):
                    u[sub.indices[t]] += mu * sub.data[t]
                delta = l1[j] * (abs(z[j]) - abs(stepped)) - mu * (G + 0.5 * H * mu)
                z[j] = stepped
        elif G == 0.0 and l1[j] > 0.0:  # no curvature, no slope: the penalty decides
            delta = l1[j] * abs(z[j])
            z[j] = 0.0
        gain += delta
        if first:
            D_ref += fading * delta
        else:
            if adapts:
                p[j] = adapted(preferences, p[j], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v, D_ref, gain


@kernel
def visit_gram(
    H: Any, G: Any, l1: Any, z: Any, p: Any, I: Any, begin: Any, end: Any,
    preferences: Any, fading: Any, adapts: Any, first: Any, seen: Any,
) -> Any:  # fmt: skip
    """Coordinate descent like ``visit_columns``, where the Hessian H (l2 included) is at hand; G is the slope at z."""
    steps, v, D_ref, gain = seen
    for s in range(np.uint64(begin), np.uint64(end)):
        j = I[s]
        steps += 1
        v = max(v, subgradient(z[j], G[j], l1[j]))
        delta = 0.0
        if H[j, j] > 0.0:
            stepped = soft(z[j] - G[j] / H[j, j], l1[j] / H[j, j])
            mu = stepped - z[j]
            if mu != 0.0:
                delta = l1[j] * (abs(z[j]) - abs(stepped)) - mu * (G[j] + 0.5 * H[j, j] * mu)
                z[j] = stepped
                for k in range(G.size):
                    G[k] += mu * H[j, k]
        elif G[j] == 0.0 and l1[j] > 0.0:
            delta = l1[j] * abs(z[j])
            z[j] = 0.0
        gain += delta
        if first:
            D_ref += fading * delta
        else:
            if adapts:
                p[j] = adapted(preferences, p[j], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v, D_ref, gain
