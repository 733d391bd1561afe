"""The search along a line: the step tau that minimises |w + tau p|^2/2 + sum_i psi_i(m_i - tau t_i).

The derivative in tau is increasing and mostly piecewise linear. One shard searches within one compiled call
(``search_at_once``). Several shards are asked for the derivatives at several steps at once (``search``): with few rows
per thread a call costs more than its evaluations, so it may evaluate a ladder of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.losses import Loss
from ...kernels.rows import Rows, dot
from ...kernels.types import Matrix, Vector
from .kernels import BLOCK, Arrays, add_derivatives, own, respond

MOST_EVALUATIONS = 40
LADDER = np.array([1.0, 0.5, 0.25, 2.0])  # the first steps to evaluate, if several at once: 1 is Newton's own


class Line(NamedTuple):
    """What the search needs besides the losses.

    Attributes
    ----------
    slope : derivative of the objective at tau = 0
    wp, pp : <w, p> and <p, p>
    accuracy : fraction of the slope that counts as zero
    """

    slope: float
    wp: float
    pp: float
    accuracy: float


Place = tuple[float, float, float, float, float, bool]  # bracket with its derivatives, tau, whether tau is accurate


def beginning(slope: float) -> Place:
    """Return where a search begins: no bracket yet, the whole step."""
    return 0.0, slope, np.inf, np.inf, 1.0, False


@kernel
def narrowed(at: Place, first: float, second: float, slope: float, accuracy: float) -> Place:
    """Move tau towards the minimum of a convex function that has these derivatives at tau.

    By Newton's method; by the secant if that leaves the bracket; by bisection if the bracket has not halved, since the
    slopes at its ends may differ by orders of magnitude. ``at`` is what the previous call returned.
    """
    low, f_low, high, f_high, tau, done = at
    if abs(first) <= accuracy * abs(slope):
        return low, f_low, high, f_high, tau, True
    width = high - low
    if first < 0.0:
        low, f_low = tau, first
    else:
        high, f_high = tau, first
    if width < np.inf and high - low > 0.5 * width:
        return low, f_low, high, f_high, 0.5 * (low + high), done
    guess = tau - first / second
    if not low < guess < high:
        guess = low + (high - low) * f_low / (f_low - f_high) if high < np.inf else 4.0 * tau
    return low, f_low, high, f_high, guess, done


@kernel
def step_found(at: Place) -> float:
    """Return tau; if the search has run out of evaluations, the longest step known to lead downwards.

    If the derivatives are not finite, the step is 0.
    """
    tau = at[0] if at[0] > 0.0 and not at[5] else at[4]
    return tau if tau < np.inf else 0.0


@kernel
def search_at_once(
    loss: Loss, vectors: Arrays, delta: float, scale: float, line: Line, evaluations: int, at: Place
) -> Place:
    """Continue from ``at`` for some evaluations, over all rows of one shard."""
    begin, end = np.uint64(0), np.uint64(vectors[2].size)
    for _ in range(evaluations):
        tau = at[4]
        first, second = add_derivatives(loss, vectors, delta, scale, tau, begin, end)
        at = narrowed(at, first + line.wp + tau * line.pp, second + line.pp, line.slope, line.accuracy)
        if at[5]:
            break
    return at


@kernel
def move_rows(
    rows: Rows,
    loss: Loss,
    vectors: Arrays,
    p: Vector,
    delta: float,
    scale: float,
    line: Line,
    afresh: bool,
    v: Vector,
    change: Vector,
) -> tuple[float, tuple[float, int, int, float, float, float]]:
    """Find the step to the minimum along p, and respond there; returns the step and what ``respond`` returns.

    One call for all rows: each call costs a wait for Python's lock, and with many threads that is longer than the work.
    """
    C, s, _, t, _, _, _ = vectors
    first, second, n = line.wp + line.pp, line.pp, np.uint64(t.size)
    begin = np.uint64(0)
    while begin < n:
        end = min(begin + BLOCK, n)
        for i in range(begin, end):
            t[i] = s[i] * dot(rows, i, p) if own(C, i) > 0.0 else 0.0
        of_block = add_derivatives(loss, vectors, delta, scale, 1.0, begin, end)
        first += of_block[0]
        second += of_block[1]
        begin = end
    at = narrowed((0.0, line.slope, np.inf, np.inf, 1.0, False), first, second, line.slope, line.accuracy)
    if not at[5]:
        at = search_at_once(loss, vectors, delta, scale, line, MOST_EVALUATIONS - 1, at)
    tau = step_found(at)
    return tau, respond(rows, loss, vectors, tau, delta, afresh, v, change, 0, t.size)


def search(derivatives: Callable[[Vector], Matrix], line: Line, taus: Vector, values: Matrix) -> float:
    """Search by evaluating the ``derivatives`` of the losses at as many steps at once as ``taus`` has.

    ``values`` are the derivatives at ``taus``, the first steps.
    """
    low, f_low, high, f_high = 0.0, line.slope, np.inf, np.inf
    for _ in range(max(2, MOST_EVALUATIONS // taus.size)):
        first = values[:, 0] + line.wp + taus * line.pp
        second = values[:, 1] + line.pp
        best = int(np.argmin(np.abs(first)))
        if abs(first[best]) <= line.accuracy * abs(line.slope):
            return float(taus[best])
        width, guesses = high - low, taus - first / np.where(second > 0.0, second, np.inf)
        for tau, f in zip(taus.tolist(), first.tolist(), strict=True):
            if f < 0.0 and tau > low:
                low, f_low = tau, f
            elif f >= 0.0 and tau < high:
                high, f_high = tau, f
        taus = next_taus(low, f_low, high, f_high, guesses[np.argsort(np.abs(first))], width, taus.size)
        values = derivatives(taus)
    tau = low if low > 0.0 else float(taus[0])
    return tau if tau < np.inf else 0.0


def next_taus(low: float, f_low: float, high: float, f_high: float, guesses: Vector, width: float, n: int) -> Vector:
    """Return the next steps to evaluate: Newton's guesses inside the bracket, the secant's, and some spread over it."""
    inside = [tau for tau in guesses.tolist() if low < tau < high]
    if high == np.inf:
        start = max(low, 1.0)
        chosen = [*inside[:1], *(start * 4.0**k for k in range(1, n + 1))]
    else:
        middle = 0.5 * (low + high)
        secant = low + (high - low) * f_low / (f_low - f_high)
        spread = [low + (high - low) * k / n for k in range(1, n)]
        halved = width == np.inf or high - low <= 0.5 * width
        chosen = [*inside[:2], secant, middle, *spread] if halved else [middle, *inside[:2], secant, *spread]
        chosen = [tau for tau in chosen if low < tau < high] or [middle]
    distinct = list(dict.fromkeys(chosen))[:n]
    return np.array(distinct + distinct[-1:] * (n - len(distinct)))
