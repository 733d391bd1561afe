"""Many problems over the same rows at once: classes one against the rest, values of C, folds as weights of the rows.

For smooth losses, with an intercept that is regularised or none. Every product with X serves all problems, as a product
of matrices; a column of a matrix belongs to a problem. Newton's directions come from Gram matrices, factored together,
if columns of X are few, else from conjugate gradients that run side by side. A problem is done when w is as near to
Z' alpha as the stop rule asks; its certificate is then computed afresh. What is left in the end is trained alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np

from ..kernels.losses import Loss
from ..solution import HISTORY, Certificate, Solution
from ..solvers.engines import AUTO, NEWTON, NEWTON_CG
from ..solvers.stop import GOOD_GAP, Stop
from .losses import array_loss
from .memory import largest_batch
from .namespace import Place, to_numpy
from .problem import ArrayProblem
from .rows import ArrayRows
from .train import train_arrays

FEW_COLUMNS = 128  # up to which a Gram matrix per problem is cheap
MOST_STEPS, MOST_PRODUCTS, MOST_SEARCHED = 40, 120, 8
FORCING, LINE_ACCURACY = 0.05, 0.2
VECTORS = 16  # arrays with one entry per row and problem that are there at the same time


@dataclass
class _Columns:
    """What has an entry per row and problem (S, C, M) or per weight and problem (W)."""

    S: Any
    C: Any
    W: Any
    M: Any

    def taken(self, xp: Any, place: Place, which: list[int]) -> _Columns:
        """Return some columns of all."""
        numbers = place.put(np.array(which, dtype=np.int64), xp.int64)
        return _Columns(*(xp.take(part, numbers, axis=1) for part in (self.S, self.C, self.W, self.M)))


def train_together(problems: Sequence[ArrayProblem], stop: Stop) -> list[Solution]:
    """Solve problems over the same rows, as many at a time as memory allows.

    Raises MemoryError, with the number of rows that would fit, if there is no room for one.
    """
    rows, loss = problems[0].rows, problems[0].loss
    size = largest_batch(rows.place, rows.n_rows, VECTORS)
    begun, solutions = perf_counter(), list[Solution]()
    for first in range(0, len(problems), size):
        part = problems[first : first + size]
        solutions += _Batch(rows, loss, part, stop.after(perf_counter() - begun)).solutions()
    return solutions


class _Batch:
    """Problems that are trained at the same time."""

    def __init__(self, rows: ArrayRows, loss: Loss, problems: Sequence[ArrayProblem], stop: Stop) -> None:
        self._rows, self._problems, self._stop = rows, problems, stop
        self._xp, self._verbs = rows.place.xp, array_loss(loss, rows.place.xp)
        self._scale, self._longest = loss.curvature_scale, sqrt(problems[0].range_of_q[1])
        xp, n = self._xp, rows.n_rows
        S = xp.stack([xp.astype(problem.signs, xp.float64) for problem in problems], axis=1)
        C = xp.stack([xp.broadcast_to(problem.responding, (n,)) for problem in problems], axis=1)
        W = rows.place.full((rows.n_features + 1, len(problems)), 0.0)
        self._at = _Columns(S, C, W, self._verbs.missing(S, 0.0 * S))

    def solutions(self) -> list[Solution]:
        """Train, and return the solutions in order."""
        begun, n, stop = perf_counter(), len(self._problems), self._stop
        left, steps, found = list(range(n)), [0] * n, dict[int, Any]()
        for step in range(1, 1 + MOST_STEPS):
            done = self._step(self._at)
            for j, k in enumerate(left):
                steps[k] = step
                if done[j]:
                    found[k] = self._at.W[:, j]
            if any(done):
                self._at = self._at.taken(self._xp, self._rows.place, [j for j, flag in enumerate(done) if not flag])
                left = [k for k in left if k not in found]
            late = stop.max_time is not None and perf_counter() - begun > stop.max_time
            if not left or late or step == stop.max_iter:
                break
        seconds = (perf_counter() - begun) / n
        unfinished = {k: self._at.W[:, j] for j, k in enumerate(left)}
        return [
            self._alone(k, unfinished[k]) if k in unfinished else self._solution(k, found[k], steps[k], seconds)
            for k in range(n)
        ]

    def _alone(self, k: int, w: Any) -> Solution:
        """Return the solution of problem ``k``, trained alone from w on."""
        return train_arrays(self._problems[k], AUTO, self._stop, w0=to_numpy(w))

    def _step(self, at: _Columns) -> list[bool]:
        """Take a Newton step in every problem; tells which of them were done before it, and have not moved."""
        xp, verbs, rows = self._xp, self._verbs, self._rows
        alpha, band = verbs.proximal(at.M, at.M, 1.0, at.C)
        R = at.W - rows.transposed_times_many(at.S * alpha)
        lengths = xp.sqrt(xp.sum(R * R, axis=0))
        if self._stop.gap_tol is None:
            done = self._longest * lengths < 0.5 * self._stop.tol
        else:
            primal = 0.5 * xp.sum(at.W * at.W, axis=0) + xp.sum(verbs.primal_terms(at.M, at.C), axis=0)
            done = 0.5 * lengths * lengths <= 0.5 * self._stop.gap_tol * primal
        if bool(xp.all(done)):
            return [True] * int(done.shape[0])
        few = rows.n_features < FEW_COLUMNS
        P = self._by_factors(band, R) if few else self._by_products(band, R, lengths)
        P = xp.where(done, xp.zeros_like(P), P)
        T = at.S * rows.times_many(P)
        tau = self._search(at, R, P, T)
        at.W, at.M = at.W + tau * P, at.M - tau * T
        return [bool(flag) for flag in to_numpy(done)]

    def _by_factors(self, band: Any, R: Any) -> Any:
        """Return the directions by the Hessians, factored together."""
        xp, n = self._xp, self._rows.n_features + 1
        identity = self._rows.place.full((n, 1), 1.0) * xp.eye(n, dtype=xp.float64, device=self._rows.place.device)
        H = xp.stack([identity + self._scale * self._rows.gram(band[:, k]) for k in range(int(R.shape[1]))])
        return -xp.linalg.solve(H, xp.permute_dims(R, (1, 0))[:, :, None])[:, :, 0].T

    def _by_products(self, band: Any, R: Any, lengths: Any) -> Any:
        """Return the directions by conjugate gradients, preconditioned by the diagonals, side by side."""
        xp, rows, S = self._xp, self._rows, self._scale * band
        D = 1.0 + rows.diagonal(S)
        P, R = xp.zeros_like(R), 1.0 * R
        Z = R / D
        d, rz = -Z, xp.sum(R * Z, axis=0)
        one = xp.ones_like(rz)
        for _ in range(MOST_PRODUCTS):
            Hd = d + rows.transposed_times_many(S * rows.times_many(d))
            curvature = xp.sum(d * Hd, axis=0)
            moving = (xp.sum(R * R, axis=0) > (FORCING * lengths) ** 2) & (curvature > 0.0)
            if not bool(xp.any(moving)):
                break
            step = xp.where(moving, rz / xp.where(moving, curvature, one), 0.0 * rz)
            P, R = P + step * d, R + step * Hd
            Z = R / D
            rz, before = xp.sum(R * Z, axis=0), rz
            d = -Z + xp.where(moving, rz / xp.where(before > 0.0, before, one), 0.0 * rz) * d
        return P

    def _search(self, at: _Columns, R: Any, P: Any, T: Any) -> Any:
        """Return steps near the minima along the lines: Newton's method within brackets, all lines at a time."""
        xp = self._xp
        slope = xp.sum(R * P, axis=0)
        wp, pp = xp.sum(at.W * P, axis=0), xp.sum(P * P, axis=0)
        tau, low, high = xp.ones_like(wp), xp.zeros_like(wp), xp.full_like(wp, float("inf"))
        for _ in range(MOST_SEARCHED):
            alpha, band = self._verbs.proximal(at.M - tau * T, at.M, 1.0, at.C)
            first = wp + tau * pp - xp.sum(alpha * T, axis=0)
            good = xp.abs(first) <= LINE_ACCURACY * xp.abs(slope)
            if bool(xp.all(good)):
                break
            second = pp + self._scale * xp.sum(band * T * T, axis=0)
            low, high = xp.where(first < 0.0, tau, low), xp.where(first < 0.0, high, tau)
            guess = tau - first / xp.where(second > 0.0, second, xp.ones_like(second))
            bounded = xp.where(xp.isinf(high), 2.0 * low + 1.0, high)
            inside = (guess > low) & (guess < bounded)
            tau = xp.where(good, tau, xp.where(inside, guess, 0.5 * (low + bounded)))
        return tau

    def _solution(self, k: int, w_there: Any, n_iter: int, seconds: float) -> Solution:
        """Return the solution of problem ``k`` with its exact certificate."""
        xp, verbs, rows, problem = self._xp, self._verbs, self._rows, self._problems[k]
        m = verbs.missing(problem.y, rows.times(w_there))
        alpha = verbs.responses(m, problem.C)
        apart = w_there - rows.transposed_times(alpha * problem.signs)
        sums = [
            xp.max(verbs.violations(m, alpha, problem.C)),
            xp.sum(verbs.primal_terms(m, problem.C)),
            xp.sum(verbs.gap_terms(m, alpha, problem.C)),
            0.5 * xp.sum(apart * apart),
        ]
        violation, losses, gap, of_w = to_numpy(xp.stack(sums)).tolist()
        w = to_numpy(w_there)
        certificate = Certificate.of(violation, 0.5 * float(w @ w) + losses, gap + of_w)
        stop = self._stop
        if not (certificate.gap <= GOOD_GAP if stop.gap_tol is None else stop.met(certificate)):
            return self._alone(k, w_there)  # rounding has misled it
        history = np.zeros(1, dtype=HISTORY)
        history[0] = (n_iter, seconds, 0, violation, certificate.gap, certificate.primal, certificate.dual, 0)
        reason, converged = stop.outcome(stop.rule, certificate)
        return Solution(
            w=w[:-1],
            intercept=rows.bias * float(w[-1]),
            alpha=alpha,
            certificate=certificate,
            history=history,
            n_iter=n_iter,
            n_steps=0,
            seconds=seconds,
            solver=NEWTON if rows.n_features < FEW_COLUMNS else NEWTON_CG,
            converged=converged,
            stop_reason=reason,
        )
