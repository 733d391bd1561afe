"""``solve``: the functional interface, without estimators."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..data.problem import make_problem
from ..data.read import read_data
from ..data.values import refuse_masked
from ..kernels.losses import Hinge, Loss, checked_loss
from ..solution import Progress, Solution
from .engines import check_solver
from .free_intercept import train_free
from .l1.columns import columns_if_many
from .l1.primal import train_primal
from .stop import Stop
from .train import train


def solve(
    X: Any,
    y: Any,
    loss: Loss = Hinge(),
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    gap_tol: float | None = None,
    alpha0: Any = None,
    max_iter: int | None = None,
    max_time: float | None = None,
    random_state: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    sample_weight: Any = None,
    bias: float = 0.0,
    n_jobs: int | None = None,
    free_intercept: bool = False,
    l1_ratio: float | None = None,
    finish: bool = True,
) -> Solution:
    """Minimise |w|^2/2 + sum_i loss(y_i, <x_i, w>) and return the model with its certificate.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        float32 and float64 values in C order or CSR are used without a copy.
    y : array of shape (n_rows,)
        Labels -1 and +1; targets for a regression.
    loss : Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive or Pinball
        The loss, with its C.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton", "newton_cg"}
        The engine. "auto" chooses one by the shape of the data and by C, and solves small problems to rounding.
    tol : float
        Stop when the largest violation of the optimality conditions is below this value (the paper's eps). With
        ``solver="auto"``, classification also stops at a certified relative duality gap of ``tol``/1000, unless
        ``free_intercept`` or ``l1_ratio`` is set.
    gap_tol : float, optional
        Stop when the relative duality gap is at most this value; ``tol`` is then not used.
    alpha0 : array of shape (n_rows,), optional
        Dual variables to start from; they are moved into the box.
    max_iter, max_time : optional
        Limits on sweeps (Newton: iterations) and seconds.
    random_state : int, optional
        Seed of the order of visits; None draws a new one each time.
    callback : callable, optional
        Called with a ``Progress`` after each sweep; a true return value ends training.
    sample_weight : array of shape (n_rows,), optional
        Multiplies C row by row; a row with weight zero is ignored.
    bias : float
        Value of a constant feature; its weight times ``bias`` is the solution's ``intercept``.
    n_jobs : int, optional
        Number of threads, used if the problem is large enough; -1 means all cores, None means one.
    free_intercept : bool
        Leave the intercept out of the regulariser. A ``bias`` other than zero then affects the path, not the solution.
    l1_ratio : float, optional
        If given, the regulariser is l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2. It needs a loss with a derivative, takes
        no ``alpha0``, and uses one thread.
    finish : bool
        Let Newton's method finish a run if the engine named by ``solver`` would take more than a hundred times as long.
        Benchmarks of an engine turn this off. It has no effect with ``free_intercept`` or ``l1_ratio``.

    Returns
    -------
    Solution
    """
    loss = checked_loss(loss)
    check_solver(solver)
    stop = checked_stop(tol, gap_tol, max_iter, max_time)
    if not isfinite(bias):
        raise ValueError(f"bias must be finite; got {bias!r}.")
    n_threads = effective_n_jobs(n_jobs)
    data = read_data(X, float(bias or free_intercept), n_threads)
    y = checked_targets(y, data.n_rows) if loss.is_regression else checked_labels(y, data.n_rows)
    refuse_masked(sample_weight, "sample_weight")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    problem = make_problem(data, y, weights, loss)
    if alpha0 is not None:
        alpha0 = checked_start(alpha0, data.n_rows)
    if l1_ratio is not None and not (loss.is_smooth and alpha0 is None):
        raise ValueError(f"l1_ratio needs a loss with a derivative and no alpha0; got {loss!r}.")
    seed = int(np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0])
    if l1_ratio is not None:
        return train_primal(
            problem,
            solver,
            stop,
            columns=columns_if_many(data),
            l1_ratio=float(l1_ratio),
            free_intercept=free_intercept,
            seed=seed,
            callback=callback,
        )
    how: dict[str, Any] = {"seed": seed, "alpha0": alpha0, "callback": callback, "n_threads": n_threads}
    if free_intercept:
        return train_free(problem, solver, stop, **how)
    return train(problem, solver, stop, finish=finish, **how)


def checked_stop(tol: float, gap_tol: float | None, max_iter: int | None, max_time: float | None) -> Stop:
    """Return the stop rule, or raise if a part of it makes no sense."""
    for name, value in (("tol", tol), ("gap_tol", gap_tol), ("max_time", max_time)):
        if value is not None and not value > 0.0:
            raise ValueError(f"{name} must be a positive number; got {value!r}.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter must be at least 1; got {max_iter!r}.")
    return Stop(tol, gap_tol, max_iter, max_time)


def checked_start(alpha0: Any, n_rows: int) -> np.ndarray:
    """Return the start as finite numbers, or raise; the state moves them into the box."""
    alpha0 = np.asarray(alpha0, dtype=np.float64)
    if alpha0.shape != (n_rows,):
        raise ValueError(f"alpha0 has shape {alpha0.shape}, but X has {n_rows} rows: pass one value per row.")
    if not np.isfinite(alpha0).all():
        raise ValueError(f"alpha0[{int(np.argmin(np.isfinite(alpha0)))}] is not finite.")
    return alpha0


def checked_targets(y: Any, n_rows: int) -> np.ndarray:
    """Return the targets of a regression as float64, or raise."""
    refuse_masked(y, "y")
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}, but X has {n_rows} rows: pass one target per row.")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"y holds something that is not a number: {error}. A regression needs numbers.") from error
    finite = np.isfinite(y)
    if not finite.all():
        i = int(np.argmin(finite))
        raise ValueError(
            f"Input y contains NaN or infinity (inf): y[{i}] is {y[i]}. Drop the row, or give it a target."
        )
    return y


def checked_labels(y: Any, n_rows: int) -> np.ndarray:
    """Return labels -1 and +1 as float32, or raise."""
    refuse_masked(y, "y")
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}, but X has {n_rows} rows: pass one label per row.")
    wrong = (y != 1) & (y != -1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"y[{i}] is {y[i]!r}: labels must be -1 and +1 (LinearSVC takes any two or more).")
    if (y == y[0]).all():
        raise ValueError(f"y holds only one class ({y[0]!r}): a classifier needs both.")
    return y.astype(np.float32)
