"""The input of ``fit``, read, checked and moved to a device once: rows, and the problems of labels or targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from ..arrays.namespace import Place, to_numpy
from ..arrays.problem import ArrayProblem, make_array_problem
from ..arrays.rows import ArrayRows, array_rows
from ..data.problem import check_weights
from ..kernels.losses import Loss
from ..solvers.solve import checked_targets
from .base import _Features
from .device import is_array_elsewhere
from .labels import checked_classes, class_weights, encode_labels, encode_weights
from .places import floating, moved, place_called


@dataclass(frozen=True)
class DeviceSet:
    """Rows on a device with targets of a regression; ``ClassifiedOnDevice`` has classes instead.

    It stands in for a ``TrainingSet``.

    Attributes
    ----------
    X, y, sample_weight
        As they were given.
    rows : ArrayRows
    q : array
        Squared lengths of the rows.
    features : dict
        What an estimator remembers of the features.
    weights : array or None
    targets : array
        Of float64.
    stays : bool
        Whether results live on the device.
    """

    X: Any
    y: Any
    sample_weight: Any
    rows: ArrayRows
    q: Any
    features: dict[str, Any]
    weights: Any
    targets: Any
    stays: bool
    data: None = None

    @property
    def n_problems(self) -> int:
        """How many problems are trained."""
        return 1

    @property
    def names(self) -> tuple[Any, ...]:
        """What the problems are called, if there are several."""
        return ()

    @property
    def known(self) -> dict[str, Any]:
        """The attributes of a fitted estimator that are known before training."""
        return self.features

    def result(self, array: Any) -> Any:
        """Return an array, NumPy's or of the device, where results live."""
        if not self.stays:
            return array if isinstance(array, np.ndarray) else to_numpy(array)
        return self.rows.place.put(array) if isinstance(array, np.ndarray) else array

    @property
    def truth(self) -> np.ndarray:
        """The targets, or the labels, one per row, in NumPy."""
        return to_numpy(self.targets)

    def problem(self, k: int, loss: Loss, weights: Any = None, balance: bool = True) -> ArrayProblem:
        """Return problem ``k``, with other ``weights`` of the rows if they are given.

        Balanced classes are then balanced by these, unless ``balance`` is false.
        """
        return make_array_problem(self.rows, self.targets, self.weights if weights is None else weights, loss, self.q)


@dataclass(frozen=True)
class ClassifiedOnDevice(DeviceSet):
    """Rows on a device with classes: one problem for two of them, one per class for more.

    Attributes
    ----------
    targets : array
        The number of each row's class.
    classes : array
        In order; where results live.
    class_weight : dict, "balanced" or None
    """

    classes: Any = None
    class_weight: Any = None

    @property
    def known(self) -> dict[str, Any]:  # noqa: D102
        return {**self.features, "classes_": self.classes}

    @cached_property
    def _labels(self) -> tuple[Any, ...]:
        return tuple((self.classes if isinstance(self.classes, np.ndarray) else to_numpy(self.classes)).tolist())

    @property
    def names(self) -> tuple[Any, ...]:
        """The classes."""
        return self._labels

    @property
    def n_problems(self) -> int:
        """One for two classes, one per class for more."""
        return 1 if len(self.names) == 2 else len(self.names)

    @property
    def truth(self) -> np.ndarray:  # noqa: D102
        return np.asarray(self.names)[to_numpy(self.targets)]

    @cached_property
    def class_weights(self) -> np.ndarray | None:
        """The weight of each class; None if all are 1."""
        return self._class_weights(self.weights)

    def _class_weights(self, weights: Any) -> np.ndarray | None:
        if self.class_weight is None:
            return None
        every = np.arange(len(self.names))
        return class_weights(self.class_weight, np.asarray(self.names), every, self.class_totals(weights))

    def class_totals(self, weights: Any) -> np.ndarray:
        """Return the sum of the rows' weights for each class."""
        xp, place = self.rows.place.xp, self.rows.place
        weights = place.full((self.rows.n_rows,), 1.0) if weights is None else weights
        zeros = xp.zeros_like(weights)
        sums = [xp.sum(xp.where(self.targets == k, weights, zeros)) for k in range(len(self.names))]
        return to_numpy(xp.stack(sums))

    @cached_property
    def _signs(self) -> list[Any]:
        place = self.rows.place
        one = place.full((1,), 1.0)
        positive = [1] if self.n_problems == 1 else range(self.n_problems)
        return [place.xp.where(self.targets == k, one, -one) for k in positive]

    def signs(self, k: int) -> Any:
        """Return the labels -1 and +1 of problem ``k``: the second of two classes is the positive one."""
        return self._signs[k]

    def problem(self, k: int, loss: Loss, weights: Any = None, balance: bool = True) -> ArrayProblem:  # noqa: D102
        of_class = self.class_weights if weights is None or not balance else self._class_weights(weights)
        y, weights = self.signs(k), self.weights if weights is None else weights
        if of_class is not None:
            xp, ones = self.rows.place.xp, self.rows.place.full((1,), 1.0)
            rest, own = (of_class[0], of_class[1]) if self.n_problems == 1 else (1.0, of_class[k])
            of_rows = xp.where(y > 0.0, float(own) * ones, float(rest) * ones)
            weights = of_rows if weights is None else weights * of_rows
        return make_array_problem(self.rows, y, weights, loss, self.q)


