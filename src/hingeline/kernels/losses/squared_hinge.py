"""The squared hinge loss: smooth, with dual variables that have no upper bound."""

from __future__ import annotations

from .common import (
    box_pull,
    box_step,
    label_sign,
    margin_missing,
    near_share,
    no_upper_bound,
    settled,
    squared_diagonal,
    terms_of_sum,
    zero_bound,
)
from .traits import Traits, Weight
from .verbs import register


class SquaredHinge(Traits, Weight):
    """C sum_i max(0, 1 - y_i f(x_i))^2, in LIBLINEAR's convention.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    __slots__ = ()

    name = "squared_hinge"
    is_regression = False
    is_smooth = True
    is_bounded = False
    reaches_bounds = False
    curvature_scale = 2.0


def primal_term(loss: SquaredHinge, m: float, C: float) -> float:
    return C * max(0.0, m) * max(0.0, m)


def gap_term(loss: SquaredHinge, m: float, alpha: float, C: float) -> float:
    xi = max(0.0, m)
    e = xi - 0.5 * alpha / C
    return C * e * e + alpha * (xi - m)


def response(loss: SquaredHinge, m: float, C: float) -> float:
    return 2.0 * C * max(0.0, m)


def proximal(loss: SquaredHinge, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    return 2.0 * C * max(0.0, m), C if m > 0.0 else 0.0  # no branch: this runs over all rows at vector speed


def curvature(loss: SquaredHinge, m: float, C: float, caution: float) -> float:
    return 2.0 * C if m > 0.0 else 2.0 * C * near_share(-m, caution)


register(
    SquaredHinge,
    missing=margin_missing,
    sign=label_sign,
    lower=zero_bound,
    upper=no_upper_bound,
    diagonal=squared_diagonal,
    primal_term=primal_term,
    gap_term=gap_term,
    gap_estimate=gap_term,
    precise_terms=terms_of_sum,
    pull=box_pull,
    step=box_step,
    response=response,
    proximal=proximal,
    unsettled=settled,
    curvature=curvature,
)
