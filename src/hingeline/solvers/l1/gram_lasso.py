"""The sub-problem of a proximal Newton step over few columns: with a stored Hessian, a visit costs almost nothing.

Coordinate descent, and between some sweeps the weights that are not zero go to their joint minimum. The few may be all
columns, or those that are left in use of many.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...kernels.compile import array_kernel, kernel
from ...kernels.schedule import Learning, Preferences, accumulate, learn, shuffle, sum_preferences
from ...kernels.types import Generator, Indices, Matrix, Vector
from ..driver import Run
from ..newton_equation import solve_scaled
from ..visit_order import new_accounts
from ..weighted_gram import WeightedGram
from .active_set import solve_exactly
from .columns import near_part
from .one_weight import Seen, best_weight, subgradient
from .penalised import Penalised
from .quadratic import DenseQuadratic

LOOSEST, TIGHTEST = 0.1, 1e-3  # share of the violation at which a sub-problem counts as solved: less and less
EXACT = 1e-5  # times that
MOST_FALLEN = 1e-3  # share of its peak to which a curvature may fall by subtractions
STEPS_PER_WEIGHT = 4  # of the active set
PRODUCTS, LEAST_SWEEPS, MOST_SWEEPS = 2e5, 8, 500  # work between two joint steps: so many products, in sweeps


@kernel
def visit_weights(
    quadratic: DenseQuadratic, p: Vector, I: Indices, n: int, learning: Learning, seen: Seen
) -> tuple[int, float, float, float]:
    """Coordinate descent over the weights I[:n]."""
    H, G, l1, z, scale = quadratic
    steps, v, D_ref, gain = seen
    for s in range(np.uint64(n)):
        j = I[s]
        steps += 1
        v = max(v, subgradient(z[j], G[j], l1[j]) / scale[j])
        stepped, delta = best_weight(z[j], G[j], H[j, j], l1[j])
        mu = stepped - z[j]
        if mu != 0.0:
            z[j] = stepped
            for k in range(G.size):
                G[k] += mu * H[j, k]
        gain += delta
        p[j], D_ref = learn(learning, p[j], delta, D_ref)
    return steps, v, D_ref, gain


@array_kernel
def sweep_weights(
    quadratic: DenseQuadratic,
    p: Vector,
    accounts: Vector,
    I: Indices,
    rng: Generator,
    sweeps: int,
    goal: float,
    learning: Learning,
    seen: Seen,
) -> tuple[int, float, float, float]:
    """Sweep until a complete sweep sees no violation above ``goal``, at most ``sweeps`` times.

    The first sweep visits every weight once, those after it follow the preferences, and the last visits every weight
    again. Returns what was seen: visits, the last sweep's violation, the average gain, the whole gain.
    """
    steps, v, D_ref, gain = seen
    A = np.arange(p.size).astype(np.uint32)
    c, p_min, p_max, fading, adapts, _ = learning
    later = Learning(c, p_min, p_max, fading, adapts, False)
    complete = True
    for sweep in range(sweeps):
        n = p.size
        if complete or not adapts:
            I[:n] = A
        else:
            n = accumulate(p, A, accounts, I, 0, n, n / sum_preferences(p, A, 0, n), 0)
        shuffle(I, n, 0, n, rng)
        so_far = Seen(steps, 0.0, D_ref, gain)
        steps, v, D_ref, gain = visit_weights(quadratic, p, I, n, later if sweep > 0 else learning, so_far)
        if v <= goal and complete:
            break
        complete = v <= goal
    return steps, v, D_ref, gain


@kernel
def copy_symmetric(upper: Matrix, S: Indices, out: Matrix) -> None:
    """Copy the rows and columns S (in order) of a symmetric matrix from its upper triangle."""
    for a in range(S.size):
        for b in range(a, S.size):
            out[a, b] = upper[S[a], S[b]]
            out[b, a] = out[a, b]


class Goal:
    """How accurately sub-problems are solved."""

    def __init__(self) -> None:
        self._first_violation = 0.0

    def goal(self, violation: float) -> float:
        """Return the violation to which a sub-problem is solved: a share that falls as the run gets on."""
        if self._first_violation <= 0.0:
            self._first_violation = violation
            return LOOSEST * violation
        return violation * min(max(violation / self._first_violation, TIGHTEST), LOOSEST)


class GramInUse(Goal):
    """The losses' Hessian over some of many columns, computed from the columns themselves."""

    def at(self, primal: Penalised, S: Indices) -> Matrix:
        """Return the rows and columns S of the Hessian at the current expansion."""
        assert primal.columns is not None
        rows = np.flatnonzero(primal.h)
        indptr, indices, data = near_part(
            primal.columns, S.astype(np.uint64), rows, primal.problem.signs, primal.products.pace
        )
        of_rows = indices[: int(indptr[-1])].astype(np.int64)
        values = data[: of_rows.size] * np.sqrt(primal.h[rows])[of_rows]
        X = sparse.csc_array((values, of_rows, indptr.astype(np.int64)), shape=(rows.size, S.size))
        return np.ascontiguousarray((X.T @ X).toarray())


