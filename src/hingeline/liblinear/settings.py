"""What LIBLINEAR's options say, apart from files."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..io.models.solver_types import LOGISTIC, ONE_CLASS, REGRESSION, SOLVER_TYPES

TITLES = {
    0: "logistic regression, L2-regularised (primal)",
    1: "squared hinge, L2-regularised (dual)",
    2: "squared hinge, L2-regularised (primal)",
    3: "hinge, L2-regularised (dual)",
    4: "Crammer and Singer's multi-class machine",
    5: "squared hinge, L1-regularised",
    6: "logistic regression, L1-regularised",
    7: "logistic regression, L2-regularised (dual)",
    11: "regression, squared epsilon-insensitive (primal)",
    12: "regression, squared epsilon-insensitive (dual)",
    13: "regression, epsilon-insensitive (dual)",
    21: "one-class machine",
}
DEFAULT_TOLERANCE = {0: 0.01, 2: 0.01, 5: 0.01, 6: 0.01, 11: 1e-4, 21: 0.01}  # 0.1 for the others
FREE_BIAS = frozenset({0, 2, 5, 6, 11})


@dataclass(frozen=True)
class Settings:
    """A problem of LIBLINEAR's, and how to solve it.

    Attributes
    ----------
    type, C, p, nu, bias
        LIBLINEAR's ``-s -c -p -n -B``.
    tolerance : float, optional
        ``-e``; None: LIBLINEAR's default, which depends on the type.
    free_bias : bool
        ``-R``: the constant feature's weight is not regularised.
    weights : tuple of (label, factor)
        ``-wi``, in the order given; they multiply where a label is named twice.
    solver, gap, threads, seed, max_time
        Engine, relative duality gap to stop at (instead of ``tolerance``), threads, seed, seconds for all machines.
    """

    type: int = 1
    C: float = 1.0
    p: float = 0.1
    nu: float = 0.5
    tolerance: float | None = None
    bias: float = -1.0
    free_bias: bool = False
    weights: tuple[tuple[int, float], ...] = ()
    solver: str = "auto"
    gap: float | None = None
    threads: int = 1
    seed: int = 0
    max_time: float | None = None

    @property
    def eps(self) -> float:
        """The tolerance, in LIBLINEAR's terms for the type."""
        return DEFAULT_TOLERANCE.get(self.type, 0.1) if self.tolerance is None else self.tolerance

    @property
    def is_classification(self) -> bool:
        """Whether labels are classes."""
        return self.type not in REGRESSION and self.type != ONE_CLASS

    @property
    def is_regression(self) -> bool:
        """Whether labels are targets."""
        return self.type in REGRESSION

    @property
    def is_logistic(self) -> bool:
        """Whether the model gives probabilities."""
        return self.type in LOGISTIC

    def check(self) -> None:
        """Raise where LIBLINEAR would refuse, and where a number is none."""
        if self.type not in SOLVER_TYPES:
            raise ValueError(f"-s {self.type}: unknown solver type; known: {', '.join(map(str, SOLVER_TYPES))}.")
        for option, value in (("-c", self.C), ("-e", self.eps)):
            if not (value > 0.0 and isfinite(value)):
                raise ValueError(f"{option} {value:g}: a positive finite number is needed.")
        if not (self.p >= 0.0 and isfinite(self.p)):
            raise ValueError(f"-p {self.p:g}: epsilon must be a finite number, zero or more.")
        if not isfinite(self.bias):
            raise ValueError(f"-B {self.bias:g}: the bias must be finite.")
        if self.type == ONE_CLASS and not 0.0 < self.nu <= 1.0:
            raise ValueError(f"-n {self.nu:g}: nu must be above 0 and at most 1.")
        if self.type == ONE_CLASS and self.bias >= 0.0:
            raise ValueError(f"-B {self.bias:g}: the one-class machine (-s 21) has no bias; leave -B out.")
        if self.free_bias and self.bias != 1.0:
            raise ValueError("-R needs -B 1: a bias that is not regularised must be there.")
        if self.free_bias and self.type not in FREE_BIAS:
            raise ValueError(f"-R is there for -s {', '.join(map(str, sorted(FREE_BIAS)))}; not for -s {self.type}.")
        for label, factor in self.weights:
            if not (factor >= 0.0 and isfinite(factor)):
                raise ValueError(f"-w{label} {factor:g}: a weight must be a finite number, zero or more.")
