"""``LinearSVRCV``: ``LinearSVR`` with C chosen by cross-validation. No mathematics here."""

from __future__ import annotations

from typing import Any

from ..estimators import LinearSVR
from .cross_validated import ChoosesC, selection_constraints


class LinearSVRCV(ChoosesC, LinearSVR):
    """Linear support vector regression whose C is chosen by cross-validation.

    Every fold starts each C from its solution for the last one; X is read once and shared by all folds without a copy.
    ``hingeline.c_path`` is the same without folds.

    Parameters
    ----------
    Cs : int or array of shape (n_Cs,)
        Values of C to try; a number stands for so many between 1e-4 and 1e4, evenly spaced in their logarithms.
    cv : int, splitter or iterable, optional
        Folds, as in scikit-learn. None: five, or as many as the smallest class has rows (at least two).
    scoring : str or callable, optional
        What a fold is scored by, as in scikit-learn. None: R^2.
    refit : bool
        Train the model of the best C with all rows; without it there are no predictions, only scores.
    early_stopping : bool
        End the path where larger C can no longer win, by the rule in ``hingeline.selection.early``: cells that were
        skipped are NaN. False: fill the table.
    n_jobs : int, optional
        Threads over folds; -1 takes all cores. Results do not depend on their number.
    verbose : int
        Above zero, a line is printed for each C.
    epsilon, loss, quantile, dual, fit_intercept, intercept_scaling, random_state
        As in ``LinearSVR``.
    tol, solver, gap_tol, max_iter, max_time
        As in ``LinearSVR``; ``tol``, ``gap_tol`` and the caps are those of each single fit.

    Attributes
    ----------
    C_ : float
        The C of the best mean score, the smallest of several.
    C_1se_ : float
        The smallest C whose mean score is at most one standard error below the best.
    Cs_ : ndarray of shape (n_Cs,)
        The grid, ascending.
    scores_, fit_times_, fit_gaps_ : ndarray of shape (n_Cs, n_folds)
        Scores, seconds of training, and relative duality gaps (the largest of the classes'); NaN where the path had
        ended.
    mean_scores_, std_errors_ : ndarray of shape (n_Cs,)
        Means over the folds, and their standard errors.
    best_score_ : float
        The mean score at ``C_``.
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
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
