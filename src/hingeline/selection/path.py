"""``c_path``: models along a grid of C, without an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..data.problem import Problem, make_problem
from ..data.read import read_data
from ..data.values import refuse_masked
from ..kernels.losses import EVERY_LOSS, SMALLEST_C, Loss, checked_loss
from ..solution import Progress, Solution
from ..solvers.engines import check_solver
from ..solvers.solve import checked_labels, checked_stop, checked_targets
from .walk import Walk

LOSSES: dict[str, Loss] = {kind.name: kind() for kind in EVERY_LOSS}


@dataclass(frozen=True)
class CPath:
    """Models along a grid of C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        Ascending.
    solutions : tuple of Solution
        One per C, with its certificate.
    seconds : ndarray of shape (n_Cs,)
        Per C, including the search for its start.
    """

    Cs: np.ndarray
    solutions: tuple[Solution, ...]
    seconds: np.ndarray


def c_path(
    X: Any,
    y: Any,
    Cs: Any,
    loss: str | Loss = "hinge",
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    gap_tol: float | None = None,
    max_iter: int | None = None,
    max_time: float | None = None,
    random_state: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    sample_weight: Any = None,
    bias: float = 0.0,
    n_jobs: int | None = None,
    free_intercept: bool = False,
) -> CPath:
    """Minimise |w|^2/2 + C sum_i loss(y_i, <x_i, w>) for each C of a grid, from the smallest to the largest.

    Each problem starts from the previous solution: coordinate engines from the better of two changes of its dual
    variables (all scaled, or those at the upper bound moved along with it), Newton's method from its weights. Once no
    dual variable is at its bound, larger C do not change the solution and cost one pass each.

    Parameters
    ----------
    X, y
        As in ``solve``: rows, and labels -1 and +1 or targets.
    Cs : array of shape (n_Cs,)
        Weights of the loss, in any order; repeated values are trained once.
    loss : str or Loss
        The loss, or its name: "hinge", "squared_hinge", "logistic", "epsilon_insensitive",
        "squared_epsilon_insensitive" or "pinball". The C of an object is not used.
    solver, tol, gap_tol, random_state, sample_weight, bias, n_jobs, free_intercept
        As in ``solve``.
    max_iter, max_time : optional
        Limits for each C.
    callback : callable, optional
        Called with a ``Progress`` after each sweep; a true return value ends the path with the current solution.

    Returns
    -------
    CPath
    """
    loss = named_loss(loss)
    grid = checked_grid(Cs)
    check_solver(solver)
    stop = checked_stop(tol, gap_tol, max_iter, max_time)
    if not isfinite(bias):
        raise ValueError(f"bias must be finite; got {bias!r}.")
    data = read_data(X, float(bias or free_intercept))
    y = (checked_targets if loss.is_regression else checked_labels)(y, data.n_rows)
    refuse_masked(sample_weight, "sample_weight")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

    def problem_at(C: float) -> Problem:
        return make_problem(data, y, weights, loss._replace(C=C))

    problem_at(float(grid[-1]))  # raises now if the largest C is too large, not after hours
    seed = int(np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0])
    n_threads = effective_n_jobs(n_jobs)
    walk = Walk(
        problem_at, solver, stop, seed=seed, free_intercept=free_intercept, callback=callback, n_threads=n_threads
    )
    solutions = list[Solution]()
    for C in grid:
        solutions.append(walk.advance(float(C)))
        if solutions[-1].stop_reason in ("callback", "interrupted"):
            break
    seconds = np.array([s.seconds for s in solutions])
    return CPath(grid[: len(solutions)], tuple(solutions), seconds)


def named_loss(loss: str | Loss) -> Loss:
    """Return the loss that a name stands for, its numbers as floats."""
    if not isinstance(loss, str):
        return checked_loss(loss)
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, or a loss object; got {loss!r}.")
    return LOSSES[loss]


def checked_grid(Cs: Any) -> np.ndarray:
    """Return the values of C in ascending order, each once, or raise."""
    if not isinstance(Cs, Iterable) or isinstance(Cs, (str, bytes)):
        raise ValueError(f"Cs must be a sequence of numbers; got {Cs!r}.")
    try:
        grid = np.unique(np.asarray(Cs if hasattr(Cs, "__array__") else list(Cs), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"Cs must be a sequence of numbers: {error}.") from error
    if grid.size == 0:
        raise ValueError("Cs is empty: pass at least one value of C.")
    wrong = ~((grid >= SMALLEST_C) & np.isfinite(grid))
    if wrong.any():
        value = grid[np.argmax(wrong)]
        raise ValueError(f"Every C must be a positive finite number, {SMALLEST_C:g} or more; got {value}.")
    return grid
