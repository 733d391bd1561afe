"""The lasso of a Newton step solved exactly, weight by weight: the finish of coordinate descent on dependent columns.

The weights that are not zero go towards their joint minimum with their present signs, to the lowest point of the line
that leads there; a weight that reaches zero stays there. At their minimum, the weight whose condition is violated most
joins them. The model falls with every step, so no set comes twice, and there is an end however the columns depend on
each other. (Feature-sign search; Lee, Battle, Raina and Ng, 2006.)
"""

from __future__ import annotations

import numpy as np

from ...kernels.types import Indices, Vector
from ..newton_equation import solve_scaled
from .quadratic import DenseQuadratic


def solve_exactly(quadratic: DenseQuadratic, goal: float, most: int) -> float:
    """Minimise the model to violations of ``goal`` times a column's scale, in ``most`` steps; returns the gain."""
    H, G, l1, z, _ = quadratic
    began_at, G_there, gain = z.copy(), G.copy(), 0.0
    for _ in range(most):
        A, signs = _those_that_move(quadratic, goal)
        if A.size == 0:
            break
        slope = G[A] + l1[A] * signs
        K = H[np.ix_(A, A)]
        d = solve_scaled(K.copy(), -slope)
        curvature = float(d @ (K @ d))
        t, stopped = line_minimum(float(slope @ d), curvature, z[A], d, l1[A])
        moved = t * d
        gained = -t * float(slope @ d) - 0.5 * t * t * curvature
        if not gained > 0.0:  # rounding
            break
        gain += gained
        z[A] += moved
        if stopped >= 0:
            z[A[stopped]] = 0.0
        G[:] = G_there + H @ (z - began_at)
    return gain


def _those_that_move(quadratic: DenseQuadratic, goal: float) -> tuple[Indices, Vector]:
    """Return the weights that move next, and the signs that they have or will have; none at the minimum."""
    _, G, l1, z, scale = quadratic
    A = np.flatnonzero(z)
    signs = np.sign(z[A])
    if (np.abs(G[A] + l1[A] * signs) > goal * scale[A]).any():
        return A, signs
    at_zero = np.where(z == 0.0, np.abs(G) - l1, -np.inf) / scale
    j = int(np.argmax(at_zero))
    if at_zero[j] <= goal:
        return A[:0], signs[:0]
    return np.append(A, j), np.append(signs, -np.sign(G[j]))


def line_minimum(slope: float, curvature: float, z: Vector, d: Vector, l1: Vector) -> tuple[float, int]:
    """Return where z + t d is lowest, and the weight that is zero there (or -1).

    ``slope`` is the derivative at t = 0, which rises by 2 l1_k |d_k| at the t that makes z_k zero.
    """
    kinks = np.flatnonzero((z * d < 0.0) & (l1 > 0.0))
    at = -z[kinks] / d[kinks]
    order = np.argsort(at)
    t = 0.0
    for k, t_k in zip(kinks[order].tolist(), at[order].tolist(), strict=True):
        if slope + curvature * (t_k - t) >= 0.0:
            break
        slope += curvature * (t_k - t)
        t = t_k
        slope += 2.0 * l1[k] * abs(d[k])
        if slope >= 0.0:
            return t, k
    return (t - slope / curvature if curvature > 0.0 else t), -1
