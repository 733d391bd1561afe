"""The losses, one per file, and the verbs through which compiled code uses them (verbs.py)."""

from __future__ import annotations

from typing import TypeAlias, get_args

from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .logistic import Logistic
from .pinball import Pinball
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge
from .traits import SMALLEST_C
from .verbs import (
    curvature,
    diagonal,
    gap_estimate,
    gap_term,
    lower,
    missing,
    precise_terms,
    primal_term,
    proximal,
    pull,
    response,
    sign,
    step,
    unsettled,
    upper,
)

__all__ = [
    "EVERY_LOSS",
    "SMALLEST_C",
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "Loss",
    "Pinball",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "checked_loss",
    "curvature",
    "diagonal",
    "gap_estimate",
    "gap_term",
    "lower",
    "missing",
    "precise_terms",
    "primal_term",
    "proximal",
    "pull",
    "response",
    "sign",
    "step",
    "unsettled",
    "upper",
]

Loss: TypeAlias = Hinge | SquaredHinge | Logistic | EpsilonInsensitive | SquaredEpsilonInsensitive | Pinball
EVERY_LOSS: tuple[type[Loss], ...] = get_args(Loss)


def checked_loss(loss: object) -> Loss:
    """Return the loss with its parameters as floats, which compiled code expects; raise if it is not a loss."""
    if not isinstance(loss, EVERY_LOSS):
        raise ValueError(f"loss must be one of {', '.join(kind.__name__ for kind in EVERY_LOSS)}; got {loss!r}.")
    return type(loss)(*map(float, loss))
