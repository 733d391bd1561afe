"""The pinball loss of quantile regression: the absolute error, weighted differently on each side."""

from __future__ import annotations

from typing import NamedTuple

from .common import (
    box_proximal,
    box_pull,
    box_step,
    box_unsettled,
    no_diagonal,
    target_missing,
    target_sign,
    terms_of_sum,
)
from .traits import Traits, check_C
from .verbs import lower, register, upper


class WeightAndQuantile(NamedTuple):
    """The parameters of the pinball loss."""

    C: float = 1.0
    quantile: float = 0.5

    def check(self) -> None:
        """Raise unless the parameters make sense."""
        check_C(self.C)
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(f"quantile must be above 0 and below 1; got {self.quantile!r}.")


class Pinball(Traits, WeightAndQuantile):
    """C sum_i max(q m_i, (q - 1) m_i) with m_i = y_i - f(x_i): regression of the quantile q.

    A fraction q of the targets lies below the prediction, if the intercept is free.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    quantile : float
        q, above 0 and below 1; 0.5 is the median.
    """

    __slots__ = ()

    name = "pinball"
    is_regression = True
    is_smooth = False
    is_bounded = True
    reaches_bounds = True
    curvature_scale = 0.5


def lower_bound(loss: Pinball, C: float) -> float:
    return (loss.quantile - 1.0) * C


def upper_bound(loss: Pinball, C: float) -> float:
    return loss.quantile * C


def primal_term(loss: Pinball, m: float, C: float) -> float:
    return (upper(loss, C) if m > 0.0 else lower(loss, C)) * m


def gap_term(loss: Pinball, m: float, alpha: float, C: float) -> float:
    # A product and a difference may be rounded as one: at a bound, that can be less than zero.
    if m > 0.0:
        return max(0.0, upper(loss, C) - alpha) * m
    return max(0.0, alpha - lower(loss, C)) * -m


def response(loss: Pinball, m: float, C: float) -> float:
    if m == 0.0:
        return 0.0
    return upper(loss, C) if m > 0.0 else lower(loss, C)


register(
    Pinball,
    missing=target_missing,
    sign=target_sign,
    lower=lower_bound,
    upper=upper_bound,
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