def read_for_device(estimator: Any, X: Any, y: Any, sample_weight: Any) -> DeviceSet:
    """Read and check what ``fit`` is given; raises if arrays are not all in one place."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    bias, device = estimator._bias(), estimator.device
    if is_array_elsewhere(X):
        place = Place.of(X)
        if device is not None and place_called(device) != place:
            raise ValueError(
                f"device={device!r}, but X is an array in {place.name}: leave device out, or move X there."
            )
        for name, array in (("y", y), ("sample_weight", sample_weight)):
            if array is not None and not (is_array_elsewhere(array) and Place.of(array) == place):
                there = Place.of(array).name if is_array_elsewhere(array) else type(array).__module__.split(".")[0]
                raise ValueError(f"X is in {place.name}, but {name} is in {there}: move both to one place.")
        rows, features = array_rows(floating(X, place), bias), _features_of(X)
        targets, weights = _of_device(y, sample_weight, rows)
    else:
        place = place_called(str(device))
        there, features = moved(X, bias, estimator.n_jobs, place)
        rows = array_rows(there, bias)
        targets, weights = y, encode_weights(sample_weight, rows.n_rows)
        weights = None if weights is None else place.put(weights)
    q = rows.squared_lengths()
    if not bool(place.xp.all(place.xp.isfinite(q))):
        i = int(place.xp.argmin(place.xp.astype(place.xp.isfinite(q), place.xp.int64)))
        raise ValueError(f"Input X contains NaN or infinity (inf), in row {i}. Drop the row, or fill in the values.")
    stays = is_array_elsewhere(X)
    common = (X, y, sample_weight, rows, q, features, weights)
    if not is_classifier(estimator):
        targets = targets if stays else place.put(checked_targets(targets, rows.n_rows))
        return DeviceSet(*common, place.xp.astype(targets, place.xp.float64), stays)
    if stays:
        classes, codes = place.xp.unique_inverse(targets)
        checked_classes(to_numpy(classes))
    else:
        classes, codes_here = encode_labels(targets)
        _check_length(rows.n_rows, codes_here.size)
        codes = place.put(codes_here, place.xp.int64)
    return ClassifiedOnDevice(*common, codes, stays, classes=classes, class_weight=estimator.class_weight)


def _features_of(X: Any) -> dict[str, Any]:
    features = _Features()
    validate_data(features, X, skip_check_array=True)
    return dict(vars(features))


def _check_length(n_rows: int, size: int) -> None:
    if size != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {size}]")


def _of_device(y: Any, sample_weight: Any, rows: ArrayRows) -> tuple[Any, Any]:
    """Return y and the weights, arrays of the device, checked."""
    xp = rows.place.xp
    if y.ndim == 2 and y.shape[1] == 1:
        y = xp.reshape(y, (-1,))
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {tuple(y.shape)} instead.")
    _check_length(rows.n_rows, int(y.shape[0]))
    if xp.isdtype(y.dtype, "complex floating"):
        raise ValueError("Complex data not supported: y holds complex numbers.")
    if xp.isdtype(y.dtype, "real floating") and not bool(xp.all(xp.isfinite(y))):
        i = int(xp.argmin(xp.astype(xp.isfinite(y), xp.int64)))
        raise ValueError(f"Input y contains NaN or infinity (inf), in row {i}. Drop the row.")
    if sample_weight is None:
        return y, None
    weights = xp.astype(sample_weight, xp.float64)
    check_weights(to_numpy(weights), rows.n_rows)
    return y, weights
