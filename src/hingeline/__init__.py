"""hingeline: linear support vector machines, trained exactly and fast, with a certificate."""

from __future__ import annotations

from .estimators import LinearSVC, LinearSVR, LogisticRegression, OneClassSVM
from .kernels.losses import EpsilonInsensitive, Hinge, Logistic, SquaredEpsilonInsensitive, SquaredHinge
from .solution import Certificate, Progress, Solution
from .solvers.solve import solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "EpsilonInsensitive",
    "Hinge",
    "LinearSVC",
    "LinearSVR",
    "Logistic",
    "LogisticRegression",
    "OneClassSVM",
    "Progress",
    "Solution",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "solve",
]
