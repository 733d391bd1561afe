"""Losses: what the dual of  min_w |w|^2/2 + sum_i loss_i(m_i)  looks like for one variable.

Every loss is a function of m_i = missing(y_i, <x_i, w>), and m_i falls by |x_i|^2 where alpha_i grows by one, since w =
sum_i alpha_i s_i x_i. So the dual is  max  sum_i [alpha_i missing(y_i, 0) - conjugate_i(alpha_i)] - |w|^2/2  over the
box, and  gap_term_i = loss_i(m_i) + conjugate_i(alpha_i) - alpha_i m_i  are >= 0 and sum up to P - D.

=============================  =======  ===  ==========================  ==========  ===================================
loss (x = max(0, |m| - eps))   m        s    primal term                 box         conjugate
=============================  =======  ===  ==========================  ==========  ===================================
``Hinge``                      1 - y f  y    C max(0, m)                 [0, C]      0
``SquaredHinge``               1 - y f  y    C max(0, m)^2               [0, inf]    a^2/(4 C)
``Logistic``                   -y f     y    C log(1 + exp(m))           [0, C]      a log(a/C) + (C - a) log(1 - a/C)
``EpsilonInsensitive``         y - f    1    C x                         [-C, C]     eps |a|
``SquaredEpsilonInsensitive``  y - f    1    C x^2                       [-inf,inf]  eps |a| + a^2/(4 C)
=============================  =======  ===  ==========================  ==========  ===================================

The verbs, by the class of ``loss``:

===========================================  =========================================================================
``missing(loss, y, f)``, ``sign(loss, y)``   m and s above
``lower(loss, C)``, ``upper(loss, C)``       the box
``primal_term(loss, m, C)``                  the loss
``gap_term(loss, m, alpha, C)``              exact, from terms >= 0 alone
``gap_estimate(loss, m, alpha, C)``          the same, or cheaper where the loss is dear
``pull(loss, m, alpha, C)``                  violation of optimality with its sign (hinges: the projected gradient),
                                             and how hard a resting variable presses against what holds it
``step(loss, m, alpha, q, C)``               the variable that maximises the dual along its axis, and the gain
``response(loss, m, C)``                     the variable that m calls for, a derivative of the loss
``proximal(loss, m, abar, delta, C)``        the response of the loss, smoothed around abar at width delta if it is not
                                             smooth by itself, and C (the logistic loss: its curvature) where it moves
                                             with m, 0 where not
``unsettled(loss, m, alpha, C)``             violation and gap term that smoothing leaves: none for smooth losses
===========================================  =========================================================================
"""

from __future__ import annotations

from math import exp, log1p
from typing import NamedTuple, TypeAlias

import numpy as np

from .compile import by_type
from .insensitive import insensitive_pull, insensitive_step, soft
from .logistic import divergence, divergence_estimate, logistic_maximum, sigmoid


class Hinge(NamedTuple):
    """C sum_i max(0, 1 - y_i f(x_i)): the paper's machine.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    C: float = 1.0


class SquaredHinge(NamedTuple):
    """C sum_i max(0, 1 - y_i f(x_i))^2, in LIBLINEAR's convention.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    C: float = 1.0


