"""C = infinity: no penalty, as the limit of penalised problems.

As C grows, the solution of the penalised problem converges to the optimum without a penalty, if there is one: to the
shortest, if there are several. Its error in a direction of the weights is 1/(C times the curvature of the losses
there), so a C that is large relative to every column is as good as infinity, up to rounding. If the classes are
separable there is no optimum: scores grow with log(C) for ever. Comparing two values of C detects this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2

import numpy as np

from ..data.matrix import Data
from ..kernels.passes import add_diagonal
from ..kernels.types import Vector
from ..runtime.pace import Pace
from ..solution import Solution
from .history import scaled

LARGE = 1e12  # C times the sum of squares of the least column
LARGEST = 1e25  # C times the squared length of all rows: beyond, too few digits are left
APART = 1e3  # ratio of the two values of C that are compared
SAME = 1e-2  # change of a column's part of the scores that counts as none; growth with log(C) gives about log(APART)


def column_squares(data: Data, weights: Vector | None) -> Vector:
    """Return the sum of squares of each column, rows counted by their weights."""
    squares, of_rows = np.zeros(data.n_features + 1), np.ones(data.n_rows) if weights is None else weights
    for begin, end in Pace().slices(data.n_rows):
        add_diagonal(data.rows, of_rows, squares, begin, end)
    return squares[:-1]


def equivalent_C(data: Data, weights: Vector | None) -> float:
    """Return a C that is as good as infinity: a power of two, so that rounding in the squares does not change it."""
    squares = column_squares(data, weights)
    used = squares[squares > 0.0]
    largest = max(float(data.largest_q) * data.n_rows, 1e-300)
    return 2.0 ** round(log2(min(LARGE / float(used.min()), LARGEST / largest))) if used.size else 1.0


def has_optimum(data: Data, at_C: Sequence[Solution], at_less: Sequence[Solution]) -> bool:
    """Tell whether solutions at a large C and at C/``APART`` agree, so that they have a limit."""
    lengths = np.sqrt(column_squares(data, None) / data.n_rows)
    changes = [np.abs(a.w - b.w) * lengths for a, b in zip(at_C, at_less, strict=True)]
    return all(float(change.max(initial=0.0)) <= SAME for change in changes)


def per_C(solution: Solution, C: float) -> Solution:
    """Return the solution with objectives and dual variables divided by C: those of the losses, with weight 1."""
    c = solution.certificate
    certificate = c._replace(primal=c.primal / C, dual=c.dual / C)
    history = scaled(solution.history, 1.0 / C)
    return replace(solution, alpha=solution.alpha / C, certificate=certificate, history=history)


def without_optimum(solution: Solution) -> Solution:
    """Return the solution marked as not converged."""
    return replace(solution, converged=False, stop_reason="stalled")
