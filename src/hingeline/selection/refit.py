"""Where the last fit of a search starts from: the mean of what the folds have reached at the best C.

A fold trains with a fraction r of the rows. If there are 1/r times as many rows and each loss counts r times as much,
little changes: a fold's problem is nearly that of all rows at r C. So the mean of the folds' weights is nearly the
solution of that problem, and with alpha_fi the dual variable of row i in fold f,

    alpha_i = r times the mean of alpha_fi over the folds that train with row i

are dual variables of these weights. The step from r C to C is the same as along any path (see ``start``).
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
from .variables import packed


def from_folds(problem: Problem, reached: Sequence[Reached], folds: Sequence[Fold]) -> Reached:
    """Return an estimate of the solution of ``problem``, which has all rows, from the folds' solutions at one C."""
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
    return Reached(share * reached[0].C, w, spread, engine, *packed(alpha))
