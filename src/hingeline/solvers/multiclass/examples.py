"""The sub-problem of one example in Crammer and Singer's machine, its visit, and the certificate's terms.

With G_c = <x_i, w_c> + [c != y_i] and bounds U_c = C_i [c = y_i], the dual of example i alone is, from its present
alpha (one entry a class),

    max_delta  -sum_c G_c delta_c - q_i |delta|^2/2,    alpha_c + delta_c <= U_c,   sum_c delta_c = 0,

solved by alpha_c = U_c - max(0, D_c - beta)/q_i with D_c = G_c + q_i (U_c - alpha_c) and beta such that the excesses
sum_c max(0, D_c - beta) make q_i C_i: the projection onto a simplex (Keerthi et al., 2008).

Most classes are out of the question for an example: those whose variables press against their bounds leave it until all
are looked at again, and a visit costs what the live ones cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel, prefetch
from ...kernels.lookahead import RECORD_AHEAD, ROW_AHEAD, WEIGHTS_AHEAD
from ...kernels.rows import prefetch_pointers, prefetch_row
from ...kernels.schedule import adapted
from .classes import class_axpy, class_scores, prefetch_classes, some_class_scores


@kernel
def threshold(D: Any, total: Any) -> Any:
    """Return beta with sum_c max(0, D_c - beta) = total > 0, and how many entries exceed it.

    From below, so that each round only drops entries (Michelot's method); two or three rounds are the rule.
    """
    beta = D[0]
    for c in range(1, D.size):
        beta = max(beta, D[c])
    beta -= total
    count = D.size + 1
    while True:
        s, above = 0.0, 0
        for c in range(D.size):
            if D[c] > beta:
                s += D[c]
                above += 1
        if above == 0 or above >= count:
            return beta, max(above, 1)
        beta, count = (s - total) / above, above


@kernel
def slack_at_vertex(G: Any, alpha: Any, y: Any, C: Any, live: Any, n: Any) -> Any:
    """How firmly an example sits at a corner of its box: by how much its class leads the others; -1 elsewhere.

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
def terms(G: Any, alpha: Any, y: Any, C: Any) -> Any:
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


@kernel
def live_terms(G: Any, alpha: Any, y: Any, C: Any, live: Any, n: Any) -> Any:
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
def live_classes(G: Any, alpha: Any, y: Any, C: Any, live: Any, n: Any) -> Any:
    """Move the classes of live[:n] that an example may still use to the front, scores too; returns their number.

    A class at its bound leaves where it scores less than every class with room: its variable presses against the bound.
    Two remain at the least, so that there is a lead to speak of.
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


@kernel
def visit(
    rows: Any, alpha: Any, q: Any, C: Any, y: Any, p: Any, w: Any, live: Any, n_live: Any, I: Any, begin: Any, end: Any,
    enough: Any, shrinks: Any, preferences: Any, fading: Any, adapts: Any, once: Any, first_sweep: Any, scratch: Any,
    seen: Any,
) -> Any:  # fmt: skip
    """Solve the sub-problems of the examples I[begin:end], one after the other, each over its live classes.

    Examples that sit at a corner with a lead above ``enough`` leave the active set: the sign of p_i is turned.
    ``scratch`` has three rows of k numbers, and ``changed`` the classes that moved.
    """
    steps, v, D_ref, gain, gap = seen
    k = alpha.shape[1]
    G, D, step = scratch[0], scratch[1], scratch[2]
    changed = np.empty(k, dtype=np.uint64)
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
        gap += term if once else term / p[i]  # seldom visited examples stand for more
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
                U = Ci if c == yi else 0.0
                new = U
                if D[e] > beta:
                    new = U - (Ci if above == 1 else min(Ci, (D[e] - beta) / qi))
                mu = new - a[c]
                if mu != 0.0:
                    changed[moved], step[moved] = c, mu
                    moved += 1
                    a[c] = new
                    delta -= mu * (G[e] + 0.5 * qi * mu)
            class_axpy(rows, i, changed, step, moved, k, w)
            gain += delta
        if first_sweep:
            D_ref += fading * delta
        else:
            if adapts:
                p[i] = adapted(preferences, p[i], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v, D_ref, gain, gap


@kernel
def add_class_weights(rows: Any, alpha: Any, w: Any, scratch: Any, begin: Any, end: Any) -> None:
    """w_c <- w_c + sum alpha_ic x_i over the rows begin to end."""
    k = alpha.shape[1]
    changed = np.empty(k, dtype=np.uint64)
    step = scratch[0]
    for i in range(np.uint64(begin), np.uint64(end)):
        n = 0
        for c in range(k):
            if alpha[i, c] != 0.0:
                changed[n], step[n] = c, alpha[i, c]
                n += 1
        if n > 0:
            class_axpy(rows, i, changed, step, n, k, w)


@kernel
def certify_examples(rows: Any, alpha: Any, C: Any, y: Any, w: Any, scratch: Any, begin: Any, end: Any) -> Any:
    """Largest violation, sum of losses and sum of gap terms over the rows begin to end at fixed w."""
    G = scratch[0]
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
