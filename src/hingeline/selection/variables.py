"""Dual variables between two fits of a search: packed, and which of them are at a bound.

Compiled, so that the threads of a search wait neither for each other nor for passes of NumPy.
"""

from __future__ import annotations

import numpy as np

from ..kernels.compile import kernel
from ..kernels.losses import Loss, lower, upper
from ..kernels.types import Flags, Index, Vector
from ..runtime.pace import NUMBERS, Pace

ZERO, MOST, LEAST, OTHER = range(4)  # codes of dual variables


def packed(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dual variables as a code of one byte each, and the numbers that codes do not tell.

    Most variables are zero, or at a bound that is the same for all. The codes MOST and LEAST stand for the largest
    magnitude with its sign, the first of the numbers; the variables of the code OTHER are the rest of them. If that
    would save little, there are no codes, and the numbers are the variables themselves.
    """
    most = max(alpha.max(initial=0.0), -alpha.min(initial=0.0))
    codes = np.empty(alpha.size, dtype=np.uint8)
    n = sum(encode(alpha, most, codes, begin, end) for begin, end in Pace(first=NUMBERS).slices(alpha.size))
    if 2 * n > alpha.size or alpha.size == 0:
        return np.empty(0, dtype=np.uint8), alpha
    numbers, at = np.empty(1 + n), 1
    numbers[0] = most
    for begin, end in Pace(first=NUMBERS).slices(alpha.size):
        at = collect(alpha, codes, numbers, at, begin, end)
    return codes, numbers


def unpacked(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the dual variables that ``packed`` has packed, as a new array."""
    if codes.size == 0:
        return numbers.copy()
    alpha, at = np.empty(codes.size), 1
    for begin, end in Pace(first=NUMBERS).slices(alpha.size):
        at = decode(codes, numbers, alpha, at, begin, end)
    return alpha


@kernel
def encode(alpha: Vector, most: float, codes: Vector, begin: Index, end: Index) -> int:
    """Write the codes of the variables from begin to end; returns how many of them are OTHER."""
    n = 0
    for i in range(np.uint64(begin), np.uint64(end)):
        a = alpha[i]
        codes[i] = ZERO if a == 0.0 else MOST if a == most else LEAST if a == -most else OTHER
        n += codes[i] == OTHER
    return n


@kernel
def collect(alpha: Vector, codes: Vector, numbers: Vector, at: int, begin: Index, end: Index) -> int:
    """Write the variables of the code OTHER to ``numbers``, from position ``at`` on; returns the end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if codes[i] == OTHER:
            numbers[at] = alpha[i]
            at += 1
    return at


@kernel
def decode(codes: Vector, numbers: Vector, alpha: Vector, at: int, begin: Index, end: Index) -> int:
    """Do the opposite of ``encode`` and ``collect``."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if codes[i] == OTHER:
            alpha[i] = numbers[at]
            at += 1
        else:
            alpha[i] = 0.0 if codes[i] == ZERO else numbers[0] if codes[i] == MOST else -numbers[0]
    return at


@kernel
def is_bounded(loss: Loss, C: float, share: float, q: float, a: float) -> bool:
    """Tell whether a variable is at least at this share of its bound, if that is not 0."""
    bound = upper(loss, C) if a >= 0.0 else lower(loss, C)
    return C > 0.0 and q > 0.0 and abs(a) >= share * abs(bound)


@kernel
def mark_bounded(
    loss: Loss, C: Vector, share: float, q: Vector, alpha: Vector, out: Flags, begin: Index, end: Index
) -> None:
    """Tell which variables are at a bound; C has one entry per row, or a single one for all."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i] = is_bounded(loss, C[i] if C.size > 1 else C[0], share, q[i], alpha[i])


@kernel
def is_any_bounded(loss: Loss, C: Vector, share: float, q: Vector, alpha: Vector, begin: Index, end: Index) -> bool:
    """Tell whether any variable from begin to end is at a bound."""
    for i in range(np.uint64(begin), np.uint64(end)):
        if is_bounded(loss, C[i] if C.size > 1 else C[0], share, q[i], alpha[i]):
            return True
    return False
