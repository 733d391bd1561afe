"""A proximal Newton step: expand the loss at w, minimise the lasso this gives, and go towards its minimum."""

from __future__ import annotations

from math import inf

import numpy as np

from ...kernels.types import Generator, Indices, Vector
from ..driver import Run
from ..frequencies import Frequencies
from ..shards.line import beginning, narrowed, step_found
from .columns import FEW_COLUMNS
from .gram_lasso import Gram, GramInUse, gram_lasso
from .lasso import lasso
from .one_weight import Seen
from .penalised import Penalised
from .pieces import descend

MOST_SWEEPS = 128  # of a sub-problem: one while there is caution, then twice as many after each good prediction
CHEAP = 1.0  # passes over all columns that the sweeps of a step may cost while there is caution
WHILE_FAR = 32  # sweeps while rows move far in a step over the objective itself, so that others can be left out soon
MUCH_BETTER, BETTER, AS_PREDICTED, POOR = 1.3, 1.05, 0.75, 0.25  # achieved gain of a step over the predicted gain
LESS_CAUTION, MORE_CAUTION = 0.1, 0.3  # after a step of a good model; after a step that was cut short
SUFFICIENT, SHORTER, MOST_CUTS = 0.01, 0.5, 40  # line search: fraction of the promised decrease, factor, attempts
MOST_EVALUATIONS, LINE_ACCURACY = 100, 1e-2  # search for the lowest point: evaluations, fraction of slope that is zero
STEEP, FURTHER = 0.3, 2.0  # slope at the end of a step, as a share of that at its beginning, from which it goes on
SHORT, TINY = 0.1, 1e-6  # fractions of a step that indicate trouble: with some rows, and with rounding
NOISE = 1e-15  # relative change of the objective that rounding hides
FAR, CLOSE, MOST_ROWS = 2.0, 0.02, 0.99  # margin at first, margin that is small, rows that stayed within it in a step
NEW_COLUMNS, GROWTH = 1000, 1.0  # columns that may join the working set: this many, or this many times its size


