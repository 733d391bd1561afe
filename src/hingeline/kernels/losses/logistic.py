"""The logistic loss, numerically safe at both ends of exponentials and logarithms.

The conjugate of C log(1 + exp(m)) is an entropy, and the gap of a row is C times a Kullback-Leibler divergence: that of
the probability a = alpha/C of the dual variable from the probability s = sigmoid(m) of the model.
"""

from __future__ import annotations

from ..compile import inlined_kernel, kernel
from ..exponentials import decay, log_one_plus, logarithm
from .common import C_bound, label_sign, no_diagonal, settled, terms_of_sum, zero_bound
from .traits import Traits, Weight
from .verbs import register

MOST_STEPS = 30  # of the inner Newton method, which rarely takes more than five
ACCURATE = 1e-5  # change of the margin after which the next inner step, quadratically smaller, is not worth taking
NEAR_ONE = 1e-3  # relative distance up to which a series replaces the cancelling logarithm
LEAST = 1e-300  # what divides, and what logarithms are taken of
LONGEST = 32.0  # longest step in its score that a row may ask for, as long as there is caution


class Logistic(Traits, Weight):
    """C sum_i log(1 + exp(-y_i f(x_i))).

    Parameters
    ----------
    C : float
        Weight of the loss against the regulariser |w|^2/2.
    """

    __slots__ = ()

    name = "logistic"
    is_regression = False
    is_smooth = True
    is_bounded = True
    reaches_bounds = False
    curvature_scale = 1.0
    slope_has_kinks = False
    few_newton_steps = True
    newton_overshoots = True
    gives_probabilities = True


@inlined_kernel
def sigmoid(m: float) -> float:
    """1/(1 + exp(-m)), without overflow and with full relative accuracy at both ends."""
    e = decay(abs(m))  # the same exponential everywhere, so that the compiler computes it once
    r = 1.0 / (1.0 + e)
    return r if m >= 0.0 else e * r


@inlined_kernel
def log_sigmoid(m: float) -> float:
    """log(1/(1 + exp(-m)))."""
    return min(0.0, m) - log_one_plus(decay(abs(m)))


@inlined_kernel
def excess(a: float, s: float, log_s: float) -> float:
    """a log(a/s) - a + s >= 0. Everything is computed, then chosen: loops have no branches."""
    d = min((a - s) / max(s, LEAST), 1.0)  # far from near, and nothing overflows
    series = s * d * d * (1.0 / 2.0 - d * (1.0 / 6.0 - d * (1.0 / 12.0 - d / 20.0)))
    apart = max(0.0, a * (logarithm(a) - log_s) - a + s)
    near = series if abs(d) < NEAR_ONE else apart
    return near if a > 0.0 else s


@inlined_kernel
def divergence(a: float, m: float) -> float:
    """Kullback-Leibler divergence of the probability ``a`` from sigmoid(m), as a sum of two terms >= 0."""
    return excess(a, sigmoid(m), log_sigmoid(m)) + excess(1.0 - a, sigmoid(-m), log_sigmoid(-m))


@kernel
def divergence_estimate(a: float, s: float) -> float:
    """Bernstein's lower bound of the divergence: no logarithm, exact to third order in a - s, and never negative."""
    d = a - s
    if d == 0.0:
        return 0.0
    # Quotients first, since d^2 may underflow; the second divisor is never below |d|, but for rounding.
    return 1.5 * d * (d / (2.0 * s + a) + d / max(3.0 - 2.0 * s - a, abs(d)))


@kernel
def logistic_maximum(m: float, alpha: float, q: float, C: float) -> float:
    """The variable that maximises the dual along its axis, in [0, C].

    In terms of the margin u that it will have, the variable is C sigmoid(u), and u is the root of the increasing
    function F(u) = u - m + q (C sigmoid(u) - alpha): convex below zero, concave above. So Newton's method that stays on
    the root's side of zero, which the sign of F(0) tells, converges from anywhere.
    """
    above = q * (0.5 * C - alpha) < m  # F(0) < 0: the root is positive
    u = max(m, 0.0) if above else min(m, 0.0)
    s = 0.5
    for _ in range(MOST_STEPS):
        s = sigmoid(u)
        F = u - m + q * (C * s - alpha)
        du = -F / (1.0 + q * C * s * (1.0 - s))
        u += du
        u = max(u, 0.0) if above else min(u, 0.0)
        if abs(du) <= ACCURATE:
            s += s * (1.0 - s) * du
            break
    return min(max(C * s, 0.0), C)


def missing(loss: Logistic, y: float, f: float) -> float:
    return -y * f


def primal_term(loss: Logistic, m: float, C: float) -> float:
    return C * (max(0.0, m) + log_one_plus(decay(abs(m))))


def gap_term(loss: Logistic, m: float, alpha: float, C: float) -> float:
    return C * divergence(alpha / C, m)


def gap_estimate(loss: Logistic, m: float, alpha: float, C: float) -> float:
    return C * divergence_estimate(alpha / C, sigmoid(m))


def pull(loss: Logistic, m: float, alpha: float, C: float) -> tuple[float, float]:
    return sigmoid(m) - alpha / C, 0.0


def step(loss: Logistic, m: float, alpha: float, q: float, C: float) -> tuple[float, float]:
    stepped = logistic_maximum(m, alpha, q, C)
    mu = stepped - alpha
    return stepped, C * divergence_estimate(alpha / C, stepped / C) + 0.5 * q * mu * mu


def response(loss: Logistic, m: float, C: float) -> float:
    return C * sigmoid(m)


def proximal(loss: Logistic, m: float, abar: float, delta: float, C: float) -> tuple[float, float]:
    s = sigmoid(m)
    return C * s, C * s * sigmoid(-m)


def curvature(loss: Logistic, m: float, C: float, caution: float) -> float:
    """With ``caution`` 1, the curvature of the parabola that touches the loss at m and lies above it everywhere.

    That is Jaakkola and Jordan's; its minimum is always a descent. Less caution means something between that and the
    second derivative, as long as no row that is far on the wrong side asks for a step longer than ``LONGEST``.
    """
    s = sigmoid(abs(m))
    newton = s * sigmoid(-abs(m))
    if caution == 0.0:
        return C * newton
    above = (s - 0.5) / abs(m) if abs(m) > 1e-3 else 0.25
    newton = max(newton, LEAST)
    between = decay(-(1.0 - caution) * logarithm(newton) - caution * logarithm(above))  # both are below 1
    return C * max(between, sigmoid(m) / LONGEST)


register(
    Logistic,
    missing=missing,
    sign=label_sign,
    lower=zero_bound,
    upper=C_bound,
    diagonal=no_diagonal,
    primal_term=primal_term,
    gap_term=gap_term,
    gap_estimate=gap_estimate,
    precise_terms=terms_of_sum,
    pull=pull,
    step=step,
    response=response,
    proximal=proximal,
    unsettled=settled,
    curvature=curvature,
)
