"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

import numpy as np

from .common import C_bound, minus_C_bound, no_diagonal, target_missing, target_sign, unsettled_if_smoothed
from .traits import Traits, WeightAndTube
from .tube import excess, soft, tube_pull, tube_step
from .verbs import register


class EpsilonInsensitive(Traits, WeightAndTube):
    """C sum_i max(0, |y_i - f(x_i)| - epsilon): support vector regression.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    epsilon : float
        Half the width of the tube in which errors cost nothing.
    """

    __slots__ = ()

    name = "epsilon_insensitive"
    is_regression = True
    is_smooth = False
    is_bounded = True
    reaches_bounds = True
    has_epsilon = True
    curvature_scale = 0.5


def primal_term(loss: EpsilonInsensitive, m: float, C: float) -> float:
    return C * max(0.0, abs(m) - loss.epsilon)


def gap_term(loss: EpsilonInsensitive, m: float, alpha: float, C: float) -> float:
    mu = m if alpha >= 0.0 else -m  # seen from the side of alpha
    a = abs(alpha)
    return (C - a) * max(0.0, mu - loss.epsilon) + a * max(0.0, loss.epsilon - mu) + C * max(0.0, -mu - loss.epsilon)


def precise_terms(loss: EpsilonInsensitive, m: float, low: float, alpha: float, C: float) -> tuple[float, float]:
    beyond, other, short = excess(m, low, alpha, loss.epsilon)
    a = abs(alpha)
    return C * (beyond + other), (C - a) * beyond + a * short + C * other


def response(loss: EpsilonInsensitive, m: float, C: float) -> float:
    return C * float(np.sign(m)) if abs(m) > loss.epsilon else 0.0


def proximal(loss: EpsilonInsensitive, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    curvature = 0.5 * C / delta  # no division by C, which may be 0
    a = soft(abar + curvature * m, curvature * loss.epsilon)
    if a == 0.0 or abs(a) >= C:
        return min(max(a, -C), C), 0.0
    return a, C


register(
    EpsilonInsensitive,
    missing=target_missing,
    sign=target_sign,
    lower=minus_C_bound,
    upper=C_bound,
    diagonal=no_diagonal,
    primal_term=primal_term,
    gap_term=gap_term,
    gap_estimate=gap_term,
    precise_terms=precise_terms,
    pull=tube_pull,
    step=tube_step,
    response=response,
    proximal=proximal,
    unsettled=unsettled_if_smoothed,
)
