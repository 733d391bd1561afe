"""Where the last fit of a search starts from: the mean of what the folds have reached at the best C.

A fold trains with a share r of the rows. If each loss counts r times as much and there are 1/r times as many, little
changes: the problem of a fold is nearly that of all rows at r C. So the mean of the folds' weights is nearly its
solution, and with alpha_fi the dual variable of row i in fold f,

    alpha_i = r times the mean of alpha_fi over the folds that train with row i

are dual variables of these weights. From r C to C it is the way of any path (see ``start``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf

import numpy as np

from ..data.problem import Problem
from ..solvers.engines import ENGINES
from .folds import Fold
from .start import Reached, mean_shift


def from_folds(problem: Problem, reached: Sequence[Reached], folds: Sequence[Fold]) -> Reached:
    """Return what the folds' solutions, all at one C, tell of the solution of ``problem``, which has all rows."""
    total, counts = np.zeros(problem.data.n_rows), np.zeros(problem.data.n_rows)
    w = np.zeros_like(reached[0].w)
    for at, fold in zip(reached, folds, strict=True):
        total += at.alpha
        counts += fold.counts
        w += at.w
    w /= len(reached)
    share = min(1.0, float(counts.mean()) / len(reached))
    alpha = share * total / np.maximum(counts, 1.0)
    engine = Counter(at.engine for at in reached).most_common(1)[0][0]
    spread = mean_shift(problem, reached[0].w - w) if ENGINES[engine].begins_near else inf
    return Reached(share * reached[0].C, alpha, w, spread, engine)
