"""Crammer and Singer's loss, smoothed: the response of one example, and what Newton's method sums over all of them.

With G_c = <x_i, w_c> + [c != y_i], the loss of example i is the largest of  p'G - C_i G_y  over the simplex p >= 0,
sum_c p_c = C_i. Minus  sigma_i |p - pbar|^2/2  it is smooth in the scores, and

    p = the projection of  pbar + G/sigma_i  onto the simplex,      curvature  (I - 11'/|S|)/sigma_i  on its support S.

The dual variables are alpha_c = C_i [c = y_i] - p_c. Everything is computed from them: at large C they are tiny
compared with p_y, which would round them away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.rows import Rows
from ...kernels.types import Index, Indices, Matrix, Vector
from .example_passes import terms
from .row_verbs import class_scores


class Responses(NamedTuple):
    """G of all examples, and the responses of their losses, smoothed around abar; rows with C_i = 0 do not respond.

    Adding a constant to all G of an example changes nothing.
    """

    C: Vector
    stiffness: Vector  # 1/sigma_i
    y: Indices
    G: Matrix
    abar: Matrix
    alpha: Matrix


@kernel
def response(G: Vector, t: Vector, tau: float, abar: Vector, y: Index, C: float, stiffness: float, a: Vector) -> None:
    """Set ``a`` to the response at G + tau t.

    With u_c = G_c/sigma - abar_c it is a_c = -max(0, u_c - beta) for c != y, a_y = min(C, beta - u_y), and beta such
    that their sum is zero: a convex function of beta, so Newton's method from below never goes too far.
    """
    at_y = G[y] + tau * t[y]
    for c in range(a.size):
        a[c] = (G[c] + tau * t[c] - at_y) * stiffness - abar[c]
    beta, count = a[y], 0
    while True:
        holds_y = a[y] + C > beta
        s, above = (a[y], 1) if holds_y else (-C, 0)
        for c in range(a.size):
            if c != y and a[c] > beta:
                s += a[c]
                above += 1
        if above == count or s / above <= beta:
            break
        beta, count = s / above, above
    at_bound, total = beta >= a[y] + C, 0.0
    for c in range(a.size):
        if c != y:
            a[c] = -max(0.0, a[c] - beta)
            total -= a[c]
    if total > 0.0 and (at_bound or total > C):  # a sum of zero up to rounding of u, which may be much larger than a
        for c in range(a.size):
            a[c] *= C / total
        a[y] = C
    else:
        a[y] = total


@kernel
def respond(
    responses: Responses, t: Matrix, tau: float, begin: Index, end: Index
) -> tuple[float, float, float, float, float]:
    """Move G by tau t and respond there, for the examples begin to end.

    Returns the largest violation, the sums of the losses, of the gap terms and of the smoothed losses there, and the
    sum of sigma_i |alpha_i - abar_i|^2.
    """
    C, stiffness, y, G, abar, alpha = responses
    k = alpha.shape[1]
    violation, losses, gap, smooth, moved = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        for c in range(k):
            G[i, c] += tau * t[i, c]
        if C[i] > 0.0:
            response(G[i], t[i], 0.0, abar[i], y[i], C[i], stiffness[i], alpha[i])
            v, loss, term = terms(G[i], alpha[i], y[i], C[i])
            violation = max(violation, v)
            losses += C[i] * loss
            gap += term
            apart, linear = 0.0, 0.0
            for c in range(k):
                apart += (alpha[i, c] - abar[i, c]) ** 2
                linear -= alpha[i, c] * (G[i, c] - G[i, y[i]])
            moved += apart / stiffness[i]
            smooth += linear - 0.5 * apart / stiffness[i]
    return violation, losses, gap, smooth, moved


@array_kernel
def along_line(responses: Responses, t: Matrix, tau: float, begin: Index, end: Index) -> tuple[float, float]:
    """First and second derivative in tau of the smoothed losses at G + tau t, examples begin to end."""
    C, stiffness, y, G, abar, _ = responses
    k = abar.shape[1]
    a = np.empty(k)
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            response(G[i], t[i], tau, abar[i], y[i], C[i], stiffness[i], a)
            s, squares, size = 0.0, 0.0, 0
            for c in range(k):
                first -= a[c] * t[i, c]
                if a[c] < (C[i] if c == y[i] else 0.0):
                    s += t[i, c]
                    size += 1
            if size > 1:
                for c in range(k):
                    if a[c] < (C[i] if c == y[i] else 0.0):
                        squares += (t[i, c] - s / size) ** 2
                second += squares * stiffness[i]
    return first, second


@kernel
def score_examples(rows: Rows, w: Vector, out: Matrix, begin: Index, end: Index) -> None:
    """out_ic = <x_i, w_c> for the rows begin to end and every class."""
    for i in range(np.uint64(begin), np.uint64(end)):
        class_scores(rows, i, w, out[i])
