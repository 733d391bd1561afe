"""The sub-problem of a proximal Newton step where columns are few: with the Hessian, visits cost next to nothing."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...kernels.schedule import Preferences
from ..driver import Run
from ..newton.operators import RowOperator
from ..visit_order import new_accounts
from .gram_sweeps import sweep_gram
from .lasso import Seen
from .penalised import Penalised

LOOSEST, TIGHTEST = 0.1, 1e-3  # share of the violation at which a sub-problem counts as solved: less and less
MOST_ROUNDS, RIDGE = 50, 1e-12
PRODUCTS, LEAST_SWEEPS, MOST_SWEEPS = 2e5, 8, 500  # work between two joint steps: so many products, in sweeps


class Gram:
    """The losses' Hessian X' diag(h) X, brought up to date by the rows whose curvature has changed."""

    def __init__(self, primal: Penalised, run: Run) -> None:
        n, d = primal.f.size, primal.w.size
        self._operator = RowOperator(primal.problem, np.empty(0), run.passes)
        self._upper, self._counted = np.zeros((d, d)), np.zeros(n)
        self.first_violation = primal.violation

    def at(self, primal: Penalised, S: np.ndarray) -> np.ndarray:
        """Return the rows and columns S of the Hessian at the present expansion."""
        self._operator.update_gram(primal.h, self._counted, self._upper)
        H = np.triu(self._upper) + np.triu(self._upper, 1).T
        return np.ascontiguousarray(H[np.ix_(S, S)])


def gram_lasso(
    primal: Penalised, gram: Gram, S: np.ndarray, p: np.ndarray, rng: np.ndarray, seen: Seen, adapts: bool, first: bool
) -> tuple[np.ndarray, Seen]:
    """Minimise the quadratic model over the columns S with the Hessian at hand; p, their preferences, adapt.

    Between some sweeps the weights that are not zero go to their joint minimum.
    """
    H = gram.at(primal, S)
    H.flat[:: S.size + 1] += primal.l2[S]
    z, G, l1 = primal.w[S], primal.g[S] + primal.l2[S] * primal.w[S], primal.l1[S]
    visits, I = new_accounts(S.size), np.empty(2 * S.size, dtype=np.uint32)
    goal = primal.violation * min(max(primal.violation / gram.first_violation, TIGHTEST), LOOSEST)
    sweeps = int(min(max(PRODUCTS / H.size, LEAST_SWEEPS), MOST_SWEEPS))
    for round_ in range(MOST_ROUNDS):
        how = (Preferences(), adapts, first and round_ == 0)
        seen = Seen(*sweep_gram(H, G, l1, z, p, visits, I, rng, sweeps, goal, *how, seen))
        if seen.v <= goal:
            break
        seen = seen._replace(gain=seen.gain + _joint_step(H, G, l1, z))
        primal.pace.between()
    return z, seen


def _joint_step(H: np.ndarray, G: np.ndarray, l1: np.ndarray, z: np.ndarray) -> float:
    """Newton's step for the weights that are not zero; G stays the slope. Returns the gain.

    Those that would change their sign become zero, if the model falls that way; else the first of them ends the step.
    """
    A = np.flatnonzero(z)
    if A.size == 0:
        return 0.0
    K = H[np.ix_(A, A)]
    at, slope = z[A], G[A] + l1[A] * np.sign(z[A])
    ridged = K.copy()
    ridged.flat[:: A.size + 1] += RIDGE * float(np.max(np.diag(K)))  # columns may depend on each other
    _, step, info = lapack.dposv(ridged, -slope, lower=True)
    if info != 0:
        return 0.0
    crossing = (l1[A] > 0.0) & (step * at < 0.0) & (np.abs(step) >= np.abs(at))
    to = np.where(crossing, 0.0, at + step)
    gain = _gain(K, slope, to - at)
    if not gain > 0.0:
        shares = np.where(crossing, np.abs(at) / np.where(crossing, np.abs(step), 1.0), 1.0)
        share = float(shares.min())
        to = at + share * step
        to[crossing & (shares == share)] = 0.0
        gain = _gain(K, slope, to - at)
    G += H[:, A] @ (to - at)
    z[A] = to
    return gain


def _gain(K: np.ndarray, slope: np.ndarray, d: np.ndarray) -> float:
    """Return how much the model falls along d."""
    return -float(slope @ d) - 0.5 * float(d @ (K @ d))
