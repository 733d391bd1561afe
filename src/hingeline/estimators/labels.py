"""Labels and weights as scikit-learn's users give them, turned into what a problem needs."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from ..data.problem import check_weights
from ..data.values import refuse_masked
from ..runtime.aside import aside
from ..runtime.threads import in_parts

NOTHING = ("NAType", "NaTType")  # types of pandas' missing values
FEW_CLASSES = 8  # up to here, one comparison per class is faster than sorting the labels


def encode_labels(y: Any, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes, at least two, and the number of each row's class."""
    classes, codes = number_labels(y, n_threads)
    return checked_classes(classes), codes


def number_labels(y: Any, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the number of each row's class; there may be a single class."""
    refuse_masked(y, "y")
    if not (type(y) is np.ndarray and y.ndim == 1):
        y = column_or_1d(y, warn=True)
    if y.dtype.kind in "OS":
        _check_objects(y)
    parts = in_parts(n_threads, y.size, lambda part: _few_classes(y[part]))
    found = [part for part in parts if part is not None]
    same = len(found) == len(parts) and all(np.array_equal(part[0], found[0][0]) for part in found)
    if same:
        classes, codes = found[0][0], np.concatenate([part[1] for part in found]) if len(found) > 1 else found[0][1]
    else:
        classes, codes = _few_classes(y) or classes_in_order(y)
    if classes.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    if classes.dtype.kind in "fc" and not np.isfinite(classes).all():
        i = int(np.argmin(np.isfinite(y)))
        raise ValueError(f"Input y contains NaN or infinity (inf): y[{i}] is {y[i]}. Drop the row or give it a label.")
    return classes, codes


def _check_objects(y: np.ndarray) -> None:
    """Raise unless all labels are text: scikit-learn's scores take no other objects, and no bytes."""
    if y.dtype.kind == "S":
        raise ValueError("y holds bytes, which scikit-learn does not accept: convert them to text, y.astype(str).")
    kinds = {type(label) for label in y.tolist()}
    others = [kind for kind in kinds if not issubclass(kind, str)]
    if not others:
        return
    for i, label in enumerate(y.tolist()):
        if (
            (isinstance(label, float) and label != label)
            or label is None
            or type(label).__name__ in ("NAType", "NaTType")
        ):
            raise ValueError(f"Input y contains NaN or None: y[{i}] is {label}. Drop the row or give it a label.")
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    if len(kinds) > 1:
        raise ValueError(f"y mixes labels whose types cannot be ordered ({names}): use one type.")
    raise ValueError(
        f"Unknown label type: y is an array of Python objects ({names}). Labels must be numbers, booleans or text: "
        "convert y, for example by y.astype(int)."
    )


def _few_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return what ``np.unique`` would, without sorting y; None if there are more than a few classes.

    Each class is found by one comparison of all rows with the first row that no class before it has claimed.
    """
    claimed = np.zeros(y.shape, dtype=bool)
    firsts, members = list[int](), list[np.ndarray]()
    while y.size and not claimed[first := int(claimed.argmin())]:
        is_member = np.asarray(y == y[first])
        if len(firsts) == FEW_CLASSES or is_member.shape != y.shape or not is_member[first]:  # NaN equals nothing
            return None
        firsts.append(first)
        members.append(is_member)
        claimed |= is_member
    classes, order = classes_in_order(y[firsts])
    codes = np.zeros(y.shape, dtype=np.uint8)
    for code, is_member in zip(order.astype(np.uint8), members, strict=True):
        codes += code * is_member.view(np.uint8)
    return classes, codes


def classes_in_order(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes in order, and the number of each row's class."""
    return aside(lambda: np.unique(y, return_inverse=True), y.size)


def checked_classes(classes: np.ndarray) -> np.ndarray:
    """Return the classes, or raise unless they are two or more that can be labels."""
    if classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        raise ValueError(
            "Unknown label type: continuous. y must hold class labels, but it holds numbers such as "
            f"{classes[classes != np.floor(classes)][0]!r}. For a regression, use a regressor."
        )
    if classes.size < 2:
        raise ValueError(
            f"y holds {classes.size} class ({', '.join(map(str, classes))}): a classifier needs at least two classes."
        )
    return classes


def encode_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return the rows' weights as float64, checked; None if there are none."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        weights = np.full(n_rows, sample_weight, dtype=np.float64)
    else:
        refuse_masked(sample_weight, "sample_weight")
        try:
            weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
        except TypeError as error:
            raise ValueError(f"sample_weight holds something that is not a number: {error}.") from error
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar; got shape {weights.shape}.")
        check_consistent_length(weights, np.empty(n_rows, dtype=bool))
    check_weights(weights, n_rows)
    return weights


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> np.ndarray | None:
    """Return one weight per class; None if all are 1. "balanced" counts rows by weight, as scikit-learn does."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        counts = np.bincount(codes, weights, minlength=classes.size)
        return counts.sum() / (classes.size * np.where(counts > 0.0, counts, 1.0))
    weights = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError(f"class_weight must be non-negative and finite; got {class_weight!r}.")
    return np.asarray(weights, dtype=np.float64)
