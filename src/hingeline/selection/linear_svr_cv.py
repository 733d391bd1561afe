"""``LinearSVRCV``: ``LinearSVR`` with C chosen by cross-validation. No mathematics here."""

from __future__ import annotations

from typing import Any

from ..estimators import LinearSVR
from .cross_validated import ChoosesC, selection_constraints


class LinearSVRCV(ChoosesC, LinearSVR):
    """Linear support vector regression with C chosen by cross-validation.

    It searches like ``LinearSVCCV``.

    Parameters
    ----------
    Cs, refit, early_stopping, n_jobs, verbose
        As in ``LinearSVCCV``.
    cv : int, splitter or iterable, optional
        Folds, as in scikit-learn. None: five, or fewer if a fold would have a single row.
    scoring : str or callable, optional
        How a fold is scored, as in scikit-learn. None: R^2.
    epsilon, loss, quantile, dual, tol, solver, gap_tol, fit_intercept, intercept_scaling, max_iter, max_time,
    keep_dual, random_state, device
        As in ``LinearSVR``. ``tol``, ``gap_tol`` and ``max_iter`` apply to each fit, ``max_time`` to all fits together:
        when it is up, larger values of C are not tried.

    Attributes
    ----------
    C_, C_1se_, Cs_, scores_, fit_times_, fit_gaps_, mean_scores_, std_errors_, best_score_
        As in ``LinearSVCCV``.
    coef_, intercept_, ...
        With ``refit``, everything that a fitted ``LinearSVR`` has.
    """

    _model_class = LinearSVR
    _parameter_constraints: dict[str, list[Any]] = selection_constraints(LinearSVR._parameter_constraints)

    def __init__(
        self,
        *,
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        early_stopping: bool = True,
        epsilon: float = 0.0,
        loss: str = "epsilon_insensitive",
        quantile: float = 0.5,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        solver: str = "auto",
        gap_tol: float | None = None,
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        max_iter: int | None = None,
        max_time: float | None = None,
        keep_dual: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        device: str | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.early_stopping = early_stopping
        self.epsilon = epsilon
        self.loss = loss
        self.quantile = quantile
        self.dual = dual
        self.tol = tol
        self.solver = solver
        self.gap_tol = gap_tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.keep_dual = keep_dual
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device
