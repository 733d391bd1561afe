"""Classes in LIBLINEAR's order, and the weights of ``-wi``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..io.models.liblinear_file import INT_MAX


def ordered_labels(y: np.ndarray) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the labels in the order in which they are met first, and the number of each row's label.

    Of the two labels -1 and +1, +1 always comes first: it is what positive scores stand for.
    """
    values, first, codes = np.unique(y, return_index=True, return_inverse=True)
    wrong = (values != np.floor(values)) | (np.abs(values) > INT_MAX)
    if wrong.any():
        at = int(first[np.argmax(wrong)])
        raise ValueError(
            f"row {at + 1} has the label {y[at]:g}: classes are whole numbers of at most {INT_MAX}. "
            "For regression choose -s 11, 12 or 13."
        )
    order = np.argsort(first)
    if values.tolist() == [-1, 1]:
        order = np.array([1, 0])
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return tuple(int(value) for value in values[order]), rank[codes]


def class_factors(
    labels: tuple[int, ...], weights: tuple[tuple[int, float], ...], warn: Callable[[str], object]
) -> np.ndarray:
    """Return what C is multiplied by for each class; a weight of a label that is not there is warned of."""
    factors = np.ones(len(labels))
    for label, factor in weights:
        if label in labels:
            factors[labels.index(label)] *= factor
        else:
            warn(f"WARNING: class label {label} specified in weight is not found")
    return factors
