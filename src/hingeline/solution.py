"""What a solver returns: plain and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

HISTORY = np.dtype([("seconds", "f8"), ("steps", "i8"), ("violation", "f8"), ("gap", "f8")])


class Certificate(NamedTuple):
    """How good a model is, exact at the weights that are returned.

    Attributes
    ----------
    violation : float
        Largest violation of the optimality conditions (the paper's criterion).
    primal, dual : float
        Objective values; the optimum lies between them.
    gap : float
        Relative duality gap (primal - dual) / primal, summed termwise.
    """

    violation: float
    primal: float
    dual: float
    gap: float


class Progress(NamedTuple):
    """What a callback is told after each sweep; ``gap`` is NaN where it was not computed."""

    n_iter: int
    n_steps: int
    seconds: float
    violation: float
    gap: float


@dataclass(frozen=True)
class Solution:
    """A trained machine.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights; ``intercept`` is the weight of the constant feature times its value.
    alpha : ndarray of shape (n_rows,)
        Dual variables, w = sum_i alpha_i y_i x_i.
    certificate : Certificate
    history : structured ndarray
        One record a sweep: seconds, steps, violation, gap (NaN where it was not computed).
    n_iter, n_steps : int
        Sweeps (Newton: iterations), and visits of rows.
    seconds : float
        Set-up, core loop and certificate.
    solver : str
        Engine that ran.
    converged : bool
        Whether the stop rule was met, or rounding left nothing to gain (at a gap of at most 1e-3).
    stop_reason : str
        "tol", "gap_tol", "rounding", "max_iter", "max_time", "callback" or "interrupted".
    """

    w: np.ndarray
    intercept: Any  # a float; an array where there are several machines
    alpha: np.ndarray
    certificate: Certificate
    history: np.ndarray
    n_iter: int
    n_steps: int
    seconds: float
    solver: str
    converged: bool
    stop_reason: str
