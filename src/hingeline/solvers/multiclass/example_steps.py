"""Steps of Crammer and Singer's classifier: the sub-problem of one example, and sweeps over many.

With G_c = <x_i, w_c> + [c != y_i] and bounds U_c = C_i [c = y_i], the dual of example i alone is, from its present
alpha (one entry per class),

    max_delta  -sum_c G_c delta_c - q_i |delta|^2/2,    alpha_c + delta_c <= U_c,   sum_c delta_c = 0,

solved by alpha_c = U_c - max(0, D_c - beta)/q_i with D_c = G_c + q_i (U_c - alpha_c) and beta such that the excesses
sum_c max(0, D_c - beta) make q_i C_i: the projection onto a simplex (Keerthi et al., 2008).

Most classes are irrelevant to an example: those whose variables press against their bounds are left out until all are
looked at again, and a visit costs what the remaining, live ones cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.lookahead import RECORD_AHEAD, ROW_AHEAD, WEIGHTS_AHEAD
from ...kernels.prefetch import prefetch
from ...kernels.rows import prefetch_pointers, prefetch_row
from ...kernels.schedule import Learning, learn
from ...kernels.types import Index, Indices, Vector
from .example_passes import Examples
from .row_verbs import class_axpy, class_scores, prefetch_classes, some_class_scores

TINY, SMALLEST = 1e-6, 5e-324  # a share that rounding makes too little of; a total instead of one that underflowed


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0


@kernel
def threshold(D: Vector, total: float) -> tuple[float, int]:
    """Return beta with sum_c max(0, D_c - beta) = total, and how many entries exceed it, at least one.

    If the total is tiny compared with the entries of D, these are shifted so that the largest is 0: then even a tiny
    total counts. beta grows from below, so each round only drops entries (Michelot's method); usually two or three.
    """
    largest = D[0]
    for c in range(1, D.size):
        largest = max(largest, D[c])
    if total < TINY * abs(largest):
        for c in range(D.size):
            D[c] -= largest
        largest = 0.0
    beta, count = largest - max(total, SMALLEST), D.size + 1
    while True:
        s, above = 0.0, 0
        for c in range(D.size):
            if D[c] > beta:
                s += D[c]
                above += 1
        if above == 0 or above >= count:  # zero if a total next to the smallest number was divided
            return beta, max(above, 1)
        beta, count = (s - total) / above, above


@kernel
def best_entry(D: float, beta: float, above: int, q: float, U: float, C: float) -> float:
    """Return the dual variable of one class at the threshold ``beta`` that ``above`` classes exceed."""
    if D > beta:
        return U - (C if above == 1 else min(C, (D - beta) / q))
    return U


@kernel
def slack_at_vertex(G: Vector, alpha: Vector, y: Index, C: float, live: Indices, n: int) -> float:
    """Return how firmly an example sits at a corner of its box: the lead of its class over the others; -1 if not.

    The corners are alpha = 0, led by y, and alpha_y = C, alpha_c = -C, led by c. G holds the scores of live[:n].
    """
    lead = y
    if alpha[y] == C:
        for a in range(n):
            c = live[a]
            if c != y and alpha[c] != 0.0:
                if alpha[c] != -C:
                    return -1.0
                lead = c
    elif alpha[y] != 0.0:
        return -1.0
    first, second = -np.inf, -np.inf
    for a in range(n):
        if live[a] == lead:
            first = G[a]
        else:
            second = max(second, G[a])
    return first - second


@kernel
def live_terms(G: Vector, alpha: Vector, y: Index, C: float, live: Indices, n: int) -> tuple[float, float]:
    """Violation and gap term as ``terms`` has them, over the classes live[:n] with scores G[:n]."""
    largest, least, gap = G[0], np.inf, 0.0
    for a in range(1, n):
        largest = max(largest, G[a])
    for a in range(n):
        c = live[a]
        room = (C if c == y else 0.0) - alpha[c]
        if room > 0.0:
            least = min(least, G[a])
            gap += room * (largest - G[a])
    return largest - least, gap


@kernel
def live_classes(G: Vector, alpha: Vector, y: Index, C: float, live: Indices, n: int) -> int:
    """Move the classes of live[:n] that an example may still use to the front, scores too; returns their number.

    A class at its bound leaves if it scores less than every class with room: its variable presses against the bound.
    At least two remain, so that one can lead the other.
    """
    least = np.inf
    for a in range(n):
        c = live[a]
        if alpha[c] < (C if c == y else 0.0):
            least = min(least, G[a])
    kept, best, best_score = 0, live[0], -np.inf
    for a in range(n):
        c, score = live[a], G[a]
        if alpha[c] < (C if c == y else 0.0) or score >= least:
            live[kept], G[kept] = c, score
            kept += 1
        elif score > best_score:
            best, best_score = c, score
    if kept == 1 and n > 1:
        live[1], G[1] = best, best_score
        kept = 2
    return kept


@array_kernel
def visit_examples(
    examples: Examples,
    p: Vector,
    I: Indices,
    begin: Index,
    end: Index,
    enough: float,
    shrinks: bool,
    once: bool,
    learning: Learning,
    seen: Seen,
) -> tuple[int, float, float, float, float]:
    """Solve the sub-problems of the examples I[begin:end], one after the other, each over its live classes.

    Examples that sit at a corner with a lead above ``enough`` leave the active set: the sign of p_i is flipped.
    ``shrinks`` says that classes may leave an example, ``once`` that the sweep visits every example once.
    """
    rows, q, C, y, alpha, w, live, n_live = examples
    steps, v, D_ref, gain, gap = seen
    k = alpha.shape[1]
    G, D, step, changed = np.empty(k), np.empty(k), np.empty(k), np.empty(k, dtype=np.uint64)
    for s in range(np.uint64(begin), np.uint64(end)):
        if s + RECORD_AHEAD < np.uint64(I.size):
            far = I[s + RECORD_AHEAD]
            prefetch(q, far)
            prefetch(n_live, far)
            prefetch_pointers(rows, far)
            prefetch_row(rows, I[s + ROW_AHEAD])
            prefetch_classes(rows, I[s + WEIGHTS_AHEAD], w, k)
        i = I[s]
        if p[i] < 0.0:
            continue
        steps += 1
        a, yi, Ci, qi, mine, n = alpha[i], y[i], C[i], q[i], live[i], n_live[i]
        if n == k:
            class_scores(rows, i, w, G)
            for c in range(k):
                mine[c] = c
        else:
            some_class_scores(rows, i, w, mine, n, k, G)
        for e in range(n):
            G[e] += 0.0 if mine[e] == yi else 1.0
        if slack_at_vertex(G, a, yi, Ci, mine, n) > enough:
            p[i] = -p[i]
            continue
        violation, term = live_terms(G, a, yi, Ci, mine, n)
        v = max(v, violation)
        gap += term if once else term / p[i]  # rarely visited examples count for more
        if shrinks:
            n = live_classes(G, a, yi, Ci, mine, n)
            n_live[i] = n
        delta = 0.0
        if violation > 0.0:
            for e in range(n):
                c = mine[e]
                D[e] = G[e] + qi * ((Ci if c == yi else 0.0) - a[c])
            beta, above = threshold(D[:n], qi * Ci)
            moved = 0
            for e in range(n):
                c = mine[e]
                new = best_entry(D[e], beta, above, qi, Ci if c == yi else 0.0, Ci)
                mu = new - a[c]
                if mu != 0.0:
                    changed[moved], step[moved] = c, mu
                    moved += 1
                    a[c] = new
                    delta -= mu * (G[e] + 0.5 * qi * mu)
            class_axpy(rows, i, changed, step, moved, k, w)
            gain += delta
        p[i], D_ref = learn(learning, p[i], delta, D_ref)
    return steps, v, D_ref, gain, gap
