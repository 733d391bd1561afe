"""From rows and labels to a model of LIBLINEAR's, by one machine for two classes and one a class for more.

The optimum of the primal and of the dual problem is the same, so types that LIBLINEAR solves one way or the other (0
and 7, 1 and 2, 11 and 12) are one problem here; they differ in what ``-e`` means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.problem import Data, make_problem, read_data
from ..io.models.liblinear_file import LinearModel
from ..kernels.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredEpsilonInsensitive, SquaredHinge
from ..solution import Solution
from ..solvers.one_versus_rest import OneVersusRest, train_each
from .labels import class_factors, ordered_labels
from .run import MachineRun, Report, Trained, weights_of
from .settings import Settings
from .special import SPARSE_CLASSIFIERS, crammer_singer, one_class, sparse_classifier
from .starts import Starts

CLASSIFIERS: dict[int, Callable[[float], Loss]] = {
    0: Logistic,
    1: SquaredHinge,
    2: SquaredHinge,
    3: Hinge,
    7: Logistic,
}
REGRESSIONS: dict[int, Callable[[float, float], Loss]] = {
    11: SquaredEpsilonInsensitive,
    12: SquaredEpsilonInsensitive,
    13: EpsilonInsensitive,
}


def fit(
    X: Any,
    y: np.ndarray,
    settings: Settings,
    *,
    starts: Starts | None = None,
    report: Report | None = None,
    warn: Callable[[str], object] = lambda text: None,
) -> Trained:
    """Train what ``settings`` ask for.

    Parameters
    ----------
    X, y
        Rows, and labels or targets.
    settings : Settings
    starts : Starts, optional
        Where machines start from, and where they are remembered.
    report : callable, optional
        Told of the progress.
    warn : callable, optional
        Told what LIBLINEAR would warn of.
    """
    data = read_data(X, max(settings.bias, 0.0), settings.threads)
    run = MachineRun(settings, starts or Starts(), report)
    return TRAINERS[settings.type](data, y, run, warn)


def _one_versus_rest(data: Data, y: np.ndarray, run: MachineRun, warn: Callable[[str], object]) -> Trained:
    settings = run.settings
    labels, codes = ordered_labels(y)
    factors = class_factors(labels, settings.weights, warn)
    loss = CLASSIFIERS[settings.type](settings.C)

    classes = OneVersusRest(codes, len(labels), positive_of_two=0)

    def one(k: int, **how: Any) -> Solution:
        return run.problem(k, classes.problem(k, data, loss, factors), **how)

    solutions = train_each(one, len(classes), settings.threads)
    columns = [weights_of(s, settings.bias) for s in solutions]
    model = LinearModel(settings.type, labels, data.n_features, settings.bias, np.column_stack(columns))
    return Trained(model, solutions)


def _regression(data: Data, y: np.ndarray, run: MachineRun, warn: Callable[[str], object]) -> Trained:
    settings = run.settings
    loss = REGRESSIONS[settings.type](settings.C, settings.p)
    problem = make_problem(data, np.asarray(y, dtype=np.float64), None, loss)
    s = run.problem(0, problem, n_threads=settings.threads)
    w = weights_of(s, settings.bias).reshape(-1, 1)
    return Trained(LinearModel(settings.type, None, data.n_features, settings.bias, w), [s])


TRAINERS: dict[int, Callable[..., Trained]] = {
    **dict.fromkeys(CLASSIFIERS, _one_versus_rest),
    **dict.fromkeys(REGRESSIONS, _regression),
    **dict.fromkeys(SPARSE_CLASSIFIERS, sparse_classifier),
    4: crammer_singer,
    21: one_class,
}
