"""A quadratic model with an L1 penalty over few columns."""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.types import Matrix, Vector


class DenseQuadratic(NamedTuple):
    """z'Hz/2 + sum_k l1_k |z_k| and a linear term: H holds l2 too, G is the slope at z.

    ``scale`` is the root of H's diagonal: violations over it do not depend on the scale of a column.
    """

    H: Matrix
    G: Vector
    l1: Vector
    z: Vector
    scale: Vector
