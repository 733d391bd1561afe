"""Conjugate gradients: solve H p = -r with products H d alone, without H itself."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

CURVED, PASSED = 0.5, 0.02  # cost of a row in a product with and without curvature, in steps of coordinate descent


@np.errstate(over="ignore", invalid="ignore")  # an overflow ends the loop and never enters p
def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    r: np.ndarray,
    enough: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return p, the residual r + H p, and the number of products; stops when |r + H p| is at most ``enough``.

    Vectors may be arrays of another library, on a device. They may be as large as the data, so they are changed in
    place, and no more of them are alive than it takes.

    It takes at most ``most`` products; if that is too few, p is still a direction of descent.
    """
    p, r = 0.0 * r, 1.0 * r
    d = -precondition(r)
    rz = -float(r @ d)
    n_products = 0
    while n_products < most and 0.0 < rz < inf:  # zero: nothing is left to solve
        n_products += 1
        Hd = product(d)
        curvature = float(d @ Hd)
        if not 0.0 < curvature < inf:  # rounding: p cannot get better
            break
        step = rz / curvature
        if not step * step * float(d @ d) < inf:  # the curvature is nothing but rounding
            break
        p += step * d
        Hd *= step
        r += Hd
        if float(r @ r) <= enough * enough:
            break
        del Hd
        z = precondition(r)
        rz, before = float(r @ z), rz
        d *= rz / before
        d -= z
        del z
    return p, r, n_products


def steps_worth(curved: int, n_rows: int) -> float:
    """Return the cost of a product with I + Z' S Z with ``curved`` rows in S, in steps of coordinate descent."""
    return CURVED * curved + PASSED * (n_rows - curved)
