"""``LinearSVCCV``: ``LinearSVC`` with C chosen by cross-validation. No mathematics here."""

from __future__ import annotations

from typing import Any

from ..estimators import LinearSVC
from .cross_validated import ChoosesC, selection_constraints


class LinearSVCCV(ChoosesC, LinearSVC):
    """Linear support vector classifier with C chosen by cross-validation.

    X is read once, and all folds share it without a copy. Every fold starts each C from its solution for the previous
    one, and the fit to all rows starts from the mean of the folds' solutions. ``hingeline.c_path`` trains along a grid
    of C without folds.

    Parameters
    ----------
    Cs : int or array of shape (n_Cs,)
        Values of C to try. A number n means n values between 1e-4 and 1e4, evenly spaced on a logarithmic scale.
        Values that are repeated are tried once; results are in ascending order of C.
    cv : int, splitter or iterable, optional
        Folds, as in scikit-learn. None: five, or as many as the smallest class has rows (at least two).
    scoring : str or callable, optional
        How a fold is scored, as in scikit-learn. None: accuracy.
    refit : bool
        Train a model with the best C on all rows. Without it there are scores, but no predictions.
    early_stopping : bool
        End the search as soon as larger C can no longer win, by the rule in ``hingeline.selection.early``. Skipped
        cells are NaN. False: try every C.
    n_jobs : int, optional
        Number of threads over folds, classes and parts of the grid; -1 uses all cores. Scores depend on it only within
        the tolerance of the fits, the model only in its last digits.
    verbose : int
        Above zero, a line is printed for each C.
    loss, dual, tol, solver, gap_tol, fit_intercept, intercept_scaling, class_weight, max_iter, max_time,
    keep_dual, random_state, device
        As in ``LinearSVC``. ``tol``, ``gap_tol`` and ``max_iter`` apply to each fit, ``max_time`` to all fits together:
        when it is up, larger values of C are not tried.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; if there are several, the smallest.
    C_1se_ : float
        The smallest C whose mean score is at most one standard error below the best.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, ascending.
    scores_, fit_times_, fit_gaps_ : ndarray of shape (n_Cs, n_folds)
        Scores, seconds of training, and relative duality gaps (the largest of all classes); NaN for cells that were
        skipped.
    mean_scores_, std_errors_ : ndarray of shape (n_Cs,)
        Means over the folds, and their standard errors.
    best_score_ : float
        The mean score at ``C_``.
    coef_, intercept_, ...
        With ``refit``, everything that a fitted ``LinearSVC`` has.
    """

    _model_class = LinearSVC
    _parameter_constraints: dict[str, list[Any]] = selection_constraints(
        LinearSVC._parameter_constraints, "penalty", "multi_class"
    )

    def __init__(
        self,
        *,
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        early_stopping: bool = True,
        loss: str = "squared_hinge",
        dual: bool | str = "auto",
        tol: float = 1e-3,
        solver: str = "auto",
        gap_tol: float | None = None,
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
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
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.solver = solver
        self.gap_tol = gap_tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.keep_dual = keep_dual
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device
