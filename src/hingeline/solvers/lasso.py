"""The quadratic sub-problem of a proximal Newton step: a lasso, by adaptive frequencies over its columns.

    min_z   g'(z - w) + |u|^2/2 + sum_j (l1_j |z_j| + l2_j z_j^2/2),    u = root(h) X (z - w)

Where columns are few, the Hessian itself is computed, and a visit costs next to nothing.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..kernels.columns import Columns, squeeze, visit_columns, visit_gram
from ..kernels.schedule import Preferences
from .driver import Run
from .frequencies import Frequencies
from .operators import RowOperator
from .penalised import Penalised

INNER = 0.2  # share of the violation at which a sub-problem counts as solved
INNER_OF_GRAM, MOST_ROUNDS, RIDGE = 0.01, 200, 1e-12


class Seen(NamedTuple):
    """What the sweeps over a sub-problem have seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0


def lasso(
    primal: Penalised, run: Run, S: np.ndarray, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
) -> tuple[np.ndarray, Seen]:
    """Minimise the quadratic model over the columns S; returns their new weights."""
    columns = primal.columns
    total = int((columns.indptr[S + 1] - columns.indptr[S]).sum())
    sub = Columns(np.zeros(S.size + 1, np.uint64), np.empty(total, np.uint32), np.empty(total))
    norms = np.empty(S.size)
    for begin, end in primal.column_pace.slices(S.size):
        squeeze(columns, S.astype(np.uint64), primal.root, sub, norms, begin, end)
    g, l1, l2, z = primal.g[S], primal.l1[S], primal.l2[S], primal.w[S]
    u = np.zeros(primal.f.size)
    enough = inf
    for sweep in range(sweeps):
        I = frequencies.schedule(run)
        seen = seen._replace(v=0.0)
        for begin, end in run.visits.slices(I.size):
            how = (Preferences(), 1.0 / frequencies.n_active, frequencies.adapts, first and sweep == 0)
            seen = Seen(*visit_columns(sub, norms, g, l1, l2, z, u, frequencies.p, I, begin, end, enough, *how, seen))
        solved = seen.v <= INNER * primal.violation
        if solved and frequencies.complete:
            break
        enough = frequencies.next_sweep(seen.v, not solved)
    return z, seen


def gram_lasso(
    primal: Penalised, run: Run, S: np.ndarray, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
) -> tuple[np.ndarray, Seen]:
    """Minimise the quadratic model over the columns S with the Hessian at hand.

    Between sweeps the weights that are not zero go to their joint minimum, or to where the first of them meets zero.
    """
    operator = RowOperator(primal.problem, np.ones(primal.f.size), run.passes)
    H = np.zeros((primal.w.size, primal.w.size))
    operator.update_gram(primal.root * primal.root, np.zeros(primal.f.size), H)
    H += np.triu(H, 1).T
    H = np.ascontiguousarray(H[np.ix_(S, S)])
    H.flat[:: S.size + 1] += primal.l2[S]
    z, G, l1 = primal.w[S], primal.g[S] + primal.l2[S] * primal.w[S], primal.l1[S]
    for round_ in range(MOST_ROUNDS):
        I = frequencies.schedule(run)
        seen = seen._replace(v=0.0)
        for begin, end in run.visits.slices(I.size):
            how = (Preferences(), 1.0 / frequencies.n_active, frequencies.adapts, first and round_ == 0)
            seen = Seen(*visit_gram(H, G, l1, z, frequencies.p, I, begin, end, *how, seen))
        solved = seen.v <= INNER_OF_GRAM * primal.violation
        if solved and frequencies.complete:
            break
        if not solved:
            _joint_step(H, G, l1, z)
        frequencies.next_sweep(seen.v, not solved)
    return z, seen


def _joint_step(H: np.ndarray, G: np.ndarray, l1: np.ndarray, z: np.ndarray) -> None:
    """Newton's step for the weights that are not zero, up to where the first of them meets zero; G stays the slope."""
    A = np.flatnonzero(z)
    if A.size == 0:
        return
    K = H[np.ix_(A, A)]
    K.flat[:: A.size + 1] += RIDGE * float(np.max(np.diag(K)))  # columns may depend on each other
    _, step, info = lapack.dposv(K, -(G[A] + l1[A] * np.sign(z[A])), lower=True)
    if info != 0:
        return
    crossing = (l1[A] > 0.0) & (step * z[A] < 0.0) & (np.abs(step) >= np.abs(z[A]))
    shares = np.where(crossing, np.abs(z[A]) / np.where(crossing, np.abs(step), 1.0), 1.0)
    share = float(shares.min())
    moved = z[A] + share * step
    moved[crossing & (shares == share)] = 0.0
    G += H[:, A] @ (moved - z[A])
    z[A] = moved
