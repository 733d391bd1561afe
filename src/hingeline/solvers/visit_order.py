"""Which coordinates a sweep visits, how often and in which order: kernels/schedule.py, a slice of work at a time.

A coordinate with preference p_i is visited p_i times per sweep on average (p is scaled to mean one). The exact number
comes from bookkeeping, not from chance: its account grows by p_i each sweep, and the integer part is the number of
visits. So every active coordinate is visited within a bounded interval, which is what linear convergence needs.
"""

from __future__ import annotations

import numpy as np

from ..kernels.schedule import accumulate, shuffle, sum_preferences
from ..kernels.types import Generator, Indices, Vector
from ..runtime.pace import Pace

GOLDEN_TURN = np.uint32(2654435769)  # 2^32 times 0.618...


def new_accounts(n: int) -> Vector:
    """Return the accounts at the start: fractional parts of i times the golden ratio, so that no sweep is a burst."""
    turns = np.arange(n, dtype=np.uint32)
    turns *= GOLDEN_TURN  # modulo 2^32
    accounts = turns.astype(np.float32)
    accounts *= np.float32(2.0**-32)
    return accounts


def room_for_visits(l: int) -> Indices:
    """Return an array for the visits of a sweep over at most ``l`` coordinates.

    With accounts there are about l of them. Those that do not fit wait for the next sweep.
    """
    return np.empty(l + l // 8 + 16, dtype=np.uint32)


def total_preference(p: Vector, A: Indices, pace: Pace) -> float:
    """Return the sum of the preferences over A."""
    return sum(sum_preferences(p, A, begin, end) for begin, end in pace.slices(A.size))


def fill_from_accounts(p: Vector, A: Indices, accounts: Vector, I: Indices, scale: float, pace: Pace) -> int:
    """Fill I with the visits that are due after p is scaled over A; returns their number."""
    n = 0
    for begin, end in pace.slices(A.size):
        n = accumulate(p, A, accounts, I, begin, end, scale, n)
    return n


def shuffle_first(I: Indices, n: int, rng: Generator, pace: Pace) -> None:
    """Bring the first n entries of I into random order."""
    for begin, end in pace.slices(n):
        shuffle(I, n, begin, end, rng)


def order_visits(
    p: Vector, A: Indices, accounts: Vector, I: Indices, *, once: bool, rng: Generator, pace: Pace
) -> Indices:
    """Return the visits of a sweep in random order, a part of I: all of A ``once``, or as often as accounts say."""
    if once:
        n = A.size
        I[:n] = A
    else:
        n = fill_from_accounts(p, A, accounts, I, A.size / total_preference(p, A, pace), pace)
    shuffle_first(I, n, rng, pace)
    return I[:n]
