"""Dual ascent on several machines: CoCoA+ with the hybrid's sweeps on each machine. Beyond the paper.

Problem    min_w   |w|^2/2 + sum_i loss_i(m_i)
Dual       max_a   W(a) = sum_i -conjugate_i(a_i) - |w|^2/2,   w = Z' a

In each round every machine k starts from the same w and improves the dual variables of its own rows. To allow for what
the others do at the same time, its quadratic term |Z' Delta_k|^2/2 is multiplied by sigma (dask/ascent.py). Then the
changes are added up, Delta = sum_k Delta_k.

The sigma that is needed is |Z' Delta|^2 / sum_k |Z' Delta_k|^2, which lies between 0 and the number of machines K and
is known only afterwards. With that sigma the sum of the local gains is a lower bound on the gain of the dual; with a
much larger one, steps are too short. So each round uses about what earlier rounds needed, and then takes the fraction
of the change that maximises the dual along it, which follows from the dual's terms at none, half and all of the change.
The dual never falls.

The shorter the rounds, the fewer sweeps it takes: variables of different machines react to each other at the end of a
round only. Package descriptions (61,000 rows, hinge, C = 1, a gap of 1e-3), which take 15 sweeps on one machine, take
16, 40 and 162 sweeps on two if rounds are 1/16, 1/4 and 1 sweep long, and 253, 160 and 163 rounds. So rounds are short,
and somewhat longer only if communication takes several times as long as computing.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from ...kernels.passes import squared_length
from ..clock import Ended
from ..driver import Run, Verdict
from ..state import State

FIRST_SIGMA, LEAST_SIGMA = 0.6, 0.5  # first value, as a fraction of the number of machines; least value
SPARE, MEMORY = 1.05, 0.7  # sigma over what was needed; weight of earlier rounds
EXPENSIVE, CHEAP = 4.0, 1.0  # ratio of communication to computing above and below which rounds get longer and shorter
FIRST, LONGEST = 1 / 16, 1 / 4  # sweeps per round: first, and at most


def cocoa(state: State, run: Run) -> None:
    """Run rounds on ``state`` until it has converged or ``run`` ends it."""
    shards = state.shards
    n_groups, sweep = shards.begin_ascent(int(state.rng[0]))
    ascent = _Rounds(state, run, n_groups, sweep)
    state.follow(shards.weights())
    complete, at = True, 0
    for _ in run.sweeps():
        visits = 0
        while at < sweep:
            done = ascent.round(complete and at == 0)
            at, visits = at + ascent.last_pieces, visits + done.visits
        at %= sweep
        verdict = run.sweep(visits, done.violation, ascent.dual - run.dual, done.gap, done.violation, complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        complete = verdict is not Verdict.GO_ON


class _Rounds:
    """One round after the other, with the sigma and the length that the rounds before suggest."""

    def __init__(self, state: State, run: Run, n_groups: int, sweep: int) -> None:
        self._state, self._run, self._n_groups, self._sweep = state, run, n_groups, sweep
        self._sigma, self._needed = max(1.0, FIRST_SIGMA * n_groups), 0.0
        self._pieces = max(1, int(FIRST * sweep)) if n_groups > 1 else sweep
        self.last_pieces, self.dual, self._begun = 0, 0.0, False

    def round(self, complete: bool) -> Any:
        """Do a round; returns what machines have seen, and sets ``dual``, which is exact at the start of each round."""
        state, shards = self._state, self._state.shards
        self.last_pieces = self._pieces
        done, change = shards.ascend(state.w, self._sigma, self._pieces, complete)
        u = state.regularised()
        squared, along = squared_length(change), float(change @ u)
        before = done.none - 0.5 * squared_length(u)
        if not self._begun:
            self._run.dual, self._begun = before, True
        share, gain = best_share(done.none, done.half, done.whole, along, squared)
        if not isfinite(gain):
            raise Ended("rounding")
        self.dual = before + gain
        shards.take(share)
        state.w += share * change
        if done.squares > 0.0:
            now = squared / done.squares
            self._needed = now if self._needed == 0.0 else MEMORY * self._needed + (1.0 - MEMORY) * now
            enough = SPARE * max(self._needed, now if share < 1.0 else 0.0)
            self._sigma = min(float(self._n_groups), max(LEAST_SIGMA, enough))
        if self._n_groups > 1:
            self._pieces = next_pieces(self._pieces, shards.last_round(), int(LONGEST * self._sweep))
        return done


def best_share(none: float, half: float, whole: float, along: float, squared: float) -> tuple[float, float]:
    """Return the fraction of a change, at most 1, that maximises the dual along it, and the gain.

    ``none``, ``half`` and ``whole`` are sums of the dual's terms with that much of the change; ``along`` is <w, Z'
    Delta> and ``squared`` is |Z' Delta|^2. The terms are quadratic in the fraction except at kinks, so the result is a
    guess; the gain of the whole change is exact.
    """
    bend = 2.0 * (none + whole - 2.0 * half)  # terms(t) = none + slope t + bend t^2
    slope = whole - none - bend - along
    curvature = squared - 2.0 * bend
    share = 1.0 if slope >= curvature or curvature <= 0.0 else max(0.0, slope / curvature)
    return share, share * slope - 0.5 * share * share * curvature


def next_pieces(n_pieces: int, seconds: tuple[float, float], most: int) -> int:
    """Return the length of the next round from the ``seconds`` of the last one: computing, and the rest."""
    computing, communicating = seconds
    if communicating > EXPENSIVE * computing > 0.0:
        return min(most, 2 * n_pieces)
    return max(1, n_pieces // 2) if communicating < CHEAP * computing else n_pieces
