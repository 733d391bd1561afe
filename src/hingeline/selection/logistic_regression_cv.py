"""``LogisticRegressionCV``: ``LogisticRegression`` with C chosen by cross-validation. No mathematics here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..estimators import LogisticRegression
from ..estimators.training_set import ClassificationSet, TrainingSet
from .cross_validated import ChoosesC, selection_constraints
from .multinomial_walk import Joint


class LogisticRegressionCV(ChoosesC, LogisticRegression):
    """Logistic regression with C chosen by cross-validation.

    It searches like ``LinearSVCCV``. More than two classes are one multinomial problem, or are trained one against the
    rest, as in ``LogisticRegression``.

    Parameters
    ----------
    Cs, refit, early_stopping, n_jobs, verbose
        As in ``LinearSVCCV``.
    cv : int, splitter or iterable, optional
        Folds, as in scikit-learn. None: five, or as many as the smallest class has rows (at least two).
    scoring : str or callable, optional
        How a fold is scored, as in scikit-learn. None: accuracy. Scores of probabilities see all classes, even if a
        fold lacks some of them.
    dual, tol, solver, gap_tol, fit_intercept, intercept_scaling, max_iter, max_time, multi_class, keep_dual,
    random_state, device
        As in ``LogisticRegression``. ``tol``, ``gap_tol`` and ``max_iter`` apply to each fit, ``max_time`` to all fits
        together: when it is up, larger values of C are not tried.
    class_weight : dict or "balanced", optional
        "balanced" counts all rows, also in the folds, as in scikit-learn.
    penalty, l1_ratios
        Accepted because scikit-learn has them. They must be "l2" and zeros, since the penalty is |w|^2/2.
    use_legacy_attributes : bool
        Accepted because scikit-learn has it. It must be False, since ``C_`` is a number and ``scores_`` an array.

    Attributes
    ----------
    C_, C_1se_, Cs_, scores_, fit_times_, fit_gaps_, mean_scores_, std_errors_, best_score_
        As in ``LinearSVCCV``.
    coef_, intercept_, ...
        With ``refit``, everything that a fitted ``LogisticRegression`` has.
    """

    _model_class = LogisticRegression
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **selection_constraints(LogisticRegression._parameter_constraints, "penalty", "l1_ratio"),
        "penalty": [StrOptions({"deprecated", "l2"})],
        "l1_ratios": ["array-like", StrOptions({"warn"}), None],
        "use_legacy_attributes": ["boolean", StrOptions({"warn"})],
    }
    _balances_each_fold = False
    l1_ratio, C = 0.0, 1.0  # of every model; its C is ``C_``

    def __init__(
        self,
        *,
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        early_stopping: bool = True,
        dual: bool | str = "auto",
        tol: float = 1e-4,
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
        multi_class: str = "auto",
        penalty: str = "deprecated",
        l1_ratios: Any = (0.0,),
        use_legacy_attributes: bool | str = False,
        device: str | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.early_stopping = early_stopping
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
        self.multi_class = multi_class
        self.penalty = penalty
        self.l1_ratios = l1_ratios
        self.use_legacy_attributes = use_legacy_attributes
        self.device = device

    def _read(self, X: Any, y: Any, sample_weight: Any) -> ClassificationSet:
        rows = super()._read(X, y, sample_weight)
        weights = rows.class_weights  # "balanced" among all rows, also in the folds, as in scikit-learn
        if weights is None:
            return rows
        return replace(rows, class_weight=dict(zip(rows.classes.tolist(), weights.tolist(), strict=True)))

    def _check_parameters(self) -> None:
        ratios = 0.0 if self.l1_ratios is None or isinstance(self.l1_ratios, str) else self.l1_ratios
        if np.any(np.asarray(ratios, dtype=np.float64) != 0.0):
            raise ValueError(
                f"LogisticRegressionCV supports only the L2 penalty, l1_ratios=(0.0,); got {self.l1_ratios!r}. Use "
                "LogisticRegression(l1_ratio=...) with scikit-learn's GridSearchCV."
            )
        if self.use_legacy_attributes is True:
            raise ValueError("use_legacy_attributes=True is not supported: C_ is a number, and scores_ an array.")

    def _joint(self, rows: TrainingSet) -> Joint | None:
        assert isinstance(rows, ClassificationSet)
        n_classes = int(rows.classes.size)
        if not self._is_multinomial(n_classes):
            return None
        return Joint(rows.data, rows.codes, n_classes, rows.weights, rows.class_weights, self._intercept_is_free())
