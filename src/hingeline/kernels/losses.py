"""Losses: what the dual of  min_w |w|^2/2 + sum_i loss_i(w)  looks like for one variable.

With z_i = y_i x_i and m_i = 1 - <z_i, w> (what is missing of the margin):

================  ==================  ========  =========  ====================================================
loss              primal term         upper     diagonal   gap term
================  ==================  ========  =========  ====================================================
``Hinge``         C_i max(0, m_i)     C_i       0          (C_i - alpha_i) m_i  or, if m_i < 0,  -alpha_i m_i
``SquaredHinge``  C_i max(0, m_i)^2   infinity  1/(2 C_i)  C_i (xi_i - alpha_i/(2 C_i))^2 + alpha_i (xi_i - m_i)
================  ==================  ========  =========  ====================================================

(xi_i = max(0, m_i). Each gap term is >= 0, and their sum is P - D.)

The dual is  max  sum alpha_i - |w|^2/2 - sum diagonal_i alpha_i^2/2,  0 <= alpha_i <= upper_i,
with gradient g_i = m_i - diagonal_i alpha_i and curvature |x_i|^2 + diagonal_i. The verbs are ``upper(loss, C)``,
``diagonal(loss, C)``, ``primal_term(loss, m, C)``, ``gap_term(loss, m, alpha, C)``, and ``at_zero_row(loss, C)``: the
optimal variable of a row of zeros, whose gradient does not depend on w.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from .compile import by_type


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


Loss: TypeAlias = Hinge | SquaredHinge


def hinge_upper(loss: Hinge, C: float) -> float:
    return C


def squared_upper(loss: SquaredHinge, C: float) -> float:
    return np.inf


def hinge_diagonal(loss: Hinge, C: float) -> float:
    return 0.0


def squared_diagonal(loss: SquaredHinge, C: float) -> float:
    return 0.5 / C


def hinge_primal(loss: Hinge, m: float, C: float) -> float:
    return C * max(0.0, m)


def squared_primal(loss: SquaredHinge, m: float, C: float) -> float:
    return C * max(0.0, m) * max(0.0, m)


def hinge_gap(loss: Hinge, m: float, alpha: float, C: float) -> float:
    return (C - alpha) * m if m > 0.0 else -alpha * m


def squared_gap(loss: SquaredHinge, m: float, alpha: float, C: float) -> float:
    xi = max(0.0, m)
    e = xi - 0.5 * alpha / C
    return C * e * e + alpha * (xi - m)


def hinge_at_zero_row(loss: Hinge, C: float) -> float:
    return C


def squared_at_zero_row(loss: SquaredHinge, C: float) -> float:
    return 2.0 * C


# The verbs: by the class of ``loss``.

upper = by_type({Hinge: hinge_upper, SquaredHinge: squared_upper})
diagonal = by_type({Hinge: hinge_diagonal, SquaredHinge: squared_diagonal})
primal_term = by_type({Hinge: hinge_primal, SquaredHinge: squared_primal})
gap_term = by_type({Hinge: hinge_gap, SquaredHinge: squared_gap})
at_zero_row = by_type({Hinge: hinge_at_zero_row, SquaredHinge: squared_at_zero_row})
