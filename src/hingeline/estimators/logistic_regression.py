"""``LogisticRegression`` with scikit-learn's interface. No mathematics here but that of probabilities."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..kernels.losses import Logistic, Loss
from .classifier import CLASSIFIER_CONSTRAINTS
from .sparse_penalty import SparsePenaltyClassifier


class LogisticRegression(SparsePenaltyClassifier):
    """Logistic regression, trained exactly, with a certificate.

    Minimises |w|^2/2 + C sum_i log(1 + exp(-y_i f(x_i))). Parameters with scikit-learn's names mean what they mean in
    ``sklearn.linear_model.LogisticRegression`` with ``solver="liblinear"``: more than two classes are trained one
    against the rest (scikit-learn's other solvers are multinomial there), and the intercept is regularised unless
    ``fit_intercept="free"``.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        |w|^2/2, |w|_1, or l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2. With the last two, columns are visited instead of
        rows, ``max_iter`` counts Newton iterations, and ``tol`` is for the optimality conditions of the weights.
    dual : {"auto"} or bool
        Has no effect: every engine returns the primal and the dual solution. Accepted because scikit-learn has it.
    tol : float
        Training ends when the largest violation of the optimality conditions is below ``tol``. A violation is the
        difference between the probability that the model gives to a row and the one that its dual variable stands for.
    gap_tol : float, optional
        Relative duality gap at which training ends. If it is given, ``tol`` is not used.
    C : float
        Weight of the loss.
    fit_intercept : bool or "free"
        True: the intercept is the weight of a constant feature of value ``intercept_scaling``, and regularised like any
        other weight. "free": it is not regularised.
    intercept_scaling : float
    class_weight : dict or "balanced", optional
    random_state : int, RandomState or None
        Seeds the order in which rows are visited.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton", "newton_cg"}
        Engine. "auto" chooses by the shape of the data and by C, and solves tiny problems (rows x columns up to 1e4)
        as accurately as rounding allows, unless ``gap_tol`` is given.
    max_iter, max_time : optional
        Caps on sweeps (Newton: iterations) and on seconds; None: no cap. If a cap ends training, ``fit`` warns, and the
        model is usable.
    verbose : int
        Above zero, progress is shown in terminals and notebooks, and a line per problem is printed at the end.
    warm_start : bool
        Start from the previous solution: from its dual variables if the number of rows is the same, else from its
        weights.
    keep_dual : bool
        False: forget ``dual_coef_`` and ``support_`` after training, so that neither the model nor its pickle grows
        with the number of rows. A warm start then begins at the weights.
    n_jobs : int, optional
        Threads. They share the problems of several classes, and the rows of a large problem.
    l1_ratio : float, optional
        Share of |w|_1 in the penalty "elasticnet". With "l2" it must be None or 0, with "l1" None or 1.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_coef_, support_, n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_, history_
        As in ``LinearSVC``.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, exact for the returned weights: the optimum lies between ``dual_objective_`` and
        ``objective_``.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **CLASSIFIER_CONSTRAINTS,
        "penalty": [StrOptions({"elasticnet", "l1", "l2"})],
        "l1_ratio": [Interval(Real, 0.0, 1.0, closed="both"), None],
    }

    def __init__(
        self,
        penalty: str = "l2",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        gap_tol: float | None = None,
        C: float = 1.0,
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int | None = None,
        max_time: float | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_dual: bool = True,
        n_jobs: int | None = None,
        l1_ratio: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.dual = dual
        self.tol = tol
        self.gap_tol = gap_tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.verbose = verbose
        self.warm_start = warm_start
        self.keep_dual = keep_dual
        self.n_jobs = n_jobs
        self.l1_ratio = l1_ratio

    def _loss(self) -> Loss:
        self._l1_share()
        return Logistic(float(self.C))

    def _l1_share(self) -> float:
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise ValueError('penalty="elasticnet" needs an l1_ratio between 0 and 1; got None.')
            return float(self.l1_ratio)
        share = 1.0 if self.penalty == "l1" else 0.0
        if self.l1_ratio not in (None, share):
            raise ValueError(f'penalty="{self.penalty}" has l1_ratio {share:g}: leave it None; got {self.l1_ratio!r}.')
        return share

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities, shape (n_samples, n_classes), accurate for tiny ones too."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([log_expit(-values), log_expit(values)])
        logs = log_expit(values)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, shape (n_samples, n_classes).

        Of more than two classes, the probability of each against the rest is divided by their sum.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def to_sklearn(self) -> Any:
        """Return a fitted ``sklearn.linear_model.LogisticRegression`` with this binary model, for exports."""
        check_is_fitted(self)
        if self.classes_.size > 2:
            raise ValueError(
                "scikit-learn's LogisticRegression is multinomial for more than two classes, but this model is "
                "one-versus-rest: wrap a binary LogisticRegression in sklearn.multiclass.OneVsRestClassifier instead."
            )
        model = SklearnLogisticRegression(C=self.C, tol=self.tol, class_weight=self.class_weight)
        model.n_iter_ = np.array([self.n_iter_])
        return self._copy_model_to(model)
