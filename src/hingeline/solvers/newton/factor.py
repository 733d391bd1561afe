"""Cholesky factors that survive badly scaled and dependent columns.

H is scaled to a unit diagonal before it is factored, H -> D^-1/2 H D^-1/2, so that one bound on the rounding error of a
pivot holds for all columns. The unit diagonal is raised by ``damping``, and by more if a pivot fails: the solution is
then that of a matrix nearby, which is still a direction of descent.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ...kernels.types import Matrix, Vector

RAISED = (1.0, 1e2, 1e4)  # times the damping, one after the other, until the factor exists


class Factor:
    """H^-1 for a symmetric H that is positive definite but for rounding; its lower triangle is read."""

    def __init__(self, H: Matrix, factor: Matrix, root: Vector) -> None:
        self._H, self._factor, self._root = H, factor, root
        self.condition = 1.0 / float(factor.diagonal().min()) ** 2  # largest ratio of a diagonal entry to its pivot

    def solve(self, b: Vector) -> Vector:
        """Return H^-1 b approximately."""
        x, _ = lapack.dpotrs(self._factor, b / self._root, lower=True)
        return np.asarray(x / self._root)

    def solve_refined(self, b: Vector) -> Vector:
        """Return H^-1 b with one step of iterative refinement."""
        x = self.solve(b)
        left = blas.dsymv(-1.0, self._H, x, beta=1.0, y=b, lower=True)
        return np.asarray(x + self.solve(left))


def factored(H: Matrix, damping: float) -> Factor | None:
    """Return the factor of H + damping diag(H), or of a little more; None if there is none."""
    diagonal = H.diagonal()
    if not ((diagonal > 0.0) & (diagonal < np.inf)).all():
        return None
    root = np.sqrt(diagonal)
    for raised in RAISED:
        scaled = H / root
        scaled /= root[:, None]
        scaled.flat[:: len(scaled) + 1] = 1.0 + raised * damping
        factor, info = lapack.dpotrf(scaled, lower=True, overwrite_a=True)
        if info == 0:
            return Factor(H, factor, root)
    return None
