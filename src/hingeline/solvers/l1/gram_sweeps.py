"""Coordinate descent where the Hessian is at hand: few columns, and a visit costs as much as there are columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.compile import kernel
from ...kernels.schedule import accumulate, adapted, shuffle, sum_preferences
from .columns import best_weight, subgradient


@kernel
def visit_gram(
    H: Any, G: Any, l1: Any, z: Any, p: Any, I: Any, n: Any,
    preferences: Any, fading: Any, adapts: Any, first: Any, seen: Any,
) -> Any:  # fmt: skip
    """Coordinate descent over I[:n] like ``visit_columns``; H holds l2 too, G is the slope at z."""
    steps, v, D_ref, gain = seen
    for s in range(np.uint64(n)):
        j = I[s]
        steps += 1
        v = max(v, subgradient(z[j], G[j], l1[j]))
        stepped, delta = best_weight(z[j], G[j], H[j, j], l1[j])
        mu = stepped - z[j]
        if mu != 0.0:
            z[j] = stepped
            for k in range(G.size):
                G[k] += mu * H[j, k]
        gain += delta
        if first:
            D_ref += fading * delta
        else:
            if adapts:
                p[j] = adapted(preferences, p[j], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v, D_ref, gain


@kernel
def sweep_gram(
    H: Any, G: Any, l1: Any, z: Any, p: Any, visits: Any, I: Any, rng: Any, sweeps: Any, goal: Any,
    preferences: Any, adapts: Any, first: Any, seen: Any,
) -> Any:  # fmt: skip
    """Sweep until a complete one sees no violation above ``goal``, ``sweeps`` times at the most.

    The first sweep visits everyone once, those after it follow the preferences, and the last everyone again. Returns
    what was seen: visits, the last sweep's violation, the average gain, the whole gain.
    """
    steps, v, D_ref, gain = seen
    A = np.arange(z.size).astype(np.uint32)
    complete = True
    for sweep in range(sweeps):
        n = z.size
        if complete or not adapts:
            I[:n] = A
        else:
            n = accumulate(p, A, visits, I, 0, n, n / sum_preferences(p, A, 0, n), 0)
        shuffle(I, n, 0, n, rng)
        how = (preferences, 1.0 / z.size, adapts, first and sweep == 0)
        steps, v, D_ref, gain = visit_gram(H, G, l1, z, p, I, n, *how, (steps, 0.0, D_ref, gain))
        if v <= goal and complete:
            break
        complete = v <= goal
    return steps, v, D_ref, gain
