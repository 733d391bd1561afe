"""Newton's equation H p = b, for a Hessian of few unknowns that may be badly scaled."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ..kernels.types import Matrix, Vector

RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # added to a Hessian of unit diagonal until it can be factorised


def solve_scaled(H: Matrix, b: Vector) -> Vector:
    """Solve H p = b from H's lower blocks, scaled to a unit diagonal and refined once. H is overwritten.

    If rounding spoils every factorisation, p is b divided by the diagonal, which is a descent direction in any case.
    Unknowns without curvature stay where they are.
    """
    root = np.sqrt(np.maximum(np.diag(H), 0.0))  # rounding may leave less than nothing
    scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0)
    H *= scale[:, None]
    H *= scale
    upper = H.T  # of LAPACK, which counts by columns
    rhs = scale * b
    for ridge in RIDGES:
        factor = upper.copy(order="F")
        factor.flat[:: len(H) + 1] += ridge
        factor, info = lapack.dpotrf(factor, lower=False, overwrite_a=True, clean=False)
        if info == 0:
            u, _ = lapack.dpotrs(factor, rhs, lower=False)
            more, _ = lapack.dpotrs(factor, rhs - blas.dsymv(1.0, upper, u, lower=False), lower=False)
            for solution in (u + more, u):
                p = scale * solution
                if np.isfinite(p).all() and p @ b > 0.0:
                    return p
    return b * scale * scale
