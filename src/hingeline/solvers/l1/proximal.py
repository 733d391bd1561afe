"""A proximal Newton step: the loss expanded at w, the lasso that this gives, and towards its minimum as F falls."""

from __future__ import annotations

import numpy as np

from ..driver import Run
from ..frequencies import Frequencies
from .gram_lasso import Gram, gram_lasso
from .lasso import Seen, lasso
from .penalised import Penalised

MOST_SWEEPS = 128  # of a sub-problem: one as long as there is caution, then twice as many after a step as told
FAR_MORE, MORE_THAN_TOLD, AS_TOLD, HARDLY = 1.3, 1.05, 0.75, 0.25  # shares of the gain that a model has told
LESS, MORE = 0.1, 0.3  # caution, after a step by a good model; more of it, after one that was not taken whole
SUFFICIENT, BACK, MOST_HALVINGS = 0.01, 0.5, 40
NOISE = 1e-15  # share of the objective below which a change of it says nothing
NEW_COLUMNS, GROWTH = 1000, 1.0  # columns that may join the working set: so many, and so many times its size


class ProximalNewton:
    """Steps, and what outlives them: preferences, caution, how accurately a sub-problem is solved."""

    def __init__(self, primal: Penalised, run: Run, rng: np.ndarray, adapts: bool, shrinks: bool) -> None:
        self.primal, self._run, self._rng = primal, run, rng
        self._adapts, self._shrinks = adapts, shrinks
        self._p = np.ones(primal.w.size, dtype=np.float32)
        self._seen, self._sweeps, self._first = Seen(), 1, True
        few = primal.columns is None
        overshoots = primal.loss.newton_overshoots
        self._careful = overshoots or not few
        primal.caution, self._less = 1.0 if overshoots and not few else 0.0, LESS
        self._begins = True
        primal.expand()
        self._gram = Gram(primal, run) if few else None

    def step(self) -> tuple[int, bool]:
        """Go a step; returns the visits of columns it took, and whether another one could do more."""
        primal, before = self.primal, self.primal.violation
        S = working_set(primal)
        if not S.size:
            return 0, False
        self._seen = Seen(D_ref=self._seen.D_ref)
        z, u = self._solve_many(S) if self._gram is None else self._solve_few(self._gram, S)
        self._first = False
        d = np.zeros_like(primal.w)
        d[S] = z - primal.w[S]
        was_careful = primal.caution == 1.0
        tau, is_blind = self._move(d, primal.matrix.times(d) if u is None else u)
        if tau == 1.0:
            primal.w[S] = z  # without rounding: what is zero is zero
        primal.slopes()
        goes_on = primal.violation <= 0.5 * before if is_blind else tau > 0.0 or (self._careful and not was_careful)
        return self._seen.steps, goes_on

    def _solve_few(self, gram: Gram, S: np.ndarray) -> tuple[np.ndarray, None]:
        p = self._p[S]
        z, self._seen = gram_lasso(self.primal, gram, S, p, self._rng, self._seen, self._adapts, self._first)
        self._p[S] = p
        return z, None

    def _solve_many(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        everyone = np.arange(S.size, dtype=np.uint32)
        frequencies = Frequencies(everyone, S.size, self._rng, adapts=self._adapts, shrinks=self._shrinks)
        frequencies.p[:] = self._p[S]
        z, u, self._seen = lasso(self.primal, self._run, S, frequencies, self._seen, self._first, self._sweeps)
        self._p[S] = np.abs(frequencies.p)
        return z, u

    def _move(self, d: np.ndarray, u: np.ndarray) -> tuple[float, bool]:
        """Go from w along d, with u = X d, as far as the objective falls enough.

        Returns the share of the way, and whether the objective's rounding hides what the step does. How much of the
        gain that the model has told comes true says how far to trust the next one.
        """
        primal = self.primal
        caution, at = primal.caution, primal.penalty(primal.w)
        noise = NOISE * (at + primal.losses)
        promised = float(primal.g @ d) + primal.penalty(primal.w + d) - at
        is_blind = -promised <= noise
        less, more = min(max(caution - self._less, 0.0), 1.0), min(caution + MORE, 1.0)
        if not self._careful:
            less = more = 0.0
        tau, change, next_caution = 1.0, 0.0, less
        for _ in range(MOST_HALVINGS):
            change = primal.look(u, tau, next_caution) + primal.penalty(primal.w + tau * d) - at
            if change <= SUFFICIENT * tau * min(promised, 0.0) + (noise if is_blind else 0.0):
                break
            tau, next_caution = BACK * tau, more
        else:
            tau = 0.0
            primal.look(u, tau, next_caution)
        kept = 1.0 if is_blind else -change / max(self._seen.gain, noise)
        self._begins = self._begins and caution > 0.0
        if tau < 1.0:
            self._sweeps = max(self._sweeps // 2, 1)
        elif kept >= AS_TOLD and not self._begins:
            self._sweeps = min(2 * self._sweeps, MOST_SWEEPS)
        self._less = _less_caution(kept)
        primal.move(d, u, tau, next_caution)
        return tau, is_blind


def _less_caution(kept: float) -> float:
    """Return how much less caution there is to be after a step that has ``kept`` that share of the gain told."""
    if kept >= AS_TOLD:
        return 2.0 * LESS if kept >= FAR_MORE else LESS if kept >= MORE_THAN_TOLD else 0.0
    return 0.0 if kept >= HARDLY else -LESS


def working_set(primal: Penalised) -> np.ndarray:
    """Return the columns in use, and of those that violate their condition the worst."""
    used = primal.w != 0.0
    new = np.flatnonzero((primal.violations > 0.0) & ~used)
    most = NEW_COLUMNS + int(GROWTH * np.count_nonzero(used))
    if new.size > most:
        new = new[np.argpartition(-primal.violations[new], most)[:most]]
    used[new] = True
    return np.flatnonzero(used)
