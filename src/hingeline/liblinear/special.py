"""The machines that are no loss with |w|^2/2: Crammer and Singer's, those with the L1 norm, and one-class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.problem import Data
from ..io.models.liblinear_file import LinearModel
from ..kernels.losses import Logistic, Loss, SquaredHinge
from ..solution import Solution
from ..solvers.l1.by_columns import columns_if_many
from ..solvers.l1.primal import train_primal
from ..solvers.multiclass.crammer_singer import train_crammer_singer
from ..solvers.one_class.one_class import train_one_class
from ..solvers.one_versus_rest import OneVersusRest, train_each
from .labels import class_factors, ordered_labels
from .run import MachineRun, Trained, weights_of

SPARSE_CLASSIFIERS: dict[int, Callable[[float], Loss]] = {5: SquaredHinge, 6: Logistic}


def crammer_singer(data: Data, y: np.ndarray, run: MachineRun, warn: Callable[[str], object]) -> Trained:
    """Train one machine for all classes."""
    settings = run.settings
    labels, codes = ordered_labels(y)
    if len(labels) == 1:
        raise ValueError(
            f"all rows have the label {labels[0]}: Crammer and Singer's machine needs two classes or more."
        )
    factors = class_factors(labels, settings.weights, warn)
    weights = None if np.all(factors == 1.0) else factors[codes]

    def solve(start: np.ndarray | None, **how: Any) -> Solution:
        return train_crammer_singer(data, codes, len(labels), weights, settings.C, settings.solver, alpha0=start, **how)

    s = run.machine(0, settings.eps, solve)
    w = s.w.T
    if settings.bias >= 0.0:
        last = np.asarray(s.intercept) / settings.bias if settings.bias > 0.0 else np.zeros(len(labels))
        w = np.vstack((w, last))
    return Trained(LinearModel(settings.type, labels, data.n_features, settings.bias, w), [s])


def sparse_classifier(data: Data, y: np.ndarray, run: MachineRun, warn: Callable[[str], object]) -> Trained:
    """Train with the L1 norm; a machine starts from weights, since they are its variables."""
    settings = run.settings
    labels, codes = ordered_labels(y)
    factors = class_factors(labels, settings.weights, warn)
    loss, columns = SPARSE_CLASSIFIERS[settings.type](settings.C), columns_if_many(data)

    def variables(s: Solution) -> np.ndarray:
        return np.append(s.w, s.intercept / settings.bias if settings.bias > 0.0 else 0.0)

    classes = OneVersusRest(codes, len(labels), positive_of_two=0)

    def one(k: int, *, cancelled: Callable[[], bool], n_threads: int) -> Solution:
        problem = classes.problem(k, data, loss, factors)

        def solve(start: np.ndarray | None, **how: Any) -> Solution:
            return train_primal(
                problem,
                settings.solver,
                columns=columns,
                free_intercept=settings.free_bias,
                alpha0=start,
                cancelled=cancelled,
                **how,
            )

        return run.machine(k, run.tol(problem), solve, variables)

    solutions = train_each(one, len(classes), settings.threads)
    w = np.column_stack([weights_of(s, settings.bias) for s in solutions])
    return Trained(LinearModel(settings.type, labels, data.n_features, settings.bias, w), solutions)


def one_class(data: Data, y: np.ndarray, run: MachineRun, warn: Callable[[str], object]) -> Trained:
    """Train the machine that knows no labels; its engine finds a near start by itself, and takes no other."""
    settings = run.settings

    def solve(start: np.ndarray | None, **how: Any) -> Solution:
        return train_one_class(data, None, settings.nu, settings.solver, **how)

    s = run.machine(0, settings.eps, solve, resumes=False)
    w = s.w.reshape(-1, 1)
    return Trained(LinearModel(settings.type, None, data.n_features, settings.bias, w, rho=-float(s.intercept)), [s])
