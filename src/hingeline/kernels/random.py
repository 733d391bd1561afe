"""The solver's own seeded generator: splitmix64, one 64-bit word of state in an array.

The same stream on every platform and NumPy version, and cheap enough to be called once per step. Numbers are 64-bit
words that wrap around; NumPy scalars warn about that when they run uncompiled, hence the twin in plain integers, which
also serves the slow reference in the tests.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .compile import kernel
from .types import Generator, Index

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
MASK = 0xFFFFFFFFFFFFFFFF
TWO_TO_MINUS_53 = 2.0**-53

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_27, _30, _31, _32, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)


def seeded(seed: int) -> Generator:
    """Return a generator's state."""
    return np.array([seed & MASK], dtype=np.uint64)


def plain_word(state: Generator) -> int:
    """Return the next 64 random bits, in plain Python integers."""
    s = (int(state[0]) + GOLDEN) & MASK
    state[0] = s
    s = ((s ^ (s >> 30)) * MIX_1) & MASK
    s = ((s ^ (s >> 27)) * MIX_2) & MASK
    return s ^ (s >> 31)


def plain_uniform(state: Generator) -> float:
    """Return a number in [0, 1), in plain Python."""
    return (plain_word(state) >> 11) * TWO_TO_MINUS_53


def plain_below(state: Generator, n: Index) -> int:
    """Return an integer in [0, n), in plain Python."""
    return ((plain_word(state) >> 32) * int(n)) >> 32


@kernel
def _word(state: Generator) -> np.uint64:
    s = state[0] + _GOLDEN
    state[0] = s
    s = (s ^ (s >> _30)) * _MIX_1
    s = (s ^ (s >> _27)) * _MIX_2
    return s ^ (s >> _31)


def _uniform(state: Generator) -> float:
    return np.float64(_word(state) >> _11) * TWO_TO_MINUS_53


def _below(state: Generator, n: Index) -> np.uint64:
    return ((_word(state) >> _32) * np.uint64(n)) >> _32


uniform: Callable[[Generator], float] = kernel(_uniform, uncompiled=plain_uniform)
below: Callable[[Generator, Index], Index] = kernel(_below, uncompiled=plain_below)
