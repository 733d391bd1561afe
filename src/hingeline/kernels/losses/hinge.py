"""The hinge loss: the paper's."""

from __future__ import annotations

from .common import (
    C_bound,
    box_proximal,
    box_pull,
    box_step,
    box_unsettled,
    label_sign,
    margin_missing,
    no_diagonal,
    terms_of_sum,
    zero_bound,
)
from .traits import Traits, Weight
from .verbs import register


class Hinge(Traits, Weight):
    """C sum_i max(0, 1 - y_i f(x_i)): the paper's loss.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    __slots__ = ()

    name = "hinge"
    is_regression = False
    is_smooth = False
    is_bounded = True
    reaches_bounds = True
    curvature_scale = 0.5


def primal_term(loss: Hinge, m: float, C: float) -> float:
    return C * max(0.0, m)


def gap_term(loss: Hinge, m: float, alpha: float, C: float) -> float:
    return (C - alpha) * m if m > 0.0 else -alpha * m


def response(loss: Hinge, m: float, C: float) -> float:
    return C if m > 0.0 else 0.0


register(
    Hinge,
    missing=margin_missing,
    sign=label_sign,
    lower=zero_bound,
    upper=C_bound,
    diagonal=no_diagonal,
    primal_term=primal_term,
    gap_term=gap_term,
    gap_estimate=gap_term,
    precise_terms=terms_of_sum,
    pull=box_pull,
    step=box_step,
    response=response,
    proximal=box_proximal,
    unsettled=box_unsettled,
)
