"""The paper's algorithms in slow, readable NumPy: what the engines do, visit by visit.

Written like the pseudo-code, with the points that it leaves open settled as in ``docs/algorithm.md``. Random numbers
come from the engines' own generator in the same order, and preferences are kept in float32 as in the engines' records,
so a reference run and an engine's run with the same seed visit the same variables in the same order, until roundings
begin to decide: the order of a sum differs, and so does the sweep in which a run stops.

Notation: rows x_i, labels y_i, w = sum_i alpha_i y_i x_i, g_i = dW/dalpha_i, bounds 0 <= alpha_i <= U_i. For the hinge
U_i = C_i and D_i = 0; for the squared hinge U_i is infinite and D_i = 1/(2 C_i) is added to the dual's diagonal.
"""

from __future__ import annotations

from math import exp, floor, inf

import numpy as np

from hingeline import Hinge
from hingeline.kernels.random import plain_below, plain_uniform, seeded


class Dual:
    """max  sum_i alpha_i - |w|^2/2 - sum_i D_i alpha_i^2/2   over   0 <= alpha_i <= U_i."""

    def __init__(self, X, y, loss, *, weights=1.0, bias=0.0):
        n = len(y)
        self.x = np.column_stack([np.asarray(X, dtype=np.float64), np.full(n, bias)])
        self.y = np.asarray(y, dtype=np.float64)
        self.q = np.sum(self.x**2, axis=1)
        self.C = np.full(n, loss.C * np.asarray(weights, dtype=np.float64))
        self.hinge = isinstance(loss, Hinge)
        self.U = self.C if self.hinge else np.full(n, inf)
        self.D = np.zeros(n) if self.hinge else 0.5 / np.where(self.C > 0.0, self.C, inf)
        self.alpha, self.w = np.zeros(n), np.zeros(self.x.shape[1])
        # Rows of zeros are solved at once and leave the problem; so do rows of no weight.
        zeros = self.q == 0.0
        self.alpha[zeros] = self.C[zeros] if self.hinge else 2.0 * self.C[zeros]
        self.variables = [i for i in range(n) if self.q[i] > 0.0 and self.C[i] > 0.0]

    def gradient(self, i):
        return 1.0 - self.y[i] * (self.x[i] @ self.w) - self.D[i] * self.alpha[i]

    def step(self, i, g):
        """Maximise the dual in variable i alone; returns mu and the gain."""
        curvature = self.q[i] + self.D[i]
        stepped = min(max(self.alpha[i] + g / curvature, 0.0), self.U[i])  # a bound is met exactly
        mu = stepped - self.alpha[i]
        self.alpha[i] = stepped
        self.w += mu * self.y[i] * self.x[i]
        return mu, mu * (g - mu / 2.0 * curvature)


def shuffle(order, rng):
    """Fisher-Yates, in place."""
    for s in range(len(order)):
        r = s + plain_below(rng, len(order) - s)
        order[s], order[r] = order[r], order[s]


def baseline(dual, eps, seed, max_sweeps=inf):
    """Algorithm 2: uniform sweeps over the active set A, with hard shrinking; returns their number."""
    rng, sweeps = seeded(seed), 0
    A = list(dual.variables)
    v_min_old, v_max_old = -inf, inf
    while sweeps < max_sweeps:
        v_min, v_max = inf, -inf
        shuffle(A, rng)
        remaining = []
        for i in A:
            g = dual.gradient(i)
            at_zero, at_top = dual.alpha[i] == 0.0, dual.alpha[i] == dual.U[i]
            if (at_zero and g < v_min_old) or (at_top and g > v_max_old):
                continue  # A <- A without i
            remaining.append(i)
            # Settled: the projected gradient is tracked, zeros included; raw ones would end training after one sweep.
            v = 0.0 if (at_zero and g < 0.0) or (at_top and g > 0.0) else g
            v_min, v_max = min(v_min, v), max(v_max, v)
            dual.step(i, g)
        A = remaining
        sweeps += 1
        if max(v_max, 0.0) - min(v_min, 0.0) < eps:  # settled: zero included, so violations of equal size do not pass
            if len(A) == len(dual.variables):
                break
            A = list(dual.variables)
            v_min_old, v_max_old = -inf, inf
        else:
            v_min_old = v_min if v_min < 0.0 else -inf
            v_max_old = v_max if v_max > 0.0 else inf
    return sweeps


def avsf(dual, eps, seed, max_sweeps=inf):
    """Algorithm 3: sweeps along schedules that follow adaptive preferences p; returns their number."""
    rng, sweeps = seeded(seed), 0
    p = np.ones(len(dual.y), dtype=np.float32)
    D_ref, can_stop = 0.0, True
    while sweeps < max_sweeps:
        v = 0.0
        I = define_schedule(p, dual.variables, rng)
        shuffle(I, rng)
        for i in I:
            g = dual.gradient(i)
            if dual.alpha[i] > 0.0 and -g > v:
                v = -g
            if dual.alpha[i] < dual.U[i] and g > v:
                v = g
            _, gain = dual.step(i, g)
            p[i], D_ref = update_preference(float(p[i]), gain, D_ref, len(I), first_sweep=sweeps == 0)
        sweeps += 1
        if v < eps:
            if can_stop:
                break
            p[:] = 1.0
            can_stop = True
        else:
            can_stop = False
    return sweeps


def define_schedule(p, variables, rng):
    """Algorithm 4: l variables, i about p_i l / sum_j p_j times."""
    l = len(variables)
    N = float(np.sum(p[variables], dtype=np.float64))  # settled: summed afresh, since a running sum drifts
    I = []
    for i in variables:
        left = l - len(I)
        m = float(p[i]) * left / N if N > 0.0 else 0.0
        n = floor(m)
        if plain_uniform(rng) < m - n:
            n += 1
        n = left if i == variables[-1] else min(n, left)  # settled: clamped, so that the length is exactly l
        I += [i] * n
        N -= float(p[i])
    return I


def update_preference(p, gain, D_ref, l, *, first_sweep, c=1 / 5, p_min=1 / 20, p_max=20.0):
    """Algorithm 5: returns the new preference and the new fading average of gains."""
    if first_sweep:  # settled: the very first one only
        return p, D_ref + gain / l
    if D_ref > 0.0:  # settled: p is left alone if there is no average to compare with
        h = c * (gain / D_ref - 1.0)
        p = min(max(exp(min(h, 30.0)) * p, p_min), p_max)
    return p, (1.0 - 1.0 / l) * D_ref + gain / l


ALGORITHMS = {"baseline": baseline, "avsf": avsf}


def certificate(dual):
    """Return the exact violation, primal, dual and gap at w = sum_i alpha_i y_i x_i, from their definitions."""
    w = (dual.alpha * dual.y) @ dual.x
    part = dual.C > 0.0
    m = (1.0 - dual.y * (dual.x @ w))[part]
    C, U, D, alpha = dual.C[part], dual.U[part], dual.D[part], dual.alpha[part]
    g = m - D * alpha
    projected = np.where(((alpha == 0.0) & (g < 0.0)) | ((alpha == U) & (g > 0.0)), 0.0, g)
    xi = np.maximum(m, 0.0)
    primal = 0.5 * w @ w + np.sum(C * (xi if dual.hinge else xi**2))
    dual_value = np.sum(alpha) - 0.5 * w @ w - 0.5 * np.sum(D * alpha**2)
    return np.abs(projected).max(), primal, dual_value, (primal - dual_value) / primal
