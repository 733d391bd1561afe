"""Classes in LIBLINEAR's order, and the weights of ``-wi``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..io.models.liblinear_file import INT_MAX
from ..io.models.solver_types import numbers_with


def ordered_labels(y: np.ndarray, included: np.ndarray | None = None) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the labels in the order of their first rows, and the number of each row's label.

    Of the two labels -1 and +1, +1 always comes first: positive scores stand for it. If only some rows are
    ``included``, the others are ignored, and their numbers mean nothing.
    """
    values, first, codes = np.unique(y, return_index=True, return_inverse=True)
    wrong = (values != np.floor(values)) | (np.abs(values) > INT_MAX)
    if wrong.any():
        at = int(first[np.argmax(wrong)])
        raise ValueError(
            f"Row {at + 1} has the label {y[at]:g}, but classes are whole numbers up to {INT_MAX}. For a regression, "
            f"choose -s {numbers_with(is_regression=True)}."
        )
    if included is not None:
        rows = np.flatnonzero(included)
        present, first = np.unique(codes[rows], return_index=True)
        position = np.zeros(values.size, dtype=codes.dtype)
        position[present] = np.arange(present.size)
        values, codes = values[present], position[codes]
    order = np.argsort(first)
    if values.tolist() == [-1, 1]:
        order = np.array([1, 0])
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return tuple(int(value) for value in values[order]), rank[codes]


def class_weights_of(
    labels: tuple[int, ...], weights: tuple[tuple[int, float], ...], warn: Callable[[str], object]
) -> np.ndarray:
    """Return what C is multiplied by for each class; ``warn`` is called for each weight of an unknown label."""
    found = np.ones(len(labels))
    for label, factor in weights:
        if label in labels:
            found[labels.index(label)] *= factor
        else:
            warn(f"WARNING: class label {label} specified in weight is not found")
    return found
