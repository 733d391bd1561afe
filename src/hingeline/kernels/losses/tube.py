"""One variable of support vector regression: the dual has a kink at zero, besides the box [-U, U].

Along its axis the dual is  b m - eps |b| - D b^2/2 - q (b - beta)^2/2  for a variable at beta: a parabola with a kink,
whose maximum is a soft threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compile import exact_kernel, kernel
from .verbs import diagonal, upper

if TYPE_CHECKING:
    from .epsilon_insensitive import EpsilonInsensitive
    from .squared_epsilon_insensitive import SquaredEpsilonInsensitive


@kernel
def soft(x: float, eps: float) -> float:
    """Soft threshold: x moved by eps towards zero, and not beyond."""
    if x > eps:
        return x - eps
    if x < -eps:
        return x + eps
    return 0.0


@kernel
def insensitive_pull(g: float, beta: float, U: float, eps: float) -> tuple[float, float]:
    """Violation, and pressure, of a variable at ``beta`` whose smooth part of the dual has gradient ``g``.

    At zero the subgradients fill [g - eps, g + eps]; the one of least size counts.
    """
    if beta == 0.0:
        if abs(g) <= eps:
            return 0.0, abs(g) - eps
        return soft(g, eps), 0.0
    g = g - eps if beta > 0.0 else g + eps
    if (beta == U and g > 0.0) or (beta == -U and g < 0.0):
        return 0.0, g
    return g, 0.0


@kernel
def insensitive_step(m: float, beta: float, q: float, D: float, U: float, eps: float) -> tuple[float, float]:
    """The best value of the variable, and the gain."""
    stepped = min(max(soft(m + q * beta, eps) / (q + D), -U), U)
    mu = stepped - beta
    return stepped, mu * (m - D * beta - 0.5 * mu * (q + D)) - eps * (abs(stepped) - abs(beta))


@exact_kernel
def excess(m: float, low: float, alpha: float, eps: float) -> tuple[float, float, float]:
    """Return how far the margin m + low is beyond the tube on the side of alpha, on the other, and how far short.

    Next to an edge of the tube m - eps is exact, so the digits in ``low`` count.
    """
    mu, mu_low = (m, low) if alpha >= 0.0 else (-m, -low)
    own = (mu - eps) + mu_low
    return max(0.0, own), max(0.0, (-mu - eps) - mu_low), max(0.0, -own)


def tube_pull(
    loss: EpsilonInsensitive | SquaredEpsilonInsensitive, m: float, alpha: float, C: float
) -> tuple[float, float]:
    return insensitive_pull(m - diagonal(loss, C) * alpha, alpha, upper(loss, C), loss.epsilon)


def tube_step(
    loss: EpsilonInsensitive | SquaredEpsilonInsensitive, m: float, alpha: float, q: float, C: float
) -> tuple[float, float]:
    return insensitive_step(m, alpha, q, diagonal(loss, C), upper(loss, C), loss.epsilon)
