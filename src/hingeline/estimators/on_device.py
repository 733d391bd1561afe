"""Fits and predictions with rows on a device.

Results live where X lives; if ``device`` has moved X there, they are NumPy's.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Any

import array_api_compat as compat
import numpy as np

from ..arrays.batch import can_train_together, train_one, train_together
from ..arrays.namespace import Place, to_numpy
from ..arrays.rows import array_rows
from ..arrays.train import SOLVERS
from ..kernels.losses import Loss
from ..kernels.types import Vector
from ..solution import Solution
from ..solvers.engines import AUTO
from .checkpoint import Checkpoint
from .device import is_array_elsewhere, other_place
from .device_set import ClassifiedOnDevice, DeviceSet, read_for_device
from .places import floating
from .watch import Watch


def refuse_what_is_for_the_cpu(estimator: Any, n_problems: int) -> None:
    """Raise if a parameter asks for something that is not available on a device."""
    if estimator._engine() not in SOLVERS:
        raise ValueError(
            f"solver={estimator.solver!r} visits one row at a time: on a device, use one of {', '.join(SOLVERS)}."
        )
    if hasattr(estimator, "_weight_of_loss") and estimator._weight_of_loss() == inf:
        raise ValueError("On a device a penalty is needed: choose a finite C and no penalty=None, or train on the CPU.")
    if any(isinstance(callback, Checkpoint) for callback in getattr(estimator, "_skl_callbacks", ())):
        raise ValueError("Checkpoint is not available on a device: remove it, or train on the CPU.")
    if hasattr(estimator, "_is_ridge") and not estimator._is_ridge():
        raise ValueError('On a device only penalty="l2" is available: choose it, or train on the CPU.')
    if getattr(estimator, "multi_class", None) == "crammer_singer":
        raise ValueError('multi_class="crammer_singer" is not available on a device: choose "ovr".')
    if n_problems > 1 and hasattr(estimator, "_is_multinomial") and estimator._is_multinomial(n_problems):
        raise ValueError(
            f'On a device, more than two classes are trained one against the rest: set multi_class="ovr" '
            f"({type(estimator).__name__}'s default is one multinomial problem)."
        )


def fit_on_device(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Train on a device; returns the estimator."""
    rows = read_for_device(estimator, X, y, sample_weight)
    refuse_what_is_for_the_cpu(estimator, rows.n_problems)
    return fit_rows_on_device(estimator, rows, _previous(estimator, rows))


def fit_rows_on_device(estimator: Any, rows: DeviceSet, starts: Vector | None) -> Any:
    """Train on rows that are on a device, from weights ``starts`` (a row per problem) if given."""
    loss, stop = estimator._loss(), estimator._stop()
    with Watch(estimator, rows) as watch:  # type: ignore[arg-type]
        begun, n = perf_counter(), rows.n_problems
        watch.begin(n, rows.names)
        free, solutions = estimator._intercept_is_free(), list[Solution]()
        if n > 1 and _goes_together(estimator, rows, loss):
            solutions = train_together(lambda k: rows.problem(k, loss), n, stop, free=free, starts=starts)
        for k in range(len(solutions), n):
            with watch.problem(k) as callback:
                left = stop.after(perf_counter() - begun)
                how = {"free": free, "callback": callback, "w0": None if starts is None else starts[k]}
                solutions.append(train_one(rows.problem(k, loss), estimator._engine(), left, **how))
        seconds = perf_counter() - begun
        _keep(estimator, rows, solutions)
        if len(solutions) > 1:
            estimator.fit_time_ = seconds
        watch.trained(solutions)
    estimator._report(rows, solutions)
    return estimator


def _goes_together(estimator: Any, rows: DeviceSet, loss: Loss) -> bool:
    """Tell whether all classes are trained at the same time: there is no callback, and the batch can train them."""
    is_watched = estimator.verbose or getattr(estimator, "_skl_callbacks", ())
    return not is_watched and trains_together(estimator, rows, loss)


def trains_together(estimator: Any, rows: DeviceSet, loss: Loss) -> bool:
    """Tell whether problems of these rows can be trained at the same time, by the estimator's rules."""
    chosen = estimator._engine() == AUTO and estimator.max_iter is None
    return chosen and can_train_together(rows.rows, loss, estimator._intercept_is_free())


