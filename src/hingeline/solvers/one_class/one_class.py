"""The linear one-class model: where most of the data lies, by adaptive frequencies over pairs.

Problem    min_{w, rho}   |w|^2/2 - nu (sum_i C_i) rho + sum_i C_i max(0, rho - <x_i, w>)
Dual       max_a          W(a) = -|w|^2/2,   w = sum_i a_i x_i,   0 <= a_i <= C_i,   sum_i a_i = nu sum_i C_i

LIBLINEAR's type 21, in its scaling: C_i is the row's weight, 1 without weights. The sum is fixed, so a step moves
two variables: the one that the adaptive schedule visits, and the best partner that is known, the one with the least
score that can rise or the largest that can fall. Variables at a bound whose score lies outside of all that could
pair with them leave the active set. The start is feasible and near: a_i = C_i for the rows least along the mean.

At given w the best rho is a weighted quantile of the scores, so the certificate is exact; its terms are the hinge's:

    P - W = sum_i [C_i max(0, rho - s_i) - a_i (rho - s_i)],   s_i = <x_i, w>,   every term >= 0.

The optimum is negative, or 0 if the rows surround the origin: the gap is relative to the larger of |P| and |W|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import Any

import numpy as np

from ...data.matrix import Data
from ...data.problem import make_problem
from ...kernels.losses import Hinge
from ...kernels.passes import add_weights, scores, scores_at, squared_length, weighted_lengths
from ...kernels.random import seeded
from ...kernels.types import Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Progress, Snapshot, Solution
from ..certificate import UNIT_ROUNDOFF
from ..clock import Clock
from ..driver import Run, Verdict
from ..engines import stepwise_engine
from ..finish import run_accurately, solution_of
from ..frequencies import Frequencies
from ..stop import Stop
from .pair_steps import NOBODY, Limits, Points, Seen, one_class_terms, visit_pairs

LEAST_SIZE = (
    1e-12  # share of the largest possible |W|: the gap is relative to at least this, since the optimum may be 0
)
SLACK = 1e-12  # share of the sum of all C_i that counts as zero
SAMPLE = 2000  # rows that show roughly where rho lies
ACCURATE = 1e-13  # violation to which small problems are solved, relative to the largest possible score


@dataclass
class OneClass:
    """The dual variables with w = sum_i alpha_i x_i, and rho."""

    data: Data
    C: Vector
    total: float
    alpha: Vector
    w: Vector
    rho: float = 0.0

    def weights_of(self, alpha: Vector, pace: Pace) -> Vector:
        """Return sum_i alpha_i x_i."""
        w = np.zeros(self.data.n_features + 1)
        ones = np.ones(self.data.n_rows, dtype=np.float32)
        for begin, end in pace.slices(self.data.n_rows):
            add_weights(self.data.rows, alpha, ones, w, begin, end)
        return w

    def scores_of(self, w: Vector, pace: Pace) -> Vector:
        """Return <x_i, w> for each row."""
        s = np.empty(self.data.n_rows)
        for begin, end in pace.slices(self.data.n_rows):
            scores(self.data.rows, w, s, begin, end)
        return s

    def start(self, pace: Pace) -> None:
        """Set alpha_i = C_i for the rows with the least scores along the mean, up to the required sum."""
        s = self.scores_of(self.weights_of(self.C, pace), pace)
        least, _ = around_total(s, self.C, self.total)
        self.alpha[:] = np.where(s < least, self.C, 0.0)
        tied = np.flatnonzero(s == least)
        before = np.cumsum(self.C[tied]) - self.C[tied]
        self.alpha[tied] = np.clip(self.total - self.alpha.sum() - before, 0.0, self.C[tied])
        self.w[:] = self.weights_of(self.alpha, pace)

    def start_from(self, alpha0: Vector, pace: Pace) -> None:
        """Start from ``alpha0``, moved into the box and then along a line to the required sum."""
        alpha = np.clip(alpha0, 0.0, self.C)
        reached, most = float(alpha.sum()), float(self.C.sum())
        if reached > self.total:
            alpha *= self.total / reached
        elif most > reached:
            alpha += (self.total - reached) / (most - reached) * (self.C - alpha)
        self.alpha[:] = np.minimum(alpha, self.C)
        self.w[:] = self.weights_of(self.alpha, pace)

    def rho_of_a_sample(self) -> float:
        """Return about the best rho at the present w: good enough to estimate a gap."""
        some = np.arange(0, self.data.n_rows, max(1, self.data.n_rows // SAMPLE), dtype=np.uint32)
        C, s = self.C[some], np.empty(some.size)
        scores_at(self.data.rows, some, self.w, s, 0, some.size)
        return quantile(s, C, self.total / self.C.sum() * C.sum()) if C.any() else 0.0

    def refresh(self, pace: Pace) -> Certificate:
        """Compute w and rho afresh and return the exact certificate there."""
        self.w[:] = self.weights_of(self.alpha, pace)
        s = self.scores_of(self.w, pace)
        self.rho = quantile(s, self.C, self.total)
        parts = [one_class_terms(self.alpha, self.C, s, self.rho, *ends) for ends in pace.slices(s.size)]
        gaps, least, largest = zip(*parts, strict=True)
        dual = -0.5 * squared_length(self.w)
        gap = fsum(gaps)
        size = max(abs(dual), abs(dual + gap), LEAST_SIZE * self.data.largest_q * self.total**2)
        violation = max(0.0, max(largest) - min(least))
        return Certificate.of(violation, dual + gap, gap, size)

    def snapshot(self) -> Snapshot:
        """Return the model so far."""
        return Snapshot(self.w[:-1].copy(), -self.rho, self.alpha.copy(), np.zeros_like(self.C), self.C.copy())

    def floor(self) -> float:
        """Return about what rounding makes of a violation at the optimum."""
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * weighted_lengths(self.alpha, self.data.q))


def around_total(s: Vector, C: Vector, total: float) -> tuple[float, float]:
    """Return the least score up to which rows weigh ``total``; and, if they weigh no more than that, the next score."""
    counted = C > 0.0
    if not counted.all():
        s, C = s[counted], C[counted]
    last = s.size - 1
    if (C == C[0]).all():  # selection is ten times as fast as sorting
        place = total / C[0] - SLACK * C.size
        at = min(max(int(np.ceil(place)) - 1, 0), last)
        exact = abs((at + 1) * C[0] - total) <= SLACK * C.size * C[0] and at < last
        at_least = np.partition(s, [at, min(at + 1, last)])
        return float(at_least[at]), float(at_least[at + 1 if exact else at])
    order = np.argsort(s, kind="stable")
    below = np.cumsum(C[order])
    slack = SLACK * below[-1]
    at = min(int(np.searchsorted(below, total - slack)), last)
    exact = abs(below[at] - total) <= slack and at < last
    return float(s[order[at]]), float(s[order[at + 1 if exact else at]])


def quantile(s: Vector, C: Vector, total: float) -> float:
    """Return the rho that minimises -total rho + sum_i C_i max(0, rho - s_i): the middle if it is an interval."""
    return 0.5 * sum(around_total(s, C, total))


def train_one_class(
    data: Data,
    weights: Vector | None,
    nu: float,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: Vector | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> Solution:
    """Train; the solution's ``intercept`` is -rho, and its ``alpha``, as ``alpha0``, the weights of the rows in w."""
    engine = stepwise_engine(solver, "a one-class model")
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must lie in (0, 1]; got {nu!r}.")
    if data.rows.bias:
        raise ValueError("A one-class model takes no bias: rho is its intercept.")
    C = make_problem(data, np.ones(data.n_rows, dtype=np.float32), weights, Hinge(1.0)).C
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), data.n_rows).copy()
    clock = Clock(stop.max_time, None)
    to_the_end = Pace()
    model = OneClass(data, C, float(nu) * float(C.sum()), np.zeros(data.n_rows), np.zeros(data.n_features + 1))
    if alpha0 is None:
        model.start(to_the_end)
    else:
        model.start_from(alpha0, to_the_end)
    run = Run(stop, clock, certify=model.refresh, floor=model.floor, callback=callback, take=model.snapshot)
    everyone, rng = np.flatnonzero(C > 0.0).astype(np.uint32), seeded(seed)

    def sweep() -> None:
        _sweep(model, run, Frequencies(everyone, data.n_rows, rng, adapts=engine.adapts, shrinks=engine.shrinks))

    reason = run_accurately(sweep, run, data, solver, ACCURATE * data.largest_q * model.total)
    certificate = run.certificate_after(reason, to_the_end)
    return solution_of(run, reason, stop, certificate, solver, w=model.w[:-1], intercept=-model.rho, alpha=model.alpha)


