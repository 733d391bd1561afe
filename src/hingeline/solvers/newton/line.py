"""The search along a line, from a slice of evaluations at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.pace import Pace
from .responses import search_line, step_found

LINE_STEPS = 40
SEARCHED_AT_ONCE = 10_000_000  # rows times evaluations of a line search: some 30 ms


def line_pace(check: Any, n_rows: int) -> Pace:
    """Return the pace of searches over so many rows."""
    return Pace(check, first=max(1, SEARCHED_AT_ONCE // n_rows))


def beginning(slope: float) -> tuple[float, float, float, float, float, bool]:
    """Return where a search begins: no bracket yet, the whole step."""
    return 0.0, slope, np.inf, np.inf, 1.0, False


def step_along(pace: Pace, slope: float, accuracy: float, *line: Any) -> float:
    """Return the step to the minimum along the ``line`` (``search_line``'s first arguments)."""
    at = beginning(slope)
    for begin, end in pace.slices(LINE_STEPS):
        args: tuple[Any, ...] = (*line, slope, accuracy, end - begin, at)
        at = search_line(*args)
        if at[-1]:
            break
    return float(step_found(at))
