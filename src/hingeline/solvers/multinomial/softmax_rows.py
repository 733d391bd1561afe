"""Softmax over the classes of a row: losses, dual variables, curvature, and the terms of the certificate.

With the scores f_c = <x_i, w_c> of a row and p = softmax(f), its loss is C_i (logsumexp(f) - f_y), and its dual
variables are alpha_c = C_i ([c = y] - p_c): at most zero for c != y, and their sum is zero. So alpha_y is the sum of
the sizes of the others, and small probabilities keep all their digits there, which 1 - p_y would lose. Whatever is
computed from p uses the entries c != y for the same reason, with t_c - t_y instead of a direction's score t_c:

    mean = sum_{c != y} p_c (t_c - t_y),    d(C_i p_c) = C_i p_c (t_c - t_y - mean).
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.losses.logistic import excess
from ...kernels.rows import Rows
from ...kernels.types import Index, Indices, Matrix, Vector
from ..multiclass.row_verbs import class_scores
from .row_verbs import add_squares_to_classes, add_to_classes


class Softmax(NamedTuple):
    """What kernels see of the problem at one point: the scores of all rows, and the dual variables that belong to them.

    Rows with C_i = 0 count for nothing; their dual variables are zero.
    """

    rows: Rows
    C: Vector
    y: Indices  # class numbers
    scores: Matrix
    alpha: Matrix


@kernel
def softmax(f: Vector, t: Vector, tau: float, y: Index, p: Vector) -> tuple[float, float]:
    """Set p to the probabilities at the scores f + tau t; returns the loss per C_i, and logsumexp.

    Nothing overflows: the largest score is taken from all of them. A small loss keeps its digits.
    """
    largest = f[0] + tau * t[0]
    for c in range(f.size):
        p[c] = f[c] + tau * t[c]
        largest = max(largest, p[c])
    own, rest = p[y], 0.0
    for c in range(f.size):
        p[c] = exp(p[c] - largest)
        if c != y:
            rest += p[c]
    total = rest + p[y]
    for c in range(f.size):
        p[c] /= total
    loss = log1p(rest) if own == largest else (largest - own) + log(total)
    return loss, largest + log(total)


@kernel
def score_rows(rows: Rows, w: Vector, out: Matrix, begin: Index, end: Index) -> None:
    """out_ic = <x_i, w_c> for the rows begin to end and every class."""
    for i in range(np.uint64(begin), np.uint64(end)):
        class_scores(rows, i, w, out[i])


@kernel
def respond(softmaxes: Softmax, w: Vector, v: Vector, begin: Index, end: Index) -> float:
    """Set scores and dual variables of the rows begin to end to those at w; v <- v + sum alpha_i (x) x_i.

    Returns the sum of their losses.
    """
    rows, C, y, scores, alpha = softmaxes
    losses = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        a, own = alpha[i], y[i]
        class_scores(rows, i, w, scores[i])
        if C[i] > 0.0:
            loss, _ = softmax(scores[i], scores[i], 0.0, own, a)
            losses += C[i] * loss
            total = 0.0
            for c in range(a.size):
                if c != own:
                    a[c] *= -C[i]
                    total -= a[c]
            a[own] = min(total, C[i])
            add_to_classes(rows, i, a, v)
    return losses


@kernel
def add_weights(rows: Rows, alpha: Matrix, v: Vector, begin: Index, end: Index) -> None:
    """v <- v + sum alpha_i (x) x_i over the rows begin to end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        add_to_classes(rows, i, alpha[i], v)


@kernel
def change(a: Vector, y: Index, C: float, t: Vector, u: Vector) -> None:
    """Set u to d(C p) along t, at the probabilities that ``a`` stands for."""
    mean, total = 0.0, 0.0
    for c in range(a.size):
        if c != y:
            mean -= a[c] * (t[c] - t[y])
    mean /= C
    for c in range(a.size):
        if c != y:
            u[c] = -a[c] * (t[c] - t[y] - mean)
            total += u[c]
    u[y] = -total