def _sweep(model: OneClass, run: Run, frequencies: Frequencies) -> None:
    """Sweep until done (or ``run`` ends it)."""
    data, partners = model.data, np.array([NOBODY, NOBODY])
    points = Points(data.rows, data.q, model.C, model.alpha, model.w, partners, np.zeros_like(model.w))
    limits, seen = Limits(), Seen()
    model.rho = model.rho_of_a_sample()
    for sweep in run.sweeps():
        I = frequencies.schedule(run)
        seen = Seen(D_ref=seen.D_ref, s_up=seen.s_up, s_down=seen.s_down)
        rule = (limits, model.rho, frequencies.complete, frequencies.learning(sweep == 0))
        for begin, end in run.visits.slices(I.size):
            seen = Seen(*visit_pairs(points, frequencies.p, I, begin, end, *rule, seen))
        complete = frequencies.complete
        violation = max(0.0, seen.largest - seen.least)
        run.dual = 0.5 * squared_length(model.w) - seen.gain  # |W| before the sweep: what the gap is relative to
        verdict = run.sweep(seen.steps, violation, seen.gain, seen.gap, criterion=violation, complete=complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        firm = frequencies.next_sweep(violation, verdict is Verdict.GO_ON)
        limits = Limits() if firm == inf else Limits(seen.least_late, seen.largest_late)
        if violation > 0.0:
            model.rho = 0.5 * (seen.least + seen.largest)
