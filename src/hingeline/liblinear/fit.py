"""From rows and labels to a model of LIBLINEAR's.

Types that LIBLINEAR solves in the primal or in the dual (0 and 7, 1 and 2, 11 and 12) are one problem here; they
differ in what ``-e`` means (see ``tolerance``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.matrix import Data
from ..data.problem import make_problem
from ..data.read import read_data
from ..io.models.solver_types import Task
from ..solution import Solution
from ..solvers.l1.columns import columns_if_many
from ..solvers.multiclass.crammer_singer import train_crammer_singer
from ..solvers.one_class.one_class import train_one_class
from ..solvers.one_versus_rest import OneVersusRest, train_each
from .settings import Settings
from .training import Trained, Training


def fit(X: Any, y: np.ndarray, settings: Settings, **how: Any) -> Trained:
    """Read ``X`` and train on it; ``how`` is as for ``fit_data``."""
    return fit_data(read(X, settings), y, settings, **how)


def read(X: Any, settings: Settings) -> Data:
    """Return the rows, checked, with the constant feature that ``settings`` ask for."""
    return read_data(X, max(settings.bias, 0.0), settings.threads)


def fit_data(data: Data, y: np.ndarray, settings: Settings, **how: Any) -> Trained:
    """Train what ``settings`` ask for.

    Parameters
    ----------
    data, y
        Rows, and labels or targets.
    settings : Settings
    **how
        ``included``, ``starts``, ``report`` and ``warn``, as for ``Training``.
    """
    return TRAINERS[settings.solver_type.task](Training(data, y, settings, **how))


def one_versus_rest(training: Training) -> Trained:
    """Train one problem for two classes, else one per class."""
    settings, data = training.settings, training.data
    labels, codes, class_weights = training.classes()
    problems = OneVersusRest(codes, len(labels), positive_of_two=0)
    with_l1 = settings.solver_type.penalty == "l1"
    columns = columns_if_many(data) if with_l1 else None

    def train_one(k: int, *, n_threads: int, cancelled: Callable[[], bool]) -> Solution:
        problem = problems.problem(k, data, training.loss, class_weights, training.row_weights)
        if with_l1:
            return training.train_l1(k, problem, columns, cancelled=cancelled)
        return training.train_l2(k, problem, n_threads=n_threads, cancelled=cancelled)

    solutions = train_each(train_one, len(problems), settings.threads)
    return training.trained(labels, solutions)


def crammer_singer(training: Training) -> Trained:
    """Train one problem for all classes."""
    settings = training.settings
    labels, codes, class_weights = training.classes()
    if len(labels) == 1:
        raise ValueError(f"All rows have the label {labels[0]}: Crammer and Singer's SVM needs at least two classes.")
    weights = training.row_weights
    if np.any(class_weights != 1.0):
        weights = class_weights[codes] if weights is None else weights * class_weights[codes]

    def solve(start: np.ndarray | None, **how: Any) -> Solution:
        return train_crammer_singer(
            training.data, codes, len(labels), weights, settings.C, settings.solver, alpha0=start, **how
        )

    return training.trained(labels, [training.solve(0, settings.eps, solve)])


def regression(training: Training) -> Trained:
    """Train one problem over targets."""
    targets = np.asarray(training.y, dtype=np.float64)
    problem = make_problem(training.data, targets, training.row_weights, training.loss)
    return training.trained(None, [training.train_l2(0, problem, n_threads=training.settings.threads)])


def one_class(training: Training) -> Trained:
    """Train one problem without labels."""
    settings = training.settings

    def solve(start: np.ndarray | None, **how: Any) -> Solution:
        return train_one_class(training.data, training.row_weights, settings.nu, settings.solver, alpha0=start, **how)

    solution = training.solve(0, settings.eps, solve)
    return training.trained(None, [solution], rho=-float(solution.intercept))


TRAINERS: dict[Task, Callable[[Training], Trained]] = {
    "one_versus_rest": one_versus_rest,
    "crammer_singer": crammer_singer,
    "regression": regression,
    "one_class": one_class,
}
