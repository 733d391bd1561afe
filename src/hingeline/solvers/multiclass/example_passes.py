"""Passes over Crammer and Singer's dual variables: made feasible, summed up to weights, certified."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import array_kernel, exact_array_kernel, exact_kernel, kernel
from ...kernels.double_double import with_product
from ...kernels.precise_passes import precise_dot
from ...kernels.rows import Rows
from ...kernels.types import Index, Indices, Matrix, Vector
from .row_verbs import class_axpy, class_scores

NEAR_BOUND = 1e-6  # fraction of C_i by which the other entries may differ if a_iy is C_i: an engine's rounding


class Examples(NamedTuple):
    """What kernels see of the problem, with w = sum_i alpha_i (x) x_i, the classes of a feature side by side."""

    rows: Rows
    q: Vector
    C: Vector
    y: Indices  # class numbers
    alpha: Matrix  # one entry per row and class
    w: Vector
    live: Indices  # classes that example i still considers: the first n_live[i] of row i
    n_live: Indices


@exact_kernel
def sums_to_zero(a: Vector) -> bool:
    """Tell whether the sum of ``a`` is zero, and free of rounding however it is ordered."""
    s, inexact = 0.0, 0
    for c in range(a.size):
        t = s + a[c]
        added = t - s
        inexact += (s - (t - added)) + (a[c] - added) != 0.0
        s = t
    return s == 0.0 and inexact == 0


@exact_kernel
def make_feasible(alpha: Matrix, C: Vector, y: Indices, begin: Index, end: Index) -> None:
    """Make the rows begin to end feasible: a_ic <= 0 for c != y_i, a_iy <= C_i, and a sum of exactly zero.

    The entries of a row are rounded to multiples of a unit in the last place of their sum of sizes, so that sums of
    them are exact. An entry a_iy at its bound stays there, and the largest of the others takes what rounding left.
    """
    k = alpha.shape[1]
    for i in range(np.uint64(begin), np.uint64(end)):
        a, yi, Ci = alpha[i], y[i], C[i]
        inside, total, largest = a[yi] <= Ci, 0.0, -1
        for c in range(k):
            if c != yi:
                inside = inside and a[c] <= 0.0
                a[c] = min(a[c], 0.0)
                total -= a[c]
                if largest < 0 or a[c] < a[largest]:
                    largest = c
        if inside and sums_to_zero(a):
            continue
        at_bound = total >= Ci * (1.0 - (NEAR_BOUND if a[yi] == Ci else k * np.finfo(np.float64).eps))
        if at_bound:
            for c in range(k):
                a[c] *= Ci / total
        unit = np.spacing(Ci) if at_bound else 2.0 * np.spacing(total)
        rest = 0.0
        for c in range(k):
            if c != yi and c != largest:
                a[c] = -np.floor(-a[c] / unit) * unit
                rest -= a[c]
        if at_bound:
            a[largest], a[yi] = min(rest - Ci, 0.0), Ci
        else:
            a[largest] = -np.floor(-a[largest] / unit) * unit
            a[yi] = rest - a[largest]


@array_kernel
def add_class_weights(examples: Examples, begin: Index, end: Index) -> None:
    """w_c <- w_c + sum alpha_ic x_i over the rows begin to end."""
    rows, alpha, w = examples.rows, examples.alpha, examples.w
    k = alpha.shape[1]
    changed, step = np.empty(k, dtype=np.uint64), np.empty(k)
    for i in range(np.uint64(begin), np.uint64(end)):
        n = 0
        for c in range(k):
            if alpha[i, c] != 0.0:
                changed[n], step[n] = c, alpha[i, c]
                n += 1
        if n > 0:
            class_axpy(rows, i, changed, step, n, k, w)


@kernel
def terms(G: Vector, alpha: Vector, y: Index, C: float) -> tuple[float, float, float]:
    """Violation, loss per C, and gap term of an example: sum_c (U_c - alpha_c)(max G - G_c)."""
    largest, least, gap = G[0], np.inf, 0.0
    for c in range(1, G.size):
        largest = max(largest, G[c])
    for c in range(G.size):
        room = (C if c == y else 0.0) - alpha[c]
        if room > 0.0:
            least = min(least, G[c])
            gap += room * (largest - G[c])
    return largest - least, largest - G[y], gap


@array_kernel
def certify_examples(examples: Examples, begin: Index, end: Index) -> tuple[float, float, float]:
    """Largest violation, sum of losses and sum of gap terms over the rows begin to end at fixed w."""
    rows, y, C, alpha, w = examples.rows, examples.y, examples.C, examples.alpha, examples.w
    G = np.empty(alpha.shape[1])
    violation, losses, gap = 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            class_scores(rows, i, w, G)
            for c in range(G.size):
                G[c] += 1.0
            G[y[i]] -= 1.0
            v, loss, term = terms(G, alpha[i], y[i], C[i])
            violation = max(violation, v)
            losses += C[i] * loss
            gap += term
    return violation, losses, gap


@exact_array_kernel
def certify_examples_precisely(examples: Examples, W: Matrix, begin: Index, end: Index) -> tuple[float, float, float]:
    """The same in twice the precision; W has the weights of a class in each row, the intercept's last."""
    rows, y, C, alpha = examples.rows, examples.y, examples.C, examples.alpha
    k, last = alpha.shape[1], W.shape[1] - 1
    G, rest = np.empty(k), np.empty(k)
    violation, losses, gap = 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            for c in range(k):
                G[c], rest[c] = precise_dot(rows, i, W[c], 0.0)
                G[c], rest[c] = with_product(G[c], rest[c], float(rows.bias), W[c, last])
            own, own_rest = G[y[i]], rest[y[i]]
            for c in range(k):
                high, low = with_product(1.0, rest[c] - own_rest, 1.0, G[c])
                high, low = with_product(high, low, -1.0, own)
                G[c] = high + low
            G[y[i]] = 0.0
            v, loss, term = terms(G, alpha[i], y[i], C[i])
            violation = max(violation, v)
            losses += C[i] * loss
            gap += term
    return violation, losses, gap
