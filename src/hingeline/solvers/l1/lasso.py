"""The quadratic sub-problem of a proximal Newton step: a lasso, by adaptive frequencies over its columns.

min_z   g'(z - w) + sum_i h_i u_i^2/2 + sum_j (l1_j |z_j| + l2_j z_j^2/2),    u = X (z - w)
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ...kernels.schedule import Preferences
from ..driver import Run
from ..frequencies import Frequencies
from .columns import Columns, squeeze, visit_columns
from .penalised import Penalised

INNER = 0.2  # share of the violation at which a sub-problem counts as solved
WORTH_SQUEEZING = 4  # sweeps, where half of the rows have next to no curvature
LEAST_SHARE = 0.01  # of all curvature that those rows may have together


class Seen(NamedTuple):
    """What the sweeps over a sub-problem have seen so far."""

    steps: int = 0
    v: float = 0.0
    D_ref: float = 0.0
    gain: float = 0.0


class Model:
    """The sub-problem over the columns S, and where its solution has got to."""

    def __init__(self, primal: Penalised, S: np.ndarray, sweeps: int) -> None:
        assert primal.columns is not None
        self.pace = primal.matrix.pace
        self.columns, self.which = primal.columns, S.astype(np.uint64)
        self.rest = np.zeros(S.size)
        least = _least_that_counts(primal.h) if sweeps >= WORTH_SQUEEZING else 0.0
        self.is_squeezed = 2 * np.count_nonzero(primal.h >= least) < primal.h.size
        if self.is_squeezed:
            self._squeeze(primal.h, least)
        self.hu = np.zeros((primal.f.size, 2))
        self.hu[:, 0] = primal.h
        self.norms = np.full(S.size, -1.0)
        self.g, self.l1, self.l2, self.w = primal.g[S], primal.l1[S], primal.l2[S], primal.w[S]
        self.z = self.w.copy()

    @property
    def u(self) -> np.ndarray | None:
        """X (z - w), where that is known for every row."""
        return None if self.is_squeezed else self.hu[:, 1].copy()

    def _squeeze(self, h: np.ndarray, least: float) -> None:
        columns, S = self.columns, self.which
        total = int((columns.indptr[S + np.uint64(1)] - columns.indptr[S]).sum())
        indptr = np.zeros(S.size + 1, np.uint64)
        sub = Columns(indptr, np.empty(total, np.uint32), np.empty(total, columns.data.dtype))
        for begin, end in self.pace.slices(S.size):
            squeeze(columns, S, h, least, sub, self.rest, begin, end)
        self.columns, self.which = sub, np.arange(S.size, dtype=np.uint64)


def _least_that_counts(h: np.ndarray) -> float:
    """Return a curvature such that rows with less have no more than a small share of all of it."""
    ordered = np.sort(h)
    total = np.cumsum(ordered)
    return float(max(ordered[np.searchsorted(total, LEAST_SHARE * total[-1])], np.nextafter(0.0, 1.0)))


def lasso(
    primal: Penalised, run: Run, S: np.ndarray, frequencies: Frequencies, seen: Seen, first: bool, sweeps: int
) -> tuple[np.ndarray, np.ndarray | None, Seen]:
    """Minimise the quadratic model over the columns S; returns their new weights, and X (z - w) where it is at hand."""
    m = Model(primal, S, sweeps)
    enough = inf
    for sweep in range(sweeps):
        I = frequencies.schedule(run)
        seen = seen._replace(v=0.0)
        arrays = (m.columns, m.which, m.hu, m.norms, m.rest, m.g, m.l1, m.l2, m.w, m.z, frequencies.p, I)
        for begin, end in run.visits.slices(I.size):
            how = (Preferences(), 1.0 / frequencies.n_active, frequencies.adapts, first and sweep == 0)
            seen = Seen(*visit_columns(*arrays, begin, end, enough, *how, seen))
        solved = seen.v <= INNER * primal.violation
        if solved and frequencies.complete:
            break
        enough = frequencies.next_sweep(seen.v, not solved)
    return m.z, m.u, seen
