"""What the rest of the package needs to know about a loss, and the parameters of losses.

A class of losses inherits from ``Traits`` and from a NamedTuple of its parameters: numba knows it as a NamedTuple, and
compiled code chooses by its class.
"""

from __future__ import annotations

from math import isfinite
from typing import ClassVar, NamedTuple

SMALLEST_C = 1e-300  # below, 1/(2 C) overflows


class Traits:
    """The properties of a class of losses.

    Attributes
    ----------
    name : str
        What the estimators' ``loss`` parameter calls it.
    is_regression : bool
        y holds targets, not labels.
    is_smooth : bool
        It has a derivative everywhere.
    is_bounded : bool
        The box of the dual variables is finite.
    reaches_bounds : bool
        Dual variables of a solution may be at the ends of the box.
    has_epsilon : bool
        It has a parameter ``epsilon``, up to which errors cost nothing.
    curvature_scale : float
        Curvature of a row over what ``proximal`` returns for it; if the loss is not smooth, times the width delta.
    slope_has_kinks : bool
        Its derivative has kinks, or jumps, and is straight between them.
    few_newton_steps : bool
        Newton's method needs a handful of steps at any C.
    newton_overshoots : bool
        It is nearly straight far from its minimum, where Newton steps may be much too long.
    gives_probabilities : bool
        Decision values are log-odds.
    """

    __slots__ = ()

    name: ClassVar[str]
    is_regression: ClassVar[bool]
    is_smooth: ClassVar[bool]
    is_bounded: ClassVar[bool]
    reaches_bounds: ClassVar[bool]
    has_epsilon: ClassVar[bool] = False
    curvature_scale: ClassVar[float]
    slope_has_kinks: ClassVar[bool] = True
    few_newton_steps: ClassVar[bool] = False
    newton_overshoots: ClassVar[bool] = False
    gives_probabilities: ClassVar[bool] = False

    # Tuples of the same numbers are equal, whatever their class: Hinge(1.0) and SquaredHinge(1.0) are not.

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), super().__hash__()))


class Weight(NamedTuple):
    """The parameter that every loss has."""

    C: float = 1.0

    def check(self) -> None:
        """Raise unless the parameters make sense."""
        check_C(self.C)


class WeightAndTube(NamedTuple):
    """The parameters of the epsilon-insensitive losses."""

    C: float = 1.0
    epsilon: float = 0.0

    def check(self) -> None:
        """Raise unless the parameters make sense."""
        check_C(self.C)
        if not (self.epsilon >= 0.0 and isfinite(self.epsilon)):
            raise ValueError(f"epsilon must be finite and not negative; got {self.epsilon!r}.")


def check_C(C: float) -> None:
    """Raise unless C is a number that engines can compute with."""
    if not (C >= SMALLEST_C and isfinite(C)):
        raise ValueError(f"C must be a positive finite number, {SMALLEST_C:g} or more; got {C!r}.")
