"""What a solver returns: plain, immutable objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

HISTORY = np.dtype(
    [
        *(("sweep", "i8"), ("seconds", "f8"), ("steps", "i8"), ("violation", "f8"), ("gap", "f8")),
        *(("objective", "f8"), ("lower_bound", "f8"), ("phase", "i8")),
    ]
)


class Certificate(NamedTuple):
    """How good a model is, computed for the weights that are returned.

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

    @classmethod
    def of(cls, violation: float, primal: float, difference: float, size: float | None = None) -> Certificate:
        """Return the certificate for a primal - dual of ``difference``, relative to ``size`` (None: to the primal)."""
        size = primal if size is None else size
        return cls(violation, primal, primal - difference, 0.0 if size == 0.0 else difference / size)


class Snapshot(NamedTuple):
    """The variables of a run between two sweeps: copies.

    Attributes
    ----------
    w, intercept
        The model so far, as in ``Solution``.
    alpha : ndarray of shape (n_rows,) or, for Crammer and Singer's problem, (n_rows, n_classes); or None
        Dual variables, as in ``Solution``, if the engine keeps them.
    lower, upper : ndarray of shape (n_rows,), or None
        Their bounds, if there is one variable per row.
    p : ndarray of shape (n_rows,), or None
        Preferences, if the engine adapts them: a row is visited in proportion to its own. Zero for rows left out.
    """

    w: np.ndarray
    intercept: Any
    alpha: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    p: np.ndarray | None = None


class Look:
    """Takes a ``Snapshot`` when called. It is closed at the end of the run, so that it keeps no data alive."""

    def __init__(self, take: Callable[[], Snapshot] | None = None) -> None:
        self._take = take

    def __call__(self) -> Snapshot:
        """Return the variables as they are now."""
        if self._take is None:
            raise RuntimeError("The run has ended: call look() inside a callback, while the run is going on.")
        return self._take()

    def close(self) -> None:
        """Release the run."""
        self._take = None

    def __repr__(self) -> str:
        return "Look()"

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Look, ()


class Traffic(NamedTuple):
    """What the rounds of a run on a cluster have cost so far.

    Attributes
    ----------
    computing, communicating : float
        Seconds that the busiest worker has computed, and all other seconds of the rounds.
    bytes : int
        Bytes that were sent, both ways.
    """

    computing: float
    communicating: float
    bytes: int


class Progress(NamedTuple):
    """What a callback gets after each sweep.

    Attributes
    ----------
    n_iter, n_steps, seconds
        Sweeps, visits of rows and seconds since the run began.
    violation, gap : float
        As in ``Solution.history``; the gap is NaN if it was not computed.
    times_tol : float
        The criterion of the stop rule as a multiple of the tolerance: training ends at 1. NaN or infinite if the sweep
        cannot tell.
    problem : int
        The number of the problem, if a fit has several (one per class).
    look : Look
        ``look()`` returns a ``Snapshot`` of the variables. A call costs a copy of them.
    traffic : Traffic or None
        Seconds computing and communicating, and bytes, of a run on a cluster; its rounds are counted as sweeps.
    objective, lower_bound : float
        As in ``Solution.history``: the best so far.
    """

    n_iter: int
    n_steps: int
    seconds: float
    violation: float
    gap: float
    times_tol: float = nan
    problem: int = 0
    look: Look = Look()
    traffic: Traffic | None = None
    objective: float = nan
    lower_bound: float = nan


@dataclass(frozen=True, repr=False)
class Solution:
    """A trained model.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights; ``intercept`` is the weight of the constant feature times its value.
    alpha : ndarray of shape (n_rows,)
        Dual variables, w = sum_i alpha_i y_i x_i.
    certificate : Certificate
    history : structured ndarray
        One record per sweep: its number, and the seconds, steps, violation and gap (NaN if not computed) after it; the
        smallest objective and the largest lower bound so far; and which of the engines that ``solver`` names was
        running ("phase", from 0). The objective that sweeps see is an estimate; the last record is exact. A run of many
        thousands of sweeps keeps evenly spaced records: at most 4096, and the last.
    n_iter, n_steps : int
        Sweeps (Newton: iterations), and visits of rows.
    seconds : float
        Wall time of set-up, training and certificate, without compilation.
    solver : str
        The engine that ran; several are joined by "+", as in "hybrid+newton".
    converged : bool
        Whether the stop rule was met, or rounding left nothing to gain (at a gap of at most 1e-3).
    stop_reason : str
        "tol", "gap_tol", "rounding" (converged as far as float64 allows), "stalled" (not converged: no more progress),
        "max_iter", "max_time", "callback" or "interrupted".
    """

    w: np.ndarray
    intercept: Any  # a float; an array if there are several classifiers
    alpha: np.ndarray
    certificate: Certificate
    history: np.ndarray
    n_iter: int
    n_steps: int
    seconds: float
    solver: str
    converged: bool
    stop_reason: str

    def __repr__(self) -> str:
        c = self.certificate
        outcome = "converged" if self.converged else "NOT CONVERGED"
        return (
            f"Solution({outcome}: {self.stop_reason}, objective {c.primal:.6g}, relative gap {c.gap:.1e}, violation "
            f"{c.violation:.1e}, {self.solver}, {self.n_iter} iterations, {self.seconds:.3g} s)"
        )