class ProximalNewton:
    """Steps, and what outlives them: preferences, caution, how accurately a sub-problem is solved.

    ``n_cut`` counts steps that were cut short by a lot.
    """

    def __init__(self, primal: Penalised, run: Run, rng: Generator, adapts: bool, shrinks: bool) -> None:
        self.primal, self._run, self._rng = primal, run, rng
        self._adapts, self._shrinks = adapts, shrinks
        self._p = np.ones(primal.w.size, dtype=np.float32)
        self._seen, self._sweeps, self._first = Seen(), 1, True
        few = primal.columns is None
        overshoots = primal.problem.loss.newton_overshoots
        self._by_pieces = not few and primal.problem.loss.slope_has_kinks
        self._careful = overshoots
        self._margin = inf  # from the bend, of rows that take part in the next step
        primal.caution, self._less = 1.0 if overshoots and not few else 0.0, LESS_CAUTION
        self._begins, self._is_cheap, self.n_cut = True, False, 0
        self._beyond: Vector | None = None  # curvatures that have left no room for the last steps
        primal.expand()
        self._gram, self._gram_in_use = Gram(primal, run) if few else None, GramInUse()

    def goes_over_to_models(self) -> bool:
        """Expand squared losses over many columns from now on, too; tells whether that is a change."""
        if not self._by_pieces:
            return False
        self._by_pieces, self._careful = False, True
        return True

    def step(self) -> tuple[int, bool]:
        """Take a step; returns the visits of columns it took, and whether another one could do more."""
        primal, before = self.primal, self.primal.violation
        S = working_set(primal)
        if before == 0.0 or not S.size:
            return 0, False
        self._seen = Seen(D_ref=self._seen.D_ref)
        z, u = self._solve(S)
        self._first = False
        d = np.zeros_like(primal.w)
        d[S] = z - primal.w[S]
        was_careful = primal.caution == 1.0
        u = primal.products.times(d) if u is None else u
        primal.propose(u if primal.is_near(self._seen.gain) else None)
        if self._by_pieces:
            self._margin = max(0.5 * min(self._margin, FAR), float(np.quantile(np.abs(u), MOST_ROWS)))
        tau, is_blind = self._move(d, u)
        if tau == 1.0:
            primal.w[S] = z  # without rounding: what is zero is zero
        primal.slopes()
        goes_on = primal.violation <= 0.5 * before if is_blind else tau > 0.0 or (self._careful and not was_careful)
        return self._seen.steps, goes_on

    def _solve(self, S: Indices) -> tuple[Vector, Vector | None]:
        """Return the new weights of the columns S, and what they add to the scores, if that is known.

        If few of many columns are left in use, and sweeps are not enough for them, they go to a joint minimum too.
        """
        if self._gram is not None:
            return self._solve_few(self._gram, S)
        if self._sweeps == MOST_SWEEPS and S.size < FEW_COLUMNS:
            return self._solve_few(self._gram_in_use, S)
        return self._solve_many(S)

    def _solve_few(self, gram: Gram | GramInUse, S: Indices) -> tuple[Vector, None]:
        p = self._p[S]
        how = (self._adapts, self._first, self.n_cut > 0)
        z, self._seen = gram_lasso(self.primal, gram, S, p, self._rng, self._seen, *how)
        self._p[S] = p
        return z, None

    def _solve_many(self, S: Indices) -> tuple[Vector, Vector | None]:
        columns = self.primal.columns
        assert columns is not None
        entries = int((columns.indptr[S + 1] - columns.indptr[S]).sum())
        self._is_cheap = self._sweeps * entries <= CHEAP * columns.indices.size
        everyone = np.arange(S.size, dtype=np.uint32)
        frequencies = Frequencies(everyone, S.size, self._rng, adapts=self._adapts, shrinks=self._shrinks)
        frequencies.p[:] = self._p[S]
        how = (self.primal, self._run, S, frequencies, self._seen, self._first, self._sweeps)
        u: Vector | None = None
        if self._by_pieces:
            z, self._seen = descend(*how, self._margin)
        else:
            z, u, self._seen = lasso(*how)
        self._p[S] = np.abs(frequencies.p)
        return z, u

    def _move(self, d: Vector, u: Vector) -> tuple[float, bool]:
        """Go from w along d, with u = X d, as far as the objective falls enough.

        Returns the fraction of the way, and whether rounding of the objective hides the effect of the step. The
        fraction of the predicted gain that the step achieves decides how far to trust the next model.
        """
        primal = self.primal
        caution, at = primal.caution, primal.penalty(primal.w)
        noise = NOISE * (at + primal.losses)
        promised = float(primal.g @ d) + primal.penalty(primal.w + d) - at
        is_blind = -promised <= noise
        less, more = min(max(caution - self._less, 0.0), 1.0), min(caution + MORE_CAUTION, 1.0)
        if not self._careful:
            less = more = 0.0
        tau, change, next_caution, beyond = 1.0, 0.0, less, primal.h
        for cut in range(MOST_CUTS):
            change = primal.look(u, tau, next_caution) + primal.penalty(primal.w + tau * d) - at
            if change <= SUFFICIENT * tau * min(promised, 0.0) + (noise if is_blind else 0.0):
                break
            beyond, next_caution = primal.h.copy(), more
            tau = self._lowest(d, u, promised) if cut == 0 and not (is_blind or self._careful) else SHORTER * tau
        else:
            tau = 0.0
            primal.look(u, tau, next_caution)
        if tau == 1.0 and self._careful and not is_blind:
            tau, change = self._longer(d, u, at, change, promised, next_caution)
        if tau >= TINY:
            self._beyond = None
        elif not self._careful:
            # A row at its bend, up to rounding: the next model counts it as one beyond.
            self._beyond = beyond if self._beyond is None else np.maximum(beyond, self._beyond)
            np.maximum(primal.h, self._beyond, out=primal.h)
        achieved = 1.0 if is_blind else -change / max(self._seen.gain, noise)
        self._begins = self._begins and caution > 0.0
        self.n_cut += tau < SHORT and not self._by_pieces  # the next step knows the rows that were in the way
        if tau < 1.0:
            self._sweeps = max(self._sweeps // 2, 1)
        elif achieved >= AS_PREDICTED and (not self._begins or self._is_cheap):
            is_far = self._by_pieces and self._margin > CLOSE
            self._sweeps = min(2 * self._sweeps, WHILE_FAR if is_far else MOST_SWEEPS)
        self._less = _less_caution(achieved)
        primal.move(d, u, tau, next_caution)
        return tau, is_blind

    def _longer(
        self, d: Vector, u: Vector, at: float, change: float, slope: float, caution: float
    ) -> tuple[float, float]:
        """Go on beyond the end of a step if the objective still falls steeply; returns how far, and the whole change.

        Where the logistic loss is nearly an exponential, its model does not see further than one unit of a score,
        however far away the minimum is.
        """
        primal = self.primal
        first, second = self._along(d, u, 1.0)
        if first > STEEP * slope or not second > 0.0:
            return 1.0, change
        tau = min(1.0 - first / second, FURTHER)
        there = primal.look(u, tau, caution) + primal.penalty(primal.w + tau * d) - at
        if there < change:
            return tau, there
        primal.look(u, 1.0, caution)
        return 1.0, change

    def _along(self, d: Vector, u: Vector, tau: float) -> tuple[float, float]:
        """Return slope and curvature of the objective along d, at the last ``look``, w + tau d."""
        primal = self.primal
        z = primal.w + tau * d
        first = float(primal.r @ u) + float(primal.l1 @ (np.where(z == 0.0, np.sign(d), np.sign(z)) * d))
        first += float((primal.l2 * z) @ d)
        return first, float(primal.h @ (u * u)) + float(primal.l2 @ (d * d))

    def _lowest(self, d: Vector, u: Vector, slope: float) -> float:
        """Return where the objective is lowest between w and w + d.

        Halving the step would stop short of the bend of the same row again and again. The lowest point lies beyond the
        bend, so the next model includes the row.
        """
        primal = self.primal
        at = beginning(slope)
        for _ in range(MOST_EVALUATIONS):
            tau = at[-2]
            primal.look(u, tau, 0.0)
            at = narrowed(at, *self._along(d, u, tau), slope, LINE_ACCURACY)
            if at[-1]:
                break
        return min(float(step_found(at)), 1.0)


def _less_caution(achieved: float) -> float:
    """Return by how much caution falls after a step that has ``achieved`` this share of the predicted gain."""
    if achieved >= AS_PREDICTED:
        return 2.0 * LESS_CAUTION if achieved >= MUCH_BETTER else LESS_CAUTION if achieved >= BETTER else 0.0
    return 0.0 if achieved >= POOR else -LESS_CAUTION


def working_set(primal: Penalised) -> Indices:
    """Return the columns in use, and the worst of those that violate their condition."""
    used = primal.w != 0.0
    new = np.flatnonzero((primal.violations > 0.0) & ~used)
    most = NEW_COLUMNS + int(GROWTH * np.count_nonzero(used))
    if new.size > most:
        new = new[np.argpartition(-primal.violations[new], most)[:most]]
    used[new] = True
    return np.flatnonzero(used)
