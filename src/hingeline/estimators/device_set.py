"""The input of ``fit``, read, checked and moved to a device once: rows, and the problems of labels or targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import array_api_compat as compat
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from ..arrays.namespace import Place, no_warnings, to_numpy
from ..arrays.problem import ArrayProblem, make_array_problem
from ..arrays.rows import ArrayRows, array_rows
from ..data.problem import check_weights
from ..kernels.losses import Loss
from ..kernels.rows import CsrRows, DenseRows
from ..solvers.solve import checked_targets
from .base import _Features, read_to_fit
from .device import is_array_elsewhere
from .labels import checked_classes, class_weights, encode_labels, encode_weights


def place_called(device: str) -> Place:
    """Return the place that ``device`` names: PyTorch's if that sees it, else CuPy's; raises if there is none."""
    if find_spec("torch") is not None:
        import torch

        if not device.startswith("cuda") or torch.cuda.is_available():
            try:
                there = torch.empty(0, device=device)
            except (RuntimeError, AssertionError) as error:
                raise ValueError(f"device={device!r} is not a device that PyTorch knows here: {error}") from error
            return Place.of(there)
    if device.startswith("cuda") and find_spec("cupy") is not None:
        import cupy

        with cupy.cuda.Device(int(device.partition(":")[2] or 0)):
            return Place.of(cupy.empty(0))
    raise ValueError(
        f"device={device!r}: neither PyTorch nor CuPy sees it. Install one of them for your GPU, or leave device out."
    )


def moved(X: Any, bias: float, n_jobs: int | None, place: Place) -> tuple[Any, dict[str, Any]]:
    """Return X of NumPy's or SciPy's, checked, as an array of ``place``, and what is remembered of its features."""
    data, features = read_to_fit(X, bias, n_jobs)
    rows, xp = data.rows, place.xp
    if isinstance(rows, DenseRows):
        return place.put(rows.X, xp.float32 if rows.X.dtype == np.float32 else xp.float64), features
    values = np.array(rows.data) if isinstance(rows, CsrRows) else np.ones(rows.indices.size, dtype=np.float32)
    index = np.int32 if max(values.size, data.n_features) <= np.iinfo(np.int32).max else np.int64
    parts = [np.array(part).astype(index) for part in (rows.indptr, rows.indices)]
    shape = (data.n_rows, data.n_features)
    if compat.is_torch_namespace(xp):
        there = [xp.asarray(part, device=place.device) for part in (*parts, values)]
        with no_warnings():  # PyTorch calls its sparse matrices a beta version
            return xp.sparse_csr_tensor(*there, shape, check_invariants=False), features
    if compat.is_cupy_namespace(xp):
        from cupyx.scipy import sparse

        indptr, indices = (xp.asarray(part) for part in parts)
        return sparse.csr_matrix((xp.asarray(values), indices, indptr), shape=shape), features
    raise ValueError(f"{place.name} has no sparse matrices: make X dense.")


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


def floating(X: Any, place: Place) -> Any:
    """Return X in a floating-point type that is trained on, or raise."""
    xp = place.xp
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X needs one row per sample.")
    if 0 in X.shape:
        raise ValueError(f"Found array with shape {tuple(X.shape)}: X needs at least one sample and one feature.")
    if type(X).__module__.startswith("cupyx."):
        return X.tocsr()
    if "strided" not in str(getattr(X, "layout", "strided")):
        return X.to_sparse_csr()
    if X.dtype in (xp.float32, xp.float64):
        return X
    if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"Complex data not supported: X holds {X.dtype}.")
    return xp.astype(X, xp.float32 if xp.isdtype(X.dtype, "real floating") else xp.float64)


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
