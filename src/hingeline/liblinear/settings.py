"""The options of LIBLINEAR's ``train`` except for files, and hingeline's own."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..io.models.solver_types import DEFAULT, SOLVER_TYPES, SolverType, numbers_with


@dataclass(frozen=True)
class Settings:
    """What to train, and how.

    Attributes
    ----------
    type, C, p, nu, bias
        LIBLINEAR's ``-s -c -p -n -B``; ``solver_type`` is the type that ``type`` is the number of.
    tolerance : float, optional
        ``-e``; None: LIBLINEAR's default, which depends on the type.
    free_bias : bool
        ``-R``: the constant feature's weight is not regularised.
    weights : tuple of (label, factor)
        ``-wi``, in the order given; the factors of a label that is named twice are multiplied.
    solver, gap, threads, seed, max_time
        Engine, relative duality gap to stop at (instead of ``tolerance``), threads, seed, seconds in all.
    """

    type: int = DEFAULT.number
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
    def solver_type(self) -> SolverType:
        """LIBLINEAR's type."""
        return SOLVER_TYPES[self.type]

    @property
    def eps(self) -> float:
        """The tolerance, in LIBLINEAR's terms for the type."""
        return self.solver_type.eps if self.tolerance is None else self.tolerance

    def check(self) -> None:
        """Raise ``ValueError`` if LIBLINEAR would refuse the options, or a number is not finite."""
        if self.type not in SOLVER_TYPES:
            raise ValueError(f"-s {self.type}: unknown type; choose one of {numbers_with()}.")
        for option, value in (("-c", self.C), ("-e", self.eps)):
            if not (value > 0.0 and isfinite(value)):
                raise ValueError(f"{option} {value:g}: must be a positive finite number.")
        if not (self.p >= 0.0 and isfinite(self.p)):
            raise ValueError(f"-p {self.p:g}: epsilon must be a finite number, zero or more.")
        if not isfinite(self.bias):
            raise ValueError(f"-B {self.bias:g}: the bias must be finite.")
        is_one_class = self.solver_type.task == "one_class"
        if is_one_class and not 0.0 < self.nu <= 1.0:
            raise ValueError(f"-n {self.nu:g}: nu must be above 0 and at most 1.")
        if is_one_class and self.bias >= 0.0:
            raise ValueError(f"-B {self.bias:g}: the one-class SVM (-s {self.type}) has no bias; leave -B out.")
        if self.free_bias and self.bias != 1.0:
            raise ValueError("-R: there is no bias to leave unregularised; add -B 1.")
        if self.free_bias and not self.solver_type.can_free_bias:
            raise ValueError(f"-R: not available for -s {self.type}; choose -s {numbers_with(can_free_bias=True)}.")
        for label, factor in self.weights:
            if not (factor >= 0.0 and isfinite(factor)):
                raise ValueError(f"-w{label} {factor:g}: a weight must be a finite number, zero or more.")
