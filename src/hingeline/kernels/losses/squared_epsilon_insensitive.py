"""The squared epsilon-insensitive loss: smooth, with dual variables that have no bounds."""

from __future__ import annotations

from .common import (
    near_share,
    no_lower_bound,
    no_upper_bound,
    settled,
    squared_diagonal,
    target_missing,
    target_sign,
)
from .traits import Traits, WeightAndTube
from .tube import excess, soft, tube_pull, tube_step
from .verbs import register


class SquaredEpsilonInsensitive(Traits, WeightAndTube):
    """C sum_i max(0, |y_i - f(x_i)| - epsilon)^2; with epsilon = 0 this is ridge regression.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    epsilon : float
        Half the width of the tube in which errors cost nothing.
    """

    __slots__ = ()

    name = "squared_epsilon_insensitive"
    is_regression = True
    is_smooth = True
    is_bounded = False
    reaches_bounds = False
    has_epsilon = True
    curvature_scale = 2.0
    few_newton_steps = True


def primal_term(loss: SquaredEpsilonInsensitive, m: float, C: float) -> float:
    x = max(0.0, abs(m) - loss.epsilon)
    return C * x * x


def gap_term(loss: SquaredEpsilonInsensitive, m: float, alpha: float, C: float) -> float:
    mu = m if alpha >= 0.0 else -m  # seen from the side of alpha
    a = abs(alpha)
    e = max(0.0, mu - loss.epsilon) - 0.5 * a / C
    other = max(0.0, -mu - loss.epsilon)
    return C * e * e + a * max(0.0, loss.epsilon - mu) + C * other * other


def precise_terms(loss: SquaredEpsilonInsensitive, m: float, low: float, alpha: float, C: float) -> tuple[float, float]:
    beyond, other, short = excess(m, low, alpha, loss.epsilon)
    a = abs(alpha)
    e = beyond - 0.5 * a / C
    return C * (beyond * beyond + other * other), C * e * e + a * short + C * other * other


def response(loss: SquaredEpsilonInsensitive, m: float, C: float) -> float:
    return 2.0 * C * soft(m, loss.epsilon)


def proximal(loss: SquaredEpsilonInsensitive, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    return 2.0 * C * soft(m, loss.epsilon), C if abs(m) > loss.epsilon else 0.0


def curvature(loss: SquaredEpsilonInsensitive, m: float, C: float, caution: float) -> float:
    return 2.0 * C if abs(m) > loss.epsilon else 2.0 * C * near_share(loss.epsilon - abs(m), caution)


register(
    SquaredEpsilonInsensitive,
    missing=target_missing,
    sign=target_sign,
    lower=no_lower_bound,
    upper=no_upper_bound,
    diagonal=squared_diagonal,
    primal_term=primal_term,
    gap_term=gap_term,
    gap_estimate=gap_term,
    precise_terms=precise_terms,
    pull=tube_pull,
    step=tube_step,
    response=response,
    proximal=proximal,
    unsettled=settled,
    curvature=curvature,
)