def _previous(estimator: Any, rows: DeviceSet) -> Vector | None:
    """Return the weights of the last model, a row per problem, if there is one to start from."""
    if not (estimator.warm_start and hasattr(estimator, "coef_")):
        return None
    coef, intercept = (
        np.atleast_2d(to_numpy(array) if is_array_elsewhere(array) else array)
        for array in (estimator.coef_, estimator.intercept_)
    )
    if coef.shape != (rows.n_problems, rows.rows.n_features):
        return None
    bias = rows.rows.bias
    return np.column_stack([coef, intercept.ravel() / bias if bias else np.zeros(len(coef))])


def _keep(estimator: Any, rows: DeviceSet, solutions: list[Solution]) -> None:
    """Set every attribute of a fitted estimator."""
    xp = rows.rows.place.xp
    if isinstance(rows, ClassifiedOnDevice):
        estimator._keep_runs({**rows.features, "classes_": np.asarray(rows.names)}, solutions)
        estimator.classes_ = rows.classes
        duals = [s.alpha * rows.signs(k) for k, s in enumerate(solutions)]
        estimator.coef_ = rows.result(np.array([s.w for s in solutions]))
    else:
        estimator._keep_runs(rows.known, solutions)
        duals = [s.alpha for s in solutions]
        estimator.coef_ = rows.result(solutions[0].w)
    estimator.intercept_ = rows.result(np.array([s.intercept for s in solutions]))
    if not estimator.keep_dual:
        for name in ("dual_coef_", "support_"):
            vars(estimator).pop(name, None)
        return
    dual_coef = duals[0] if len(duals) == 1 else xp.stack(duals)
    some = dual_coef != 0.0
    estimator.dual_coef_ = rows.result(dual_coef)
    estimator.support_ = rows.result(xp.nonzero(some if some.ndim == 1 else xp.any(some, axis=0))[0])


def scores_on_device(estimator: Any, X: Any, method: str) -> Any:
    """Return X coef' + intercept, shape (n_rows, n_outputs), where X lives; ``method`` is what was called."""
    place = Place.of(X)
    for array in (estimator.coef_, estimator.intercept_):
        if is_array_elsewhere(array) and Place.of(array) != place:
            raise ValueError(
                f"{other_place(estimator, method)}: the model is in {Place.of(array).name}, but X is in {place.name}."
            )
    X = floating(X, place)
    if int(X.shape[1]) != estimator.n_features_in_:
        raise ValueError(
            f"X has {int(X.shape[1])} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    rows, xp = array_rows(X, 1.0), place.xp

    def there(array: Any) -> Any:
        return place.put(array) if isinstance(array, np.ndarray) else array

    coef, intercept = there(estimator.coef_), there(estimator.intercept_)
    coef = coef[None, :] if coef.ndim == 1 else coef
    weights = xp.concat([coef, xp.reshape(intercept, (-1, 1))], axis=1)
    values = rows.times_many(weights).T
    if not bool(xp.isfinite(xp.sum(values))) and not bool(xp.all(xp.isfinite(rows.squared_lengths()))):
        raise ValueError("Input X contains NaN or infinity (inf).")
    return values


def log_probabilities(values: Any) -> Any:
    """Return the logarithms of the probabilities for scores on a device, as ``predict_log_proba`` does."""
    xp = compat.array_namespace(values)

    def log_expit(f: Any) -> Any:
        return xp.where(f < 0.0, f, xp.zeros_like(f)) - xp.log1p(xp.exp(-xp.abs(f)))

    if values.ndim == 1:
        return xp.stack([log_expit(-values), log_expit(values)], axis=1)
    logs = log_expit(values)
    most = xp.max(logs, axis=1, keepdims=True)
    return logs - (most + xp.log(xp.sum(xp.exp(logs - most), axis=1, keepdims=True)))


def exponentials(logs: Any) -> Any:
    """Return probabilities from their logarithms, where these live."""
    return compat.array_namespace(logs).exp(logs)