class Gram(Goal):
    """The losses' Hessian X' diag(h) X, brought up to date by the rows whose curvature has changed."""

    def __init__(self, primal: Penalised, run: Run) -> None:
        super().__init__()
        n, d = primal.f.size, primal.w.size
        data = primal.problem.data
        self._gram = WeightedGram(data.rows, data.distinct, run.clock.check)
        self._upper, self._counted, self._peak = np.zeros((d, d)), np.zeros(n), np.zeros(d)

    def at(self, primal: Penalised, S: Indices) -> Matrix:
        """Return the rows and columns S of the Hessian at the current expansion."""
        self._gram.add(primal.h - self._counted, self._upper)
        self._counted[:] = primal.h
        np.maximum(self._peak, self._upper.diagonal(), out=self._peak)
        if (self._upper.diagonal() < MOST_FALLEN * self._peak).any():  # what is left is full of rounding
            self._upper[:] = 0.0
            self._gram.add(primal.h, self._upper)
            self._peak[:] = self._upper.diagonal()
        H = np.empty((S.size, S.size))
        copy_symmetric(self._upper, S, H)
        return H


def gram_lasso(
    primal: Penalised,
    gram: Gram | GramInUse,
    S: Indices,
    p: Vector,
    rng: Generator,
    seen: Seen,
    adapts: bool,
    first: bool,
    exactly: bool,
) -> tuple[Vector, Seen]:
    """Minimise the quadratic model over the columns S with the Hessian at hand; p, their preferences, adapt.

    ``exactly`` says that a rough minimum has not been good enough before.
    """
    H = gram.at(primal, S)
    H.flat[:: S.size + 1] += primal.l2[S]
    z, G, l1 = primal.w[S], primal.g[S] + primal.l2[S] * primal.w[S], primal.l1[S]
    diagonal = np.diag(H)
    scale = np.where(diagonal > 0.0, np.sqrt(diagonal), 1.0)
    quadratic = DenseQuadratic(H, G, l1, z, scale)
    accounts, I = new_accounts(S.size), np.empty(2 * S.size, dtype=np.uint32)
    goal = gram.goal(float(np.max(primal.violations[S] / scale))) * (EXACT if exactly else 1.0)
    sweeps = int(min(max(PRODUCTS / H.size, LEAST_SWEEPS), MOST_SWEEPS))
    learning = Learning(*Preferences(), 1.0 / S.size, adapts, first)

    def solved_to(goal: float, seen: Seen) -> Seen:
        seen = Seen(*sweep_weights(quadratic, p, accounts, I, rng, sweeps, goal, learning, seen))
        if seen.v <= goal:
            return seen
        gain = seen.gain + _joint_step(quadratic)
        primal.pace.between()
        return seen._replace(gain=gain + solve_exactly(quadratic, goal, STEPS_PER_WEIGHT * S.size))

    seen = solved_to(goal, seen)
    finest = primal.finest_excess(seen.gain) / float(scale.max())
    return z, seen if goal <= finest else solved_to(finest, seen)


def _joint_step(quadratic: DenseQuadratic) -> float:
    """Newton's step for the weights that are not zero; G stays the slope. Returns the gain.

    Weights that would change their sign become zero, if the model falls that way; else the first of them ends the step.
    """
    H, G, l1, z, _ = quadratic
    A = np.flatnonzero(z)
    if A.size == 0:
        return 0.0
    K = H[np.ix_(A, A)]
    at, slope = z[A], G[A] + l1[A] * np.sign(z[A])
    step = solve_scaled(K.copy(), -slope)
    crossing = (l1[A] > 0.0) & (step * at < 0.0) & (np.abs(step) >= np.abs(at))
    to = np.where(crossing, 0.0, at + step)
    gain = _gain(K, slope, to - at)
    if not gain > 0.0:
        shares = np.where(crossing, np.abs(at) / np.where(crossing, np.abs(step), 1.0), 1.0)
        share = float(shares.min())
        to = at + share * step
        to[crossing & (shares == share)] = 0.0
        gain = _gain(K, slope, to - at)
    d = np.zeros_like(z)
    d[A] = to - at
    G += H @ d
    z[A] = to
    return gain


def _gain(K: Matrix, slope: Vector, d: Vector) -> float:
    """Return how much the model falls along d."""
    return -float(slope @ d) - 0.5 * float(d @ (K @ d))
