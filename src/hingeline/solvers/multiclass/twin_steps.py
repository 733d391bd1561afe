"""Examples with equal rows and different labels: Crammer and Singer's sub-problem of all of them at once.

Such examples contradict each other and pull w back and forth: a step of one undoes that of the other, except for a
drift of about 1/q_i in their alpha, so about C_i q_i steps of single examples are needed to reach the bounds. Together
they cost one look at the row: with s_c = <x, w_c>, a step of member i changes s by q delta and needs nothing else. Each
round takes a step of every member, and then goes on along the sum of these steps as far as that gains: if they cancel
each other in w, only the bounds stop it.
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import array_kernel, kernel
from ...kernels.types import Index, Indices, Matrix, Vector
from .example_passes import Examples
from .example_steps import best_entry, threshold
from .row_verbs import class_axpy, class_scores
from .twins import Twins

MOST_ROUNDS = 30
NOISE = 1e-12  # a gain below this fraction of its terms is only rounding
NEAR_BOUND = 1e-14  # relative distance at which alpha sits at its bound
WORTH_A_ROUND = 0.1  # fraction of the gain so far that the last round must have added


@kernel
def own_step(s: Vector, a: Vector, y: Index, C: float, q: float, D: Vector, step: Vector) -> float:
    """Solve one member's sub-problem, all classes, at the scores s: sets ``a`` and s, returns the gain."""
    for c in range(s.size):
        D[c] = s[c] + (q * (C - a[c]) if c == y else 1.0 - q * a[c])
    beta, above = threshold(D, q * C)
    gain = 0.0
    for c in range(s.size):
        new = best_entry(D[c], beta, above, q, C if c == y else 0.0, C)
        step[c] = new - a[c]
        a[c] = new
        gain -= step[c] * (s[c] + (0.0 if c == y else 1.0) + 0.5 * q * step[c])
    for c in range(s.size):
        s[c] += q * step[c]
    return gain


@kernel
def leap(
    s: Vector, alpha: Matrix, y: Indices, C: Vector, q: float, members: Indices, steps: Matrix, along: Vector
) -> float:
    """Go on along ``steps``, the members' steps of a round, to the best point or the first bound; returns the gain.

    ``along`` becomes what w gains by it, in units of the row. The steps are small compared with alpha, so a long leap
    magnifies their rounding: if that leads out of the box, or gains nothing, it is not taken. ``steps`` is overwritten.
    """
    k = s.size
    most, slope, curvature = np.inf, 0.0, 0.0
    along[:] = 0.0
    for e in range(members.size):
        i = members[e]
        for c in range(k):
            d = steps[e, c]
            along[c] += d
            slope -= d * (s[c] + (0.0 if c == y[i] else 1.0))
            if d > 0.0:
                most = min(most, ((C[i] if c == y[i] else 0.0) - alpha[i, c]) / d)
    for c in range(k):
        curvature += q * along[c] * along[c]
    t = slope / curvature if slope < most * curvature else most
    along[:] = 0.0
    if not 0.0 < t < np.inf:
        return 0.0
    gain, size, infeasible = 0.0, 0.0, False
    for e in range(members.size):
        i = members[e]
        own = 0.0
        for c in range(k):
            if c != y[i]:
                d, old = steps[e, c], alpha[i, c]
                new = 0.0 if d > 0.0 and -old / d <= t else min(0.0, old + t * d)
                steps[e, c] = new
                own -= new
        at_bound = abs(own - C[i]) <= NEAR_BOUND * C[i]
        infeasible |= own > C[i] and not at_bound
        steps[e, y[i]] = C[i] if at_bound else own  # the sum stays zero, however far it goes
        for c in range(k):
            d = steps[e, c] - alpha[i, c]
            along[c] += d
            term = d * (s[c] + (0.0 if c == y[i] else 1.0))
            gain -= term
            size += abs(term)
    for c in range(k):
        gain -= 0.5 * q * along[c] * along[c]
    if infeasible or gain <= NOISE * size:
        along[:] = 0.0
        return 0.0
    for e in range(members.size):
        for c in range(k):
            alpha[members[e], c] = steps[e, c]
    for c in range(k):
        s[c] += q * along[c]
    return gain


@array_kernel
def settle_twins(examples: Examples, twins: Twins, begin: Index, end: Index) -> tuple[int, float]:
    """Solve the sub-problems of the groups begin to end, whose members get all classes live; returns steps and gain."""
    rows, q, C, y, alpha, w, _, n_live = examples
    members, first = twins
    k = alpha.shape[1]
    largest = 0
    for g in range(begin, end):
        largest = max(largest, first[g + 1] - first[g])
    s, D, along, total, moves = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty((largest, k))
    changed = np.empty(k, dtype=np.uint64)
    n_steps, gain = 0, 0.0
    for g in range(begin, end):
        group = members[first[g] : first[g + 1]]
        x = np.uint64(group[0])
        class_scores(rows, x, w, s)
        total[:] = 0.0
        gained = leapt = 0.0
        for n_round in range(MOST_ROUNDS):
            stepped = 0.0
            for e in range(group.size):
                i = group[e]
                n_live[i] = k
                stepped += own_step(s, alpha[i], y[i], C[i], q[x], D, moves[e])
                for c in range(k):
                    total[c] += moves[e, c]
            n_steps += group.size
            gained += stepped
            # Steps come last: they put what a leap has left next to a bound exactly there.
            if n_round == MOST_ROUNDS - 1 or leapt + stepped <= WORTH_A_ROUND * gained:
                break
            leapt = leap(s, alpha, y, C, q[x], group, moves, along)
            for c in range(k):
                total[c] += along[c]
            gained += leapt
        gain += gained
        n = 0
        for c in range(k):
            if total[c] != 0.0:
                changed[n], total[n] = c, total[c]
                n += 1
        class_axpy(rows, x, changed, total, n, k, w)
    return n_steps, gain
