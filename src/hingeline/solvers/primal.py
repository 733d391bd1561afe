"""L1-regularised and elastic-net problems: proximal Newton, each step a lasso by adaptive frequencies over columns.

Problem    min_w   F(w) = sum_j (l1_j |w_j| + l2_j w_j^2/2) + sum_i loss_i(<x_i, w>)
Dual       max_a   sum_i [a_i missing(y_i, 0) - conjugate_i(a_i)] - sum_j max(0, |v_j| - l1_j)^2/(2 l2_j),
                   v = sum_i a_i s_i x_i,   |v_j| <= l1_j where l2_j = 0

with l1_j = l1_ratio and l2_j = 1 - l1_ratio. LIBLINEAR's types 5 (squared hinge) and 6 (logistic) have l1_ratio = 1.
The intercept is a column like the others, penalised with them as in LIBLINEAR, or free (l1_j = l2_j = 0).

An iteration expands the loss at w to second order and minimises  g'(z - w) + |u|^2/2 + penalty(z),
u = root(h) X (z - w),  over a working set (weights that are not zero, and columns that violate their condition) by
coordinate descent; then it goes from w towards z as far as F falls (after Yuan, Ho and Lin's newGLMNET). A column's
preference grows with what its steps gain, and outlives the iteration. Far from the optimum a Newton step is too long:
the curvatures h begin as those of parabolas above the losses, one sweep an iteration, and go over into Newton's, with
more and more sweeps. Where columns are few, the Hessian itself is computed, and a visit costs next to nothing.

The certificate needs a feasible dual point: a_i as the losses' slopes at w call for, the heavier side scaled down where
a free intercept asks for sum_i a_i s_i = 0, then all by t = min(1, min_j l1_j/|v_j|) over the columns with l2_j = 0. So

    P - D = sum_i gap_term(m_i, t a_i) + sum_j [penalty_j(w_j) + penalty*_j(t v_j) - t v_j w_j],   every term >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..kernels.columns import (
    Columns,
    add_columns,
    column_dots,
    count_entries,
    fill_entries,
    squeeze,
    visit_columns,
    visit_gram,
)
from ..kernels.expansion import expand, losses_along, row_terms
from ..kernels.random import seeded
from ..kernels.rows import CsrRows, DenseRows
from ..kernels.schedule import Preferences
from ..pace import Pace
from ..problem import Data, Problem
from ..solution import Certificate, Progress, Solution
from .certificate import UNIT_ROUNDOFF
from .driver import Clock, Ended, Run, Stop, Verdict
from .finish import meaning, run_engine, solution_of
from .frequencies import Frequencies
from .newton import _blas
from .operators import RowOperator

ACCURATE = 1e-9  # violation to which small problems are solved
INNER = 0.2  # share of the violation at which a sub-problem counts as solved
MOST_SWEEPS = 128  # of a sub-problem: one as long as there is caution, then twice as many each time
LESS = 0.1  # caution, after a step that was taken whole; more, after one that was not
MOST_COLUMNS_OF_GRAM = 400
INNER_OF_GRAM, MOST_ROUNDS, RIDGE = 0.01, 200, 1e-12
SUFFICIENT, BACK, MOST_HALVINGS = 0.01, 0.5, 40
NEW_COLUMNS, GROWTH = 1000, 1.0  # columns that may join the working set: so many, and so many times its size


class Seen(NamedTuple):
    """What the sweeps over a sub-problem have seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0


def as_columns(data: Data, pace: Pace | None = None) -> Columns:
    """Return the columns of ``data``, the intercept's last (empty where there is none)."""
    pace = Pace() if pace is None else pace
    rows, n, d = data.rows, data.n_rows, data.n_features
    counts = np.zeros(d + 2, dtype=np.uint64)
    for begin, end in pace.slices(n):
        count_entries(rows, counts, begin, end)
    counts[d + 1] = n if rows.bias else 0
    indptr = np.cumsum(counts, dtype=np.uint64)
    kind = np.float64
    if isinstance(rows, CsrRows):
        kind = rows.data.dtype.type
    elif isinstance(rows, DenseRows):
        kind = rows.X.dtype.type
    if float(kind(rows.bias)) != rows.bias:
        kind = np.float64
    indices, values = np.empty(int(indptr[-1]), dtype=np.uint32), np.empty(int(indptr[-1]), dtype=kind)
    at = indptr[:-1].copy()
    for begin, end in pace.slices(n):
        fill_entries(rows, at, indices, values, begin, end)
    if rows.bias:
        indices[-n:] = np.arange(n, dtype=np.uint32)
        values[-n:] = rows.bias
    return Columns(indptr, indices, values)


