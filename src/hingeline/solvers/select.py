"""Which engine for which problem: ``solver="auto"``."""

from __future__ import annotations

from dataclasses import replace

from ..problem import Problem
from .driver import Stop

SMALL = 100_000  # rows times columns; solved to rounding, which costs nothing and forgets the order of the rows


def choose(problem: Problem, stop: Stop) -> tuple[str, Stop]:
    """Return the engine's name and when it is to stop."""
    if problem.data.n_rows * problem.data.n_features <= SMALL:
        return "newton", replace(stop, tol=0.0, gap_tol=None)
    return "avsf", stop
