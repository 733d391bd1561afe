"""Ends a run without progress.

A run has stalled if, for at least 1,000 sweeps and half of all its sweeps, its dual value has not grown by a billionth
and its violation has not fallen by a hundredth. An iteration of Newton's method by conjugate gradients is worth many
sweeps, so 30 of them are enough. The other methods detect stalling themselves.
"""

from __future__ import annotations

from math import inf

PATIENCE = 1000  # sweeps
SHARE = 0.5  # of all sweeps so far
MOVED = 1e-9  # relative growth of the dual value that counts as progress
BETTER = 0.99  # a violation below this fraction of the best one counts as progress too


class StallCheck:
    """When the last progress was, and how long ago; ``patience`` is in sweeps."""

    def __init__(self, patience: int = PATIENCE) -> None:
        self._patience = patience
        self._sweep, self._dual, self._violation = 0, -inf, inf

    def is_stalled(self, sweep: int, dual: float, violation: float) -> bool:
        """Judge sweep number ``sweep`` by the dual value after it and the largest violation it saw."""
        grown = dual - self._dual > MOVED * abs(dual)
        if grown:
            self._dual = dual
        better = violation < BETTER * self._violation
        if better:
            self._violation = violation
        if grown or better:
            self._sweep = sweep
        return sweep - self._sweep >= max(self._patience, SHARE * sweep)
