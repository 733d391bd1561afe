"""Adaptive frequencies over any set of coordinates: rows, examples with all their classes, columns.

What the hybrid does for dual variables, for the engines whose coordinates are something else: an active set A, a
preference p_i and an account of visits for each member (kernels/schedule.py). The engines' kernels see ``p`` alone:
they change it by what a step gained, and turn its sign where a coordinate leaves A.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..kernels.schedule import accumulate, keep_active, shuffle, sum_preferences
from .driver import Run
from .dual.hybrid import EARLY, spread

HALVED = 0.5
MOST_APART = 30  # sweeps


class Frequencies:
    """Who is visited in the next sweep, and how often.

    Parameters
    ----------
    everyone : ndarray of uint32
        The coordinates that the engine may visit.
    n : int
        How many coordinates there are, visited or not.
    rng : ndarray
        The solver's generator.
    adapts, shrinks : bool
        Whether visits follow the preferences; whether coordinates may leave the active set.
    """

    def __init__(self, everyone: np.ndarray, n: int, rng: np.ndarray, *, adapts: bool, shrinks: bool) -> None:
        self.p = np.ones(n, dtype=np.float32)
        self.adapts, self.shrinks = adapts, shrinks
        self._everyone, self._rng = everyone, rng
        self._A = everyone.copy()
        self._visits = spread(n)
        self._I = np.empty(2 * everyone.size, dtype=np.uint32)
        self.n_active = everyone.size
        self.complete = True  # whether the next sweep visits everyone
        self._violation_of_all = self._last = inf
        self._sweeps = self._sweeps_apart = 0

    def schedule(self, run: Run) -> np.ndarray:
        """Return the visits of a sweep, in random order: everyone once, or the active ones by their preferences."""
        A, I, n = self._A[: self.n_active], self._I, 0
        if self.complete or not self.adapts:
            n = A.size
            I[:n] = A
        else:
            total = sum(sum_preferences(self.p, A, begin, end) for begin, end in run.shuffles.slices(A.size))
            for begin, end in run.shuffles.slices(A.size):
                n = accumulate(self.p, A, self._visits, I, begin, end, A.size / total, n)
        for begin, end in run.shuffles.slices(n):
            shuffle(I, n, begin, end, self._rng)
        return I[:n]

    def next_sweep(self, violation: float, go_on: bool) -> float:
        """Choose who takes part in the next sweep; returns how firmly a coordinate must sit at its bound to leave.

        Everyone comes back where the run asks for it, where the violation has halved since everyone was seen, and now
        and then in any case: a coordinate that left by mistake may be what the others are waiting for.
        """
        if self.complete:
            self._violation_of_all, self._sweeps_apart = violation, 0
        self._sweeps_apart += 1
        self.n_active = keep_active(self.p, self._A, self.n_active)
        agreed = violation < HALVED * self._violation_of_all or self._sweeps_apart > MOST_APART
        if not go_on or self.n_active == 0 or (agreed and self.n_active < self._everyone.size):
            np.abs(self.p, out=self.p)
            self._A[:] = self._everyone
            self.n_active, self.complete = self._everyone.size, True
            return inf
        self.complete = False
        firm, self._last = max(violation, self._last if self._sweeps > EARLY else 0.0), violation
        self._sweeps += 1
        return firm if self.shrinks else inf
