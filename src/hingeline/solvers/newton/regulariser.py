"""The regulariser as Newton's method sees it: |w|^2/2 over all weights, or over all but that of a free intercept.

With a free intercept, the last entry of the gradient is that of -Z' alpha alone: it measures by how much the dual's
constraint sum_i alpha_i s_i = 0 is violated. The Hessian has no 1 there.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from ...kernels.types import Vector
from ..shards.interface import Shards


class Regulariser(NamedTuple):
    """|w|^2/2; ``is_free`` leaves the last weight, the intercept's, out of it."""

    is_free: bool
    longest: float  # length of the longest row
    bias: float  # value of the constant feature

    @classmethod
    def of(cls, shards: Shards, is_free: bool) -> Regulariser:
        """Return the regulariser for these rows; they have a constant feature if the intercept is free."""
        return cls(is_free, shards.longest, shards.bias)

    def part(self, w: Vector) -> Vector:
        """Return the part of w that is regularised: w itself, or a copy whose last entry is zero."""
        if not self.is_free:
            return w
        u = w.copy()
        u[-1] = 0.0
        return u

    def squared(self, residual: Vector) -> float:
        """Return a bound on |w - Z' alpha|^2 after the dual variables are made to satisfy the constraint.

        To satisfy it, some rows' variables change by the violation. That moves Z' alpha by at most the violation times
        the length of the longest row.
        """
        squared = float(residual @ residual)
        if self.is_free:
            lacking = float(residual[-1])
            squared += (self.longest * lacking / self.bias) ** 2 - lacking * lacking
        return squared

    def error(self, residual: Vector, curvature: float) -> float:
        """Estimate what a residual adds to the violation: through w, and through the way left to a free intercept.

        The latter is the constraint's violation divided by the sum of the curvatures; without curvature it is unknown.
        """
        error = self.longest * sqrt(self.squared(residual))
        if self.is_free and curvature > 0.0:
            error += abs(float(residual[-1])) / (self.bias * curvature)
        return error

    def add_curvature(self, diagonal: Vector) -> None:
        """Add the regulariser's curvature to the Hessian's diagonal, which stays positive."""
        diagonal[:-1] += 1.0
        if not self.is_free or not diagonal[-1] > 0.0:
            diagonal[-1] += 1.0
