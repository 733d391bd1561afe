"""Losses: what the dual of  min_w |w|^2/2 + sum_i loss_i(m_i)  looks like for one variable.

Every loss is a function of m_i = missing(y_i, <x_i, w>), and m_i falls by |x_i|^2 when alpha_i grows by one, since w =
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
``Pinball``                    y - f    1    C max(q m, (q - 1) m)       see below   0
=============================  =======  ===  ==========================  ==========  ===================================

The box of ``Pinball`` is [(q - 1) C, q C], for the quantile q.

The verbs, which choose their implementation by the class of ``loss``:

===========================================  =========================================================================
``missing(loss, y, f)``, ``sign(loss, y)``   m and s above
``lower(loss, C)``, ``upper(loss, C)``       the box
``diagonal(loss, C)``                        what a squared loss adds to the curvature of the dual
``primal_term(loss, m, C)``                  the loss
``gap_term(loss, m, alpha, C)``              exact, from terms >= 0 alone
``gap_estimate(loss, m, alpha, C)``          the same, or something cheaper if the loss is expensive
``precise_terms(loss, m, low, alpha, C)``    primal and gap term at the margin m + low, which is not rounded near kinks
``pull(loss, m, alpha, C)``                  violation of optimality with its sign (hinges: the projected gradient),
                                             and how hard a resting variable presses against what holds it
``step(loss, m, alpha, q, C)``               the variable that maximises the dual along its axis, and the gain
``response(loss, m, C)``                     the variable that m calls for, a derivative of the loss
``proximal(loss, m, abar, delta, C)``        the response of the loss, smoothed around abar at width delta if it is not
                                             smooth by itself, and C (the logistic loss: its curvature) where it moves
                                             with m, 0 where not
``unsettled(loss, m, alpha, C)``             violation and gap term that smoothing leaves: none for smooth losses
``curvature(loss, m, C, caution)``           of a smooth loss, its second derivative in the score, or more: Newton steps
                                             may be much too long. ``caution`` says how much more, from 0 to 1
===========================================  =========================================================================

A loss registers its implementations of all of them in one call, at the end of its file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compile import by_type
from .traits import Traits

OF_SMOOTH_LOSSES = frozenset({"curvature"})  # verbs that losses with kinks do not have

_implementations: dict[str, dict[type, Callable[..., Any]]] = {}


def _verb(name: str) -> Callable[..., Any]:
    return by_type(_implementations.setdefault(name, {}))


missing = _verb("missing")
sign = _verb("sign")
lower = _verb("lower")
upper = _verb("upper")
diagonal = _verb("diagonal")
primal_term = _verb("primal_term")
gap_term = _verb("gap_term")
gap_estimate = _verb("gap_estimate")
precise_terms = _verb("precise_terms")
pull = _verb("pull")
step = _verb("step")
response = _verb("response")
proximal = _verb("proximal")
unsettled = _verb("unsettled")
curvature = _verb("curvature")


def register(kind: type[Traits], **implementations: Callable[..., Any]) -> None:
    """Make a class of losses known to the verbs; raises unless it has every trait and implements every verb."""
    without = {name for name in Traits.__annotations__ if not hasattr(kind, name)}
    if without:
        raise TypeError(f"{kind.__name__} does not define the traits {', '.join(sorted(without))}.")
    expected = _implementations.keys() - (frozenset() if kind.is_smooth else OF_SMOOTH_LOSSES)
    if lacks := expected - implementations.keys():
        raise TypeError(f"{kind.__name__} does not implement the verbs {', '.join(sorted(lacks))}.")
    if unknown := implementations.keys() - expected:
        raise TypeError(f"{kind.__name__} implements unknown verbs: {', '.join(sorted(unknown))}.")
    for name, implementation in implementations.items():
        _implementations[name][kind] = implementation
