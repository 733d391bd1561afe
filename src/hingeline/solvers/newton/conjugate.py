"""Conjugate gradients: H p = -r without H itself, which is known by its products alone."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

CURVED, PASSED = 0.5, 0.02  # what a row costs in a product, in steps of coordinate descent, with and without curvature


@np.errstate(over="ignore", invalid="ignore")  # what overflows ends the loop, and is not part of p
def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    r: np.ndarray,
    enough: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return p and what is left, r + H p, once that is at most ``enough`` long, and how many products it took.

    Vectors may be arrays of another library, on a device.

    ``most`` products are not exceeded; a p of fewer products than it takes is a direction of descent all the same.
    """
    p, r = 0.0 * r, 1.0 * r
    z = precondition(r)
    d, rz = -z, float(r @ z)
    n_products = 0
    while n_products < most and 0.0 < rz < inf:  # zero: nothing is left to solve
        n_products += 1
        Hd = product(d)
        curvature = float(d @ Hd)
        if not 0.0 < curvature < inf:  # rounding: p is as good as it gets
            break
        step = rz / curvature
        if not step * step * float(d @ d) < inf:  # rounding is all the curvature there is
            break
        p += step * d
        r += step * Hd
        if float(r @ r) <= enough * enough:
            break
        z = precondition(r)
        rz, before = float(r @ z), rz
        d = -z + (rz / before) * d
    return p, r, n_products


def steps_worth(curved: int, n_rows: int) -> float:
    """Return what a product with I + Z' S Z costs, in steps of coordinate descent, if ``curved`` rows are in it."""
    return CURVED * curved + PASSED * (n_rows - curved)