class _Primal:
    """The problem at one w: scores, slopes, curvatures, gradient."""

    def __init__(self, problem: Problem, columns: Columns, l1: np.ndarray, l2: np.ndarray, run_pace: Pace) -> None:
        self.problem, self.columns, self.l1, self.l2 = problem, columns, l1, l2
        self.loss, self.y, n = problem.loss, problem.y, problem.data.n_rows
        self.C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), n).copy()
        self.caution = 0.0
        self.pace, self.column_pace = run_pace, Pace(run_pace.between, first=256)
        self.w = np.zeros(l1.size)
        self.f = np.zeros(n)
        self.alpha, self.r, self.root = np.empty(n), np.empty(n), np.empty(n)
        self.g = np.empty(l1.size)
        self.free = (l1 == 0.0) & (l2 == 0.0) & (np.diff(columns.indptr.astype(np.int64)) > 0)

    def penalty(self, w: np.ndarray) -> float:
        """Return sum_j l1_j |w_j| + l2_j w_j^2/2."""
        return float(np.sum(self.l1 * np.abs(w)) + 0.5 * np.sum(self.l2 * w * w))

    def times(self, d: np.ndarray, pace: Pace) -> np.ndarray:
        """Return X d."""
        u = np.zeros(self.f.size)
        for begin, end in pace.slices(d.size):
            add_columns(self.columns, d, u, begin, end)
        return u

    def transposed(self, r: np.ndarray, out: np.ndarray, pace: Pace) -> None:
        """out = X' r."""
        for begin, end in pace.slices(out.size):
            column_dots(self.columns, r, out, begin, end)

    def expand(self) -> None:
        """Bring slopes, curvatures, gradient and violation up to date with f and w."""
        losses = 0.0
        for begin, end in self.pace.slices(self.f.size):
            arrays = (self.y, self.C, self.f, self.alpha, self.r, self.root, self.caution)
            losses += expand(self.loss, *arrays, begin, end)
        self.transposed(self.r, self.g, self.column_pace)
        self.losses = losses
        slope = self.g + self.l2 * self.w
        at_zero = np.maximum(np.abs(slope) - self.l1, 0.0)
        self.violations = np.where(self.w == 0.0, at_zero, np.abs(slope + np.sign(self.w) * self.l1))
        self.violation = float(self.violations.max())

    def refresh(self) -> None:
        """Compute the scores afresh, and all that follows from them."""
        self.f[:] = self.times(self.w, self.column_pace)
        self.expand()

    def certify(self, pace: Pace) -> Certificate:
        """Return the certificate of the present expansion: a feasible dual point, and the gap term by term."""
        alpha, g = self.alpha, self.g
        if self.free.any():
            alpha = _balanced(self.alpha, self.r)
            g = np.empty_like(self.g)
            self.transposed(np.sign(self.r) * np.abs(alpha), g, Pace(pace.between, first=256))
            g[self.free] = 0.0
        bounded = (self.l2 == 0.0) & (self.l1 > 0.0)
        steepest = float(np.max(np.abs(g[bounded]) / self.l1[bounded], initial=1.0))
        t = 1.0 / steepest
        parts = [
            row_terms(self.loss, self.y, self.C, self.f, alpha, t, begin, end)
            for begin, end in pace.slices(self.f.size)
        ]
        losses, gaps = zip(*parts, strict=True)
        v = -t * g
        conjugate = np.zeros_like(v)
        curved = self.l2 > 0.0
        conjugate[curved] = np.maximum(np.abs(v[curved]) - self.l1[curved], 0.0) ** 2 / (2.0 * self.l2[curved])
        size = np.abs(self.w)
        terms = self.l1 * size + 0.5 * self.l2 * size * size + conjugate - v * self.w
        primal = self.penalty(self.w) + fsum(losses)
        gap = fsum(gaps) + float(np.sum(np.maximum(terms, 0.0)))
        return Certificate(self.violation, primal, primal - gap, 0.0 if primal == 0.0 else gap / primal)

    def floor(self) -> float:
        """Return about what rounding makes of a violation: u times the size of the sums that make the gradient."""
        norm = sqrt(float(self.r @ self.r)) * sqrt(float(np.sum(self.problem.data.q)))
        return UNIT_ROUNDOFF * (1.0 + norm)


