"""The lasso of a Newton step solved exactly, weight by weight: the finish of coordinate descent on dependent columns.

The weights that are not zero go towards their joint minimum with their present signs, to the lowest point of the line
that leads there; a weight that reaches zero stays there. At their minimum, the weight whose condition is violated most
joins them. The model falls with every step, so no set comes twice, and there is an end however the columns depend on
each other. (Feature-sign search; Lee, Battle, Raina and Ng, 2006.)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...kernels.compile import kernel
from ...kernels.types import Flags, Indices, Matrix, Vector
from ..newton_equation import solve_scaled
from .quadratic import DenseQuadratic

MOST_CHANGES = 8  # rows and columns up to which an inverse is brought up to date
ACCURATE, RIDGE = 1e-6, 1e-9  # of a solution; share of the diagonal that makes dependent columns independent


def solve_exactly(quadratic: DenseQuadratic, goal: float, most: int) -> float:
    """Minimise the model to violations of ``goal`` times a column's scale, in ``most`` steps; returns the gain."""
    H, G, l1, z, _ = quadratic
    began_at, G_there, gain = z.copy(), G.copy(), 0.0
    inverse = Inverse(H)
    for _ in range(most):
        A, signs = _those_that_move(quadratic, goal)
        if A.size == 0:
            break
        slope = G[A] + l1[A] * signs
        d = inverse.solve(A, -slope)
        curvature = float(d @ (H @ d))
        t, stopped = line_minimum(float(slope @ d[A]), curvature, z[A], d[A], l1[A])
        gained = -t * float(slope @ d[A]) - 0.5 * t * t * curvature
        if not gained > 0.0:  # rounding
            break
        gain += gained
        z += t * d
        if stopped >= 0:
            z[A[stopped]] = 0.0
        G[:] = G_there + H @ (z - began_at)
    return gain


class Inverse:
    """Solves systems of some rows and columns of H, which change by a few from one system to the next.

    M, the inverse over these rows and columns and zero elsewhere, is brought up to date, which costs far less than a
    factorisation. A ridge makes dependent columns independent. Where M is inaccurate, a system is solved afresh.
    """

    def __init__(self, H: Matrix) -> None:
        self._H, self._ridged = H, H.copy()
        self._ridged.flat[:: len(H) + 1] *= 1.0 + RIDGE
        self._M, self._in = np.zeros_like(H), np.zeros(len(H), dtype=bool)

    def solve(self, A: Indices, b: Vector) -> Vector:
        """Return d with H[A, A] d[A] = b, and zeros elsewhere; a descent direction if H is singular there."""
        rhs, wanted = np.zeros(len(self._H)), np.zeros(len(self._H), dtype=bool)
        rhs[A], wanted[A] = b, True
        if self._bring_to(wanted):
            d = self._M @ rhs
            d += self._M @ self._left(rhs, d)
            if np.abs(self._left(rhs, d)).max() <= ACCURATE * np.abs(b).max() and d @ rhs > 0.0:
                return d
        self._in[:] = False
        d = np.zeros_like(rhs)
        d[A] = solve_scaled(self._H[np.ix_(A, A)], b)
        return d

    def _left(self, rhs: Vector, d: Vector) -> Vector:
        return np.where(self._in, rhs - self._ridged @ d, 0.0)

    def _bring_to(self, wanted: Flags) -> bool:
        """Make M the inverse over the rows and columns that are wanted; tells whether that was possible."""
        leaving, joining = np.flatnonzero(self._in & ~wanted), np.flatnonzero(wanted & ~self._in)
        if leaving.size + joining.size > MOST_CHANGES:
            return self._invert(wanted)
        for j in leaving.tolist():
            column = self._M[j].copy()
            add_outer(self._M, column, -1.0 / float(column[j]))
            self._M[j] = self._M[:, j] = 0.0
            self._in[j] = False
        for j in joining.tolist():
            b = np.where(self._in, self._ridged[j], 0.0)
            column = self._M @ b
            left = float(self._ridged[j, j] - b @ column)
            if not left > 0.0:  # rounding
                return False
            column[j] = -1.0
            add_outer(self._M, column, 1.0 / left)
            self._in[j] = True
        return True

    def _invert(self, wanted: Flags) -> bool:
        A = np.flatnonzero(wanted)
        diagonal = self._ridged.diagonal()[A]
        if not (diagonal > 0.0).all():
            return False
        scale, K = 1.0 / np.sqrt(diagonal), np.empty((A.size, A.size))
        take_scaled(self._ridged, A, scale, K)
        upper, info = lapack.dpotrf(K.T, lower=False, overwrite_a=True, clean=False)
        if info == 0:
            upper, info = lapack.dpotri(upper, lower=False, overwrite_c=True)
        if info != 0:
            return False
        self._M[:] = 0.0
        put_scaled(upper.T, A, scale, self._M)
        self._in[:] = wanted
        return True


@kernel
def add_outer(M: Matrix, x: Vector, a: float) -> None:
    """M <- M + a x x'."""
    for j in range(x.size):
        if x[j] != 0.0:
            for k in range(x.size):
                M[j, k] += a * x[j] * x[k]


@kernel
def take_scaled(H: Matrix, A: Indices, scale: Vector, out: Matrix) -> None:
    """Copy the rows and columns A of a symmetric matrix, its rows and columns times ``scale``: the lower triangle."""
    for j in range(A.size):
        for k in range(j + 1):
            out[j, k] = H[A[j], A[k]] * scale[j] * scale[k]


@kernel
def put_scaled(lower: Matrix, A: Indices, scale: Vector, M: Matrix) -> None:
    """Write a symmetric matrix, of which the lower triangle is given, to the rows and columns A of M, scaled."""
    for j in range(A.size):
        for k in range(j + 1):
            M[A[j], A[k]] = lower[j, k] * scale[j] * scale[k]
            M[A[k], A[j]] = M[A[j], A[k]]


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
