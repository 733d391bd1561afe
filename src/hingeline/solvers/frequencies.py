"""Adaptive frequencies over any set of coordinates: rows, examples with all their classes, columns.

This does for other coordinates what the hybrid does for dual variables: it keeps an active set A, and for each member a
preference p_i and an account of visits. The engines' kernels see only ``p``: they change it by what a step gained, and
flip its sign if a coordinate leaves A.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..kernels.schedule import Learning, Preferences, keep_active
from ..kernels.shrink import EARLY_SWEEPS
from ..kernels.types import Generator, Indices
from .driver import Run
from .visit_order import new_accounts, order_visits, room_for_visits

HALVED = 0.5
LONGEST_ABSENCE = 30  # sweeps after which all coordinates are visited again


class Frequencies:
    """Which coordinates are visited in the next sweep, and how often.

    Parameters
    ----------
    everyone : ndarray of uint32
        The coordinates that the engine may visit.
    n : int
        Number of coordinates, visited or not.
    rng : ndarray
        The solver's random generator.
    adapts, shrinks : bool
        Whether visits follow the preferences; whether coordinates may leave the active set.
    """

    def __init__(self, everyone: Indices, n: int, rng: Generator, *, adapts: bool, shrinks: bool) -> None:
        self.p = np.ones(n, dtype=np.float32)
        self.adapts, self.shrinks = adapts, shrinks
        self._everyone, self._rng = everyone, rng
        self._A = everyone.copy()
        self._accounts = new_accounts(n)
        self._I = room_for_visits(everyone.size)
        self.n_active = everyone.size
        self.complete = True  # whether the next sweep visits all coordinates
        self._violation_of_all = self._last = inf
        self._sweeps = self._sweeps_apart = 0

    def schedule(self, run: Run) -> Indices:
        """Return the visits of a sweep, in random order: all coordinates once, or the active ones by preference."""
        once = self.complete or not self.adapts
        active = self._A[: self.n_active]
        return order_visits(self.p, active, self._accounts, self._I, once=once, rng=self._rng, pace=run.shuffles)

    def learning(self, first_sweep: bool) -> Learning:
        """Return how the next sweep learns from its gains."""
        return Learning(*Preferences(), 1.0 / self.n_active, self.adapts, first_sweep)

    def next_sweep(self, violation: float, go_on: bool) -> float:
        """Choose who takes part in the next sweep; returns how firmly a coordinate must sit at its bound to leave.

        All coordinates come back if the run asks for it, if the violation has halved since all were last visited, and
        every ``LONGEST_ABSENCE`` sweeps: one that left by mistake may hold up the others.
        """
        if self.complete:
            self._violation_of_all, self._sweeps_apart = violation, 0
        self._sweeps_apart += 1
        self.n_active = keep_active(self.p, self._A, self.n_active)
        due = violation < HALVED * self._violation_of_all or self._sweeps_apart > LONGEST_ABSENCE
        if not go_on or self.n_active == 0 or (due and self.n_active < self._everyone.size):
            np.abs(self.p, out=self.p)
            self._A[:] = self._everyone
            self.n_active, self.complete = self._everyone.size, True
            return inf
        self.complete = False
        firm, self._last = max(violation, self._last if self._sweeps > EARLY_SWEEPS else 0.0), violation
        self._sweeps += 1
        return firm if self.shrinks else inf