def _balanced(alpha: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return alpha with the heavier side (of r's sign) scaled down so that both weigh the same."""
    positive = r > 0.0
    up, down = float(np.abs(alpha[positive]).sum()), float(np.abs(alpha[~positive]).sum())
    heavier = positive if up > down else ~positive
    scale = min(up, down) / max(up, down) if max(up, down) > 0.0 else 1.0
    return np.where(heavier, scale * alpha, alpha)


def train_primal(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    columns: Columns,
    l1_ratio: float = 1.0,
    free_intercept: bool = False,
    seed: int,
    alpha0: np.ndarray | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Solve ``problem`` with the penalty l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2 in the place of |w|^2/2.

    ``columns`` are those of the problem's data (``as_columns``: once for many problems). ``alpha0``, where
    to start, holds weights here, the intercept's last.
    """
    adapts, shrinks = meaning(solver, "with an L1 penalty")
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie between 0 and 1; got {l1_ratio!r}.")
    data = problem.data
    l1, l2 = np.full(data.n_features + 1, float(l1_ratio)), np.full(data.n_features + 1, 1.0 - float(l1_ratio))
    if free_intercept and data.rows.bias:
        l1[-1] = l2[-1] = 0.0
    clock = Clock(stop.max_time, cancelled)
    to_the_end = Pace(clock.check_cancelled)
    primal = _Primal(problem, columns, l1, l2, Pace(clock.check))
    if alpha0 is not None:
        primal.w[:] = alpha0
        primal.f[:] = primal.times(primal.w, Pace(clock.check, first=256))
    run = Run(stop, clock, certify=primal.certify, floor=primal.floor, callback=callback)
    rng = seeded(seed)
    with _blas().limit(limits=1, user_api="blas"):
        reason = run_engine(lambda: _iterate(primal, run, rng, adapts, shrinks), run, data, solver, ACCURATE)
    primal.pace = primal.column_pace = to_the_end
    primal.refresh()
    certificate = primal.certify(to_the_end)
    intercept = data.rows.bias * float(primal.w[-1])
    return solution_of(run, reason, stop, certificate, solver, w=primal.w[:-1], intercept=intercept, alpha=primal.alpha)


def _iterate(primal: _Primal, run: Run, rng: np.ndarray, adapts: bool, shrinks: bool) -> None:
    """Take proximal Newton steps until done (or ``run`` ends it)."""
    d = primal.w.size
    p, D_ref, sweeps = np.ones(d, dtype=np.float32), 0.0, 1
    few = d <= MOST_COLUMNS_OF_GRAM
    primal.caution = 0.0 if few else 1.0
    primal.expand()
    for iteration in run.sweeps():
        S = _working_set(primal)
        seen = Seen(D_ref=D_ref)
        if S.size:
            frequencies = Frequencies(np.arange(S.size, dtype=np.uint32), S.size, rng, adapts=adapts, shrinks=shrinks)
            frequencies.p[:] = p[S]
            solve = _gram_lasso if few else _lasso
            z, seen = solve(primal, run, S, frequencies, seen, iteration == 0, sweeps)
            p[S] = np.abs(frequencies.p)
            D_ref = seen.D_ref
            tau = _move(primal, S, z)
            if tau == 1.0:
                sweeps = 1 if primal.caution > 0.0 else min(2 * sweeps, MOST_SWEEPS)
                primal.caution = max(0.0, primal.caution - LESS)
            else:
                sweeps = 1
                primal.caution = min(1.0, primal.caution + LESS)
        else:
            tau = 0.0
        primal.expand()
        gap = _gap_estimate(primal, run)
        verdict = run.sweep(seen.steps, primal.violation, np.nan, gap, criterion=primal.violation, complete=True)
        if verdict is Verdict.SATISFIED:
            break
        if tau == 0.0:
            raise Ended("rounding")


def _gap_estimate(primal: _Primal, run: Run) -> float:
    """Return the gap where the run stops on it; sets the run's dual."""
    if run.stop.gap_tol is None:
        return inf
    certificate = primal.certify(run.passes)
    run.dual = certificate.dual
    return certificate.primal - certificate.dual


def _working_set(primal: _Primal) -> np.ndarray:
    """Return the columns in use, and of those that violate their condition the worst."""
    used = primal.w != 0.0
    new = np.flatnonzero((primal.violations > 0.0) & ~used)
    most = NEW_COLUMNS + int(GROWTH * np.count_nonzero(used))
    if new.size > most:
        new = new[np.argpartition(-primal.violations[new], most)[:most]]
    used[new] = True
    return np.flatnonzero(used)


def _lasso(
    primal: _Primal, run: Run, S: np.ndarray, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
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


def _gram_lasso(
    primal: _Primal, run: Run, S: np.ndarray, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
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


def _move(primal: _Primal, S: np.ndarray, z: np.ndarray) -> float:
    """Go from w towards z as far as the objective falls enough; returns the share of the way."""
    d = np.zeros_like(primal.w)
    d[S] = z - primal.w[S]
    u = primal.times(d, primal.column_pace)
    at = primal.penalty(primal.w)
    promised = float(primal.g @ d) + primal.penalty(primal.w + d) - at
    if not promised < 0.0:
        return 0.0
    tau = 1.0
    for _ in range(MOST_HALVINGS):
        change = primal.penalty(primal.w + tau * d) - at
        for begin, end in primal.pace.slices(u.size):
            change += losses_along(primal.loss, primal.y, primal.C, primal.f, u, tau, begin, end)
        if change <= SUFFICIENT * tau * promised:
            primal.w[S] = z if tau == 1.0 else primal.w[S] + tau * d[S]
            primal.f += tau * u
            return tau
        tau *= BACK
    return 0.0
