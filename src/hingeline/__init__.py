"""hingeline: fast linear support vector machines, with a certificate of optimality on every fit.

Names are imported when they are first used, so that a command imports only what it needs: importing scikit-learn, on
which the estimators are built, takes longer than training on a small file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .io.models.kinds import register_on_demand
from .version import __version__

if TYPE_CHECKING:
    from .estimators import Checkpoint, LinearSVC, LinearSVR, LogisticRegression, OneClassSVM
    from .kernels.losses import (
        EpsilonInsensitive,
        Hinge,
        Logistic,
        Pinball,
        SquaredEpsilonInsensitive,
        SquaredHinge,
    )
    from .selection import CPath, LinearSVCCV, LinearSVRCV, LogisticRegressionCV, c_path
    from .solution import Certificate, Progress, Solution
    from .solvers.solve import solve

__all__ = [
    "CPath",
    "Certificate",
    "Checkpoint",
    "EpsilonInsensitive",
    "Hinge",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "Logistic",
    "LogisticRegression",
    "LogisticRegressionCV",
    "OneClassSVM",
    "Pinball",
    "Progress",
    "Solution",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "__version__",
    "c_path",
    "solve",
]

_HOMES = {
    "estimators": ("Checkpoint", "LinearSVC", "LinearSVR", "LogisticRegression", "OneClassSVM"),
    "kernels.losses": (
        "EpsilonInsensitive",
        "Hinge",
        "Logistic",
        "Pinball",
        "SquaredEpsilonInsensitive",
        "SquaredHinge",
    ),
    "selection": ("CPath", "LinearSVCCV", "LinearSVRCV", "LogisticRegressionCV", "c_path"),
    "solution": ("Certificate", "Progress", "Solution"),
    "solvers.solve": ("solve",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


# Files of models are read and written by classes that the estimators and the searches for C register.
register_on_demand(lambda: import_module(f"{__name__}.selection"))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
