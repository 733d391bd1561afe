"""Hard shrinking and adaptive frequencies together: Algorithm 2's active set with Algorithm 5's preferences.

Goes beyond the paper.

Problem    min_w   |w|^2/2 + sum_i C_i max(0, 1 - y_i <x_i, w>)
Dual       max_a   W(a) = sum_i a_i - |w|^2/2,   w = sum_i a_i y_i x_i,   0 <= a_i <= C_i

Variables that press against their bound leave the active set A, as in the baseline; those in A are visited p_i times a
sweep on average, as in AVSF. How often exactly is a matter of bookkeeping, not of dice: an account grows by p_i each
sweep, and its whole part is the number of visits. So every variable of A is visited within a bounded
interval, which is what linear convergence needs, and a sweep visits about |A| of them. The most that a variable may be
visited grows where those that are visited so often make most of the gain.

When a sweep over A is below eps, one over all variables verifies it. Preferences outlive the verification: what was
learned about a variable is not forgotten, only its absence from A.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ...kernels.compile import kernel
from ...kernels.lookahead import RECORD_AHEAD, look_ahead
from ...kernels.losses import gap_estimate, missing, pull, sign, step
from ...kernels.rows import axpy, dot
from ...kernels.schedule import HELD, Preferences, accumulate, adapted, keep_active, shuffle, sum_preferences
from ...kernels.shrink import Thresholds, is_shrunk, next_thresholds, wider
from ..driver import Run, Verdict
from ..state import State

EARLY = 8  # sweeps in which the last one alone sets the thresholds; afterwards the wider of two
MOST_GAIN, LITTLE_GAIN = 0.5, 0.25  # of a sweep's gain
LARGEST_P_MAX = 400.0  # p_max / p_min of the paper: as many visits as AVSF may give for one of the least
GOLDEN_TURN = np.uint32(2654435769)  # 2^32 times 0.618...


class Seen(NamedTuple):
    """What a sweep has seen so far."""

    steps: int = 0
    v_min: float = inf
    v_max: float = -inf
    D_ref: float = 0.0
    gain: float = 0.0
    gap: float = 0.0
    held: float = 0.0  # the part of the gain that variables at p_max made


@kernel
def visit(
    rows: Any,
    loss: Any,
    variables: Any,
    w: Any,
    I: Any,
    begin: Any,
    end: Any,
    thresholds: Any,
    preferences: Any,
    fading: Any,
    once: Any,
    first_sweep: Any,
    seen: Any,
) -> Any:
    """Visit the variables I[begin:end]; the sign of p_i marks those that leave the active set.

    ``once`` says that the sweep visits every variable once, whatever its preference.
    """
    alpha, q, C, p, y = variables
    steps, v_min, v_max, D_ref, gain, gap, held = seen
    for k in range(np.uint64(begin), np.uint64(end)):
        if k + RECORD_AHEAD < np.uint64(I.size):
            look_ahead(rows, alpha, w, I, k)
        i = I[k]
        if p[i] < 0.0:
            continue
        steps += 1
        m = missing(loss, y[i], dot(rows, i, w))
        v, pressure = pull(loss, m, alpha[i], C[i])
        if is_shrunk(thresholds, pressure):
            p[i] = -p[i]
            continue
        v_min, v_max = min(v_min, v), max(v_max, v)
        term = gap_estimate(loss, m, alpha[i], C[i])
        gap += term if once else term / p[i]  # seldom visited variables stand for more
        delta = 0.0
        if v != 0.0:
            stepped, delta = step(loss, m, alpha[i], q[i], C[i])
            mu = stepped - alpha[i]
            alpha[i] = stepped
            axpy(rows, i, mu * sign(loss, y[i]), w)
            gain += delta
            if p[i] > HELD * preferences.p_max:
                held += delta
        if first_sweep:
            D_ref += fading * delta
        else:
            p[i] = adapted(preferences, p[i], delta, D_ref)
            D_ref = (1.0 - fading) * D_ref + fading * delta
    return steps, v_min, v_max, D_ref, gain, gap, held


def hybrid(state: State, run: Run, preferences: Preferences = Preferences()) -> None:
    """Run the hybrid on ``state`` until it is done (or ``run`` ends it)."""
    problem, p = state.problem, state.variables.p
    rows, loss, l = problem.data.rows, problem.loss, problem.n_variables
    p[:] = 1.0
    A = problem.variables_in_order()
    visits = spread(problem.data.n_rows)
    I = np.empty(2 * l, dtype=np.uint32)
    n_active, thresholds, before, complete = l, Thresholds(), Thresholds(), True
    seen, least = Seen(), preferences.p_max
    for sweep in run.sweeps():
        n = schedule(state, run, A[:n_active], visits, I, once=complete)
        seen = Seen(D_ref=seen.D_ref)
        for begin, end in run.visits.slices(n):
            args = (rows, loss, state.variables, state.w, I[:n], begin, end, thresholds, preferences, 1.0 / n_active)
            seen = Seen(*visit(*args, complete, sweep == 0, seen))
        violation = max(seen.v_max, -seen.v_min, 0.0)
        preferences = in_reach(preferences, least, seen)
        verdict = run.sweep(seen.steps, violation, seen.gain, seen.gap, criterion=violation, complete=complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        n_active = keep_active(p, A, n_active) if verdict is Verdict.GO_ON else 0
        if n_active > 0:
            last = next_thresholds(seen.v_min, seen.v_max)
            thresholds = last if sweep < EARLY else wider(last, before)
            before, complete = last, False
        else:
            np.abs(p, out=p)
            A = problem.variables_in_order()
            n_active, thresholds, complete = l, Thresholds(), True


def in_reach(preferences: Preferences, least: float, seen: Seen) -> Preferences:
    """Return the preferences with p_max doubled where those held back by it gained most, halved (to ``least``) else.

    Preferences are scaled to mean one over A, so 20 is not much where a handful of variables depend on each other (rows
    that contradict each other, at large C), and a larger p_max is too much noise elsewhere.
    """
    p_max = preferences.p_max
    if seen.held > MOST_GAIN * seen.gain:
        p_max = min(2.0 * p_max, LARGEST_P_MAX)
    elif seen.held < LITTLE_GAIN * seen.gain:
        p_max = max(0.5 * p_max, least)
    return preferences._replace(p_max=p_max)


def spread(n: int) -> np.ndarray:
    """Return where the accounts start: fractional parts of i times the golden ratio, so that no sweep is a burst."""
    turns = np.arange(n, dtype=np.uint32)
    turns *= GOLDEN_TURN  # modulo 2^32
    visits = turns.astype(np.float32)
    visits *= np.float32(2.0**-32)
    return visits


def schedule(state: State, run: Run, A: np.ndarray, visits: np.ndarray, I: np.ndarray, once: bool) -> int:
    """Fill I with the visits of a sweep in random order; returns their number."""
    n = 0
    if once:
        n = A.size
        I[:n] = A
    else:
        p = state.variables.p
        total = sum(sum_preferences(p, A, begin, end) for begin, end in run.shuffles.slices(A.size))
        for begin, end in run.shuffles.slices(A.size):
            n = accumulate(p, A, visits, I, begin, end, A.size / total, n)
    for begin, end in run.shuffles.slices(n):
        shuffle(I, n, begin, end, state.rng)
    return n