class Logistic(NamedTuple):
    """C sum_i log(1 + exp(-y_i f(x_i))).

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    C: float = 1.0


class EpsilonInsensitive(NamedTuple):
    """C sum_i max(0, |y_i - f(x_i)| - epsilon): support vector regression.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    epsilon : float
        Half the width of the tube in which errors cost nothing.
    """

    C: float = 1.0
    epsilon: float = 0.0


class SquaredEpsilonInsensitive(NamedTuple):
    """C sum_i max(0, |y_i - f(x_i)| - epsilon)^2; with epsilon = 0 this is ridge regression.

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    epsilon : float
        Half the width of the tube in which errors cost nothing.
    """

    C: float = 1.0
    epsilon: float = 0.0


Loss: TypeAlias = Hinge | SquaredHinge | Logistic | EpsilonInsensitive | SquaredEpsilonInsensitive
EVERY_LOSS = (Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive)
REGRESSION = (EpsilonInsensitive, SquaredEpsilonInsensitive)  # y holds numbers, not labels
SMOOTH = (SquaredHinge, Logistic, SquaredEpsilonInsensitive)  # losses with a derivative everywhere
UNBOUNDED = (SquaredHinge, SquaredEpsilonInsensitive)  # their dual variables


# What is missing, and the side that a row is on.


def margin_missing(loss: Loss, y: float, f: float) -> float:
    return 1.0 - y * f


def logit_missing(loss: Loss, y: float, f: float) -> float:
    return -y * f


def target_missing(loss: Loss, y: float, f: float) -> float:
    return y - f


def label_sign(loss: Loss, y: float) -> float:
    return y


def target_sign(loss: Loss, y: float) -> float:
    return 1.0


# The box, and the diagonal that a squared loss adds to the dual's curvature.


def zero_bound(loss: Loss, C: float) -> float:
    return 0.0


def C_bound(loss: Loss, C: float) -> float:
    return C


def minus_C_bound(loss: Loss, C: float) -> float:
    return -C


def no_upper_bound(loss: Loss, C: float) -> float:
    return np.inf


def no_lower_bound(loss: Loss, C: float) -> float:
    return -np.inf


def no_diagonal(loss: Loss, C: float) -> float:
    return 0.0


def squared_diagonal(loss: Loss, C: float) -> float:
    return 0.5 / C


# Primal terms and gap terms.


def hinge_primal(loss: Hinge, m: float, C: float) -> float:
    return C * max(0.0, m)


def squared_primal(loss: SquaredHinge, m: float, C: float) -> float:
    return C * max(0.0, m) * max(0.0, m)


def logistic_primal(loss: Logistic, m: float, C: float) -> float:
    return C * (max(0.0, m) + log1p(exp(-abs(m))))


def insensitive_primal(loss: EpsilonInsensitive, m: float, C: float) -> float:
    return C * max(0.0, abs(m) - loss.epsilon)


def squared_insensitive_primal(loss: SquaredEpsilonInsensitive, m: float, C: float) -> float:
    x = max(0.0, abs(m) - loss.epsilon)
    return C * x * x


def hinge_gap(loss: Hinge, m: float, alpha: float, C: float) -> float:
    return (C - alpha) * m if m > 0.0 else -alpha * m


def squared_gap(loss: SquaredHinge, m: float, alpha: float, C: float) -> float:
    xi = max(0.0, m)
    e = xi - 0.5 * alpha / C
    return C * e * e + alpha * (xi - m)


def logistic_gap(loss: Logistic, m: float, alpha: float, C: float) -> float:
    return C * divergence(alpha / C, m)


def logistic_gap_estimate(loss: Logistic, m: float, alpha: float, C: float) -> float:
    return C * divergence_estimate(alpha / C, sigmoid(m))


def insensitive_gap(loss: EpsilonInsensitive, m: float, alpha: float, C: float) -> float:
    mu = m if alpha >= 0.0 else -m  # seen from the side of alpha
    a = abs(alpha)
    return (C - a) * max(0.0, mu - loss.epsilon) + a * max(0.0, loss.epsilon - mu) + C * max(0.0, -mu - loss.epsilon)


def squared_insensitive_gap(loss: SquaredEpsilonInsensitive, m: float, alpha: float, C: float) -> float:
    mu = m if alpha >= 0.0 else -m
    a = abs(alpha)
    e = max(0.0, mu - loss.epsilon) - 0.5 * a / C
    other = max(0.0, -mu - loss.epsilon)
    return C * e * e + a * max(0.0, loss.epsilon - mu) + C * other * other


# One variable: how it violates optimality, and its step.


def box_pull(loss: Hinge | SquaredHinge, m: float, alpha: float, C: float) -> tuple[float, float]:
    g = m - diagonal(loss, C) * alpha
    if (alpha == 0.0 and g < 0.0) or (alpha == upper(loss, C) and g > 0.0):
        return 0.0, g
    return g, 0.0


def logistic_pull(loss: Logistic, m: float, alpha: float, C: float) -> tuple[float, float]:
    return sigmoid(m) - alpha / C, 0.0


def tube_pull(
    loss: EpsilonInsensitive | SquaredEpsilonInsensitive, m: float, alpha: float, C: float
) -> tuple[float, float]:
    return insensitive_pull(m - diagonal(loss, C) * alpha, alpha, upper(loss, C), loss.epsilon)


def box_step(loss: Hinge | SquaredHinge, m: float, alpha: float, q: float, C: float) -> tuple[float, float]:
    D = diagonal(loss, C)
    g = m - D * alpha
    stepped = min(max(alpha + g / (q + D), 0.0), upper(loss, C))
    mu = stepped - alpha
    return stepped, mu * (g - 0.5 * mu * (q + D))


def logistic_step(loss: Logistic, m: float, alpha: float, q: float, C: float) -> tuple[float, float]:
    stepped = logistic_maximum(m, alpha, q, C)
    mu = stepped - alpha
    return stepped, C * divergence_estimate(alpha / C, stepped / C) + 0.5 * q * mu * mu


def tube_step(
    loss: EpsilonInsensitive | SquaredEpsilonInsensitive, m: float, alpha: float, q: float, C: float
) -> tuple[float, float]:
    return insensitive_step(m, alpha, q, diagonal(loss, C), upper(loss, C), loss.epsilon)


# What a margin calls for.


def hinge_response(loss: Hinge, m: float, C: float) -> float:
    return C if m > 0.0 else 0.0


def squared_response(loss: SquaredHinge, m: float, C: float) -> float:
    return 2.0 * C * max(0.0, m)


def logistic_response(loss: Logistic, m: float, C: float) -> float:
    return C * sigmoid(m)


def insensitive_response(loss: EpsilonInsensitive, m: float, C: float) -> float:
    return C * float(np.sign(m)) if abs(m) > loss.epsilon else 0.0


def squared_insensitive_response(loss: SquaredEpsilonInsensitive, m: float, C: float) -> float:
    return 2.0 * C * soft(m, loss.epsilon)


# Here no division by C, which may be 0, and for the squared hinge no branch: these run over all rows at vector speed.


def hinge_proximal(loss: Hinge, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    a = abar + 0.5 * C / delta * m
    if a <= 0.0:
        return 0.0, 0.0
    if a >= C:
        return C, 0.0
    return a, C


def squared_proximal(loss: SquaredHinge, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    return 2.0 * C * max(0.0, m), C if m > 0.0 else 0.0


def logistic_proximal(loss: Logistic, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    s = sigmoid(m)
    return C * s, C * s * sigmoid(-m)


def insensitive_proximal(
    loss: EpsilonInsensitive, m: float, abar: float, delta: float, C: float
) -> tuple[float, float]:
    curvature = 0.5 * C / delta
    a = soft(abar + curvature * m, curvature * loss.epsilon)
    if a == 0.0 or abs(a) >= C:
        return min(max(a, -C), C), 0.0
    return a, C


def squared_insensitive_proximal(
    loss: SquaredEpsilonInsensitive, m: float, abar: float, delta: float, C: float
) -> tuple[float, float]:
    return 2.0 * C * soft(m, loss.epsilon), C if abs(m) > loss.epsilon else 0.0


def unsettled_if_smoothed(loss: Hinge | EpsilonInsensitive, m: float, alpha: float, C: float) -> tuple[float, float]:
    if C == 0.0:
        return 0.0, 0.0
    return abs(pull(loss, m, alpha, C)[0]), gap_term(loss, m, alpha, C)


def settled(loss: Loss, m: float, alpha: float, C: float) -> tuple[float, float]:
    return 0.0, 0.0


def _verb(hinge, squared, logistic, insensitive, squared_insensitive):  # type: ignore[no-untyped-def]
    return by_type(dict(zip(EVERY_LOSS, (hinge, squared, logistic, insensitive, squared_insensitive), strict=True)))


missing = _verb(margin_missing, margin_missing, logit_missing, target_missing, target_missing)
sign = _verb(label_sign, label_sign, label_sign, target_sign, target_sign)
lower = _verb(zero_bound, zero_bound, zero_bound, minus_C_bound, no_lower_bound)
upper = _verb(C_bound, no_upper_bound, C_bound, C_bound, no_upper_bound)
diagonal = _verb(no_diagonal, squared_diagonal, no_diagonal, no_diagonal, squared_diagonal)
primal_term = _verb(hinge_primal, squared_primal, logistic_primal, insensitive_primal, squared_insensitive_primal)
gap_term = _verb(hinge_gap, squared_gap, logistic_gap, insensitive_gap, squared_insensitive_gap)
gap_estimate = _verb(hinge_gap, squared_gap, logistic_gap_estimate, insensitive_gap, squared_insensitive_gap)
pull = _verb(box_pull, box_pull, logistic_pull, tube_pull, tube_pull)
step = _verb(box_step, box_step, logistic_step, tube_step, tube_step)
response = _verb(
    hinge_response, squared_response, logistic_response, insensitive_response, squared_insensitive_response
)
proximal = _verb(
    hinge_proximal, squared_proximal, logistic_proximal, insensitive_proximal, squared_insensitive_proximal
)
unsettled = _verb(unsettled_if_smoothed, settled, settled, unsettled_if_smoothed, settled)