@array_kernel
def add_product(softmaxes: Softmax, d: Vector, out: Vector, begin: Index, end: Index) -> None:
    """out <- out + sum J_i (x) x_i x_i' d over the rows begin to end: a product with the losses' Hessian."""
    rows, C, y, _, alpha = softmaxes
    t, u = np.empty(alpha.shape[1]), np.empty(alpha.shape[1])
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            class_scores(rows, i, d, t)
            change(alpha[i], y[i], C[i], t, u)
            add_to_classes(rows, i, u, out)


@array_kernel
def add_diagonal(softmaxes: Softmax, out: Vector, begin: Index, end: Index) -> None:
    """out <- out + the diagonal of the losses' Hessian, of the rows begin to end."""
    rows, C, _, _, alpha = softmaxes
    h = np.empty(alpha.shape[1])
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            for c in range(h.size):
                h[c] = abs(alpha[i, c]) * (1.0 - abs(alpha[i, c]) / C[i])
            add_squares_to_classes(rows, i, h, out)


@array_kernel
def along_line(softmaxes: Softmax, t: Matrix, tau: float, begin: Index, end: Index) -> tuple[float, float]:
    """First and second derivative in tau of the losses at the scores + tau t, rows begin to end."""
    _, C, y, scores, alpha = softmaxes
    p = np.empty(alpha.shape[1])
    first, second = 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            own = y[i]
            softmax(scores[i], t[i], tau, own, p)
            mean, squares = 0.0, 0.0
            for c in range(p.size):
                if c != own:
                    mean += p[c] * (t[i, c] - t[i, own])
            for c in range(p.size):
                apart = t[i, c] - t[i, own] - mean
                squares += p[c] * apart * apart
            first += C[i] * mean
            second += C[i] * squares
    return first, second


@array_kernel
def propose(softmaxes: Softmax, t: Matrix, tau: float, out: Matrix, begin: Index, end: Index) -> float:
    """Set ``out`` to the dual variables, changed to first order by a step of tau t in the scores.

    Returns the smallest share of a probability that is left: below zero, ``out`` is not feasible.
    """
    _, C, y, _, alpha = softmaxes
    u = np.empty(alpha.shape[1])
    least = 1.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            own = y[i]
            change(alpha[i], own, C[i], t[i], u)
            total = 0.0
            for c in range(u.size):
                if c != own:
                    out[i, c] = alpha[i, c] - tau * u[c]
                    total -= out[i, c]
                    if alpha[i, c] < 0.0:
                        least = min(least, out[i, c] / alpha[i, c])
            out[i, own] = total
            least = min(least, 1.0 - total / C[i])
    return least


@array_kernel
def certify_rows(softmaxes: Softmax, kept: Matrix, begin: Index, end: Index) -> tuple[float, float, float]:
    """Largest violation, sum of losses and sum of gap terms of the rows begin to end, with dual variables ``kept``.

    The gap term is C_i times the Kullback-Leibler divergence of the probabilities that dual variables stand for from
    those of the scores; a violation is a difference of two of these probabilities.
    """
    _, C, y, scores, alpha = softmaxes
    p = np.empty(alpha.shape[1])
    violation, losses, gap = 0.0, 0.0, 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        if C[i] > 0.0:
            own = y[i]
            loss, log_total = softmax(scores[i], scores[i], 0.0, own, p)
            divergence = 0.0
            for c in range(p.size):
                asked = 1.0 - kept[i, c] / C[i] if c == own else -kept[i, c] / C[i]
                log_p = -loss if c == own else scores[i, c] - log_total
                divergence += excess(asked, exp(log_p), log_p)
                violation = max(violation, abs(asked - p[c]))
            losses += C[i] * loss
            gap += C[i] * divergence
    return violation, losses, gap
