"""hingeline: linear support vector machines, trained exactly and fast, with a certificate."""

from __future__ import annotations

from .estimators import LinearSVC
from .kernels.losses import Hinge, SquaredHinge
from .solution import Certificate, Progress, Solution
from .solvers.solve import solve

__version__ = "0.1.0"

__all__ = ["Certificate", "Hinge", "LinearSVC", "Progress", "Solution", "SquaredHinge", "solve"]
