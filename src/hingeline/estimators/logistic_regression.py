"""``LogisticRegression`` with scikit-learn's interface. No mathematics here but that of probabilities."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..kernels.losses import Logistic, Loss
from ..solvers.engines import AUTO, NEWTON, NEWTON_CG, SOLVERS
from ..solvers.multinomial.multinomial import SOLVERS as MULTINOMIAL_SOLVERS
from .classifier import CLASSIFIER_CONSTRAINTS
from .device import is_array_elsewhere, refuse_other_place
from .sklearn_logistic import one_versus_rest, unfitted
from .softmax_classifier import SoftmaxClassifier

PENALTIES = {"l2": 0.0, "l1": 1.0}  # the share of |w|_1 in them
SKLEARN_SOLVERS = {  # scikit-learn's, and the engines that stand for them
    "lbfgs": AUTO,
    "liblinear": AUTO,
    "newton-cg": NEWTON_CG,
    "newton-cholesky": NEWTON,
    "sag": AUTO,
    "saga": AUTO,
}


class LogisticRegression(SoftmaxClassifier):
    """Logistic regression with a certificate of optimality.

    Minimises |w|^2/2 + C sum_i log(1 + exp(-y_i f(x_i))) for two classes, with f(x) = <x, w> + b. More classes are
    trained in one multinomial problem: sum_c |w_c|^2/2 + C sum_i (log sum_c exp(f_c(x_i)) - f_{y_i}(x_i)). Intercepts
    are not regularised. Parameters with scikit-learn's names have the same meaning as in
    ``sklearn.linear_model.LogisticRegression``.

    Parameters
    ----------
    penalty : {"deprecated", "l2", "l1", "elasticnet"} or None
        As in scikit-learn, where it is deprecated: set ``l1_ratio`` and ``C`` instead. "l2" is ``l1_ratio=0``, "l1" is
        ``l1_ratio=1``, "elasticnet" takes ``l1_ratio``, and None is ``C=np.inf``.
    C : float
        Weight of the loss. ``np.inf``: no penalty. The model is then trained at a C so large that it is as good as
        infinity, and objectives and dual variables are divided by it. If the classes are separable, there is no
        optimum: ``fit`` warns, and the weights are finite but arbitrary.
    l1_ratio : float
        The penalty is l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2. Above 0, columns are visited instead of rows, more than
        two classes are trained one against the rest, ``max_iter`` counts Newton iterations, and ``tol`` refers to the
        optimality conditions of the weights.
    dual : {"auto"} or bool
        Has no effect: every engine returns the primal and the dual solution. Accepted because scikit-learn has it.
    tol : float
        Training ends when the largest violation of the optimality conditions is below ``tol``. A violation is the
        difference between the probability that the model gives a row and the one that its dual variable implies.
    gap_tol : float, optional
        Relative duality gap at which training ends. If it is given, ``tol`` is not used.
    fit_intercept : bool, "free" or "regularised"
        True, or "free": the intercept is not regularised. "regularised": it is the weight of a constant feature of
        value ``intercept_scaling``, as in LIBLINEAR.
    intercept_scaling : float
        Used if the intercept is regularised, as in scikit-learn.
    class_weight : dict or "balanced", optional
        Multiplies C for the rows of a class. If classes are trained one against the rest, the rest has weight 1, as in
        LIBLINEAR.
    random_state : int, RandomState or None
        Seeds the order in which rows are visited.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton", "newton_cg"} or one of scikit-learn's
        The engine. "auto" chooses one by the shape of the data and by C. It solves tiny problems (rows x columns up to
        1e4) as accurately as rounding allows, unless ``gap_tol`` is given. scikit-learn's names are understood:
        "newton-cg" and "newton-cholesky" are "newton_cg" and "newton", "liblinear" is "auto" with
        ``fit_intercept="regularised"`` and ``multi_class="ovr"``, and the others, which have the same optimum, are
        "auto".
    max_iter, max_time : optional
        Limits on sweeps (Newton: iterations) and on seconds; None: no limit. If a limit ends training, ``fit`` warns,
        and the model is usable.
    verbose : int
        Above zero, progress is shown in terminals and notebooks, and a line per problem is printed at the end.
    warm_start : bool
        Start from the previous solution: from its dual variables if the number of rows is the same, else from its
        weights. The multinomial problem starts from the weights.
    keep_dual : bool
        False: drop ``dual_coef_`` and ``support_`` after training, so that neither the model nor its pickle grows with
        the number of rows. A warm start then begins at the weights.
    n_jobs : int, optional
        Number of threads. They share the problems of several classes, and the rows of a large problem.
    multi_class : {"auto", "multinomial", "ovr"}
        How more than two classes are trained: all in one problem, or each against the rest. "auto": in one problem, but
        one against the rest if ``l1_ratio`` is above 0 or ``solver`` names a coordinate engine ("baseline", "avsf",
        "hybrid"), which cannot train the multinomial problem.
    device : str, optional
        As in ``LinearSVC``. More than two classes need ``multi_class="ovr"`` there.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_coef_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        alpha_i y_i for a binary problem. In the multinomial problem alpha_ic = C_i ([c = y_i] - p_ic), with p_ic the
        probability of class c; w_c = sum_i alpha_ic x_i in both.
    support_, n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_, history_, per_class_
        As in ``LinearSVC``. The multinomial problem is one, so ``per_class_`` has one row.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, computed for the returned weights: the optimum lies between ``dual_objective_`` and
        ``objective_``.
    """

    _trains_on_devices = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **CLASSIFIER_CONSTRAINTS,
        "penalty": [StrOptions({"deprecated", "elasticnet", "l1", "l2"}), None],
        "C": [Interval(Real, 0.0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "solver": [StrOptions({*SOLVERS, *SKLEARN_SOLVERS})],
        "fit_intercept": ["boolean", StrOptions({"free", "regularised"})],
        "multi_class": [StrOptions({"auto", "multinomial", "ovr"})],
    }

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        gap_tol: float | None = None,
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
        multi_class: str = "auto",
        device: str | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.gap_tol = gap_tol
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
        self.multi_class = multi_class
        self.device = device

    def _is_liblinear(self) -> bool:
        """Tell whether the problem is scikit-learn's with solver="liblinear"."""
        return bool(self.solver == "liblinear")

    def _intercept_is_free(self) -> bool:
        return bool(self.fit_intercept) and self.fit_intercept != "regularised" and not self._is_liblinear()

    def _bias(self) -> float:
        return 1.0 if self._intercept_is_free() else super()._bias()

    def _engine(self) -> str:
        return SKLEARN_SOLVERS.get(self.solver, self.solver)

    def _loss(self) -> Loss:
        self._l1_share()
        return Logistic(float(self.C))

    def _weight_of_loss(self) -> float:
        return inf if self.penalty is None else float(self.C)

    def _l1_share(self) -> float:
        """Return the share of |w|_1, from ``l1_ratio`` alone or from what ``penalty`` says."""
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise ValueError('penalty="elasticnet" needs an l1_ratio between 0 and 1; got None.')
            return float(self.l1_ratio)
        given = 0.0 if self.l1_ratio is None else float(self.l1_ratio)
        share = PENALTIES.get(str(self.penalty), given if self.penalty is not None else 0.0)
        if given not in (0.0, share):
            raise ValueError(
                f"penalty={self.penalty!r} means l1_ratio={share:g}, but l1_ratio is {self.l1_ratio!r}: leave one of "
                "them out."
            )
        return share

    def _is_ridge(self) -> bool:
        if self._weight_of_loss() == inf:
            return True
        return self.penalty != "elasticnet" and self._l1_share() == 0.0

    def _is_multinomial(self, n_classes: int) -> bool:
        if n_classes == 2 or self.multi_class == "ovr":
            return False
        is_possible = self._is_ridge() and self._engine() in MULTINOMIAL_SOLVERS
        if self.multi_class == "multinomial" and not is_possible:
            raise ValueError(
                'multi_class="multinomial" needs the L2 penalty (l1_ratio=0) and one of the solvers '
                f'{", ".join(MULTINOMIAL_SOLVERS)}: choose these, or multi_class="ovr".'
            )
        return is_possible and not (self._is_liblinear() and self.multi_class == "auto")

    def _explicit_parameters(self) -> dict[str, str]:
        """Return the penalty and the kind of multi-class problem of a fitted model, whatever the parameters say."""
        ridge, share = self._is_ridge(), self._l1_share()
        penalty = "l2" if ridge else "l1" if share == 1.0 else "elasticnet"
        return {
            "penalty": penalty,
            "multi_class": "multinomial" if self._is_multinomial(self.classes_.size) else "ovr",
        }

    @staticmethod
    def _present_parameters(params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters as they are called today; until 0.1.0 there was no multinomial and no free default."""
        if "multi_class" in params:
            return params
        regularised = params.get("fit_intercept") is True
        return {**params, "multi_class": "ovr", **({"fit_intercept": "regularised"} if regularised else {})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(self._present_parameters(state))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities, shape (n_samples, n_classes), accurate for tiny ones too."""
        refuse_other_place(self, X, "predict_log_proba")
        values = self.decision_function(X)
        if is_array_elsewhere(values):
            from .on_device import log_probabilities

            return log_probabilities(values)
        if values.ndim == 1:
            return np.column_stack([log_expit(-values), log_expit(values)])
        if self._is_multinomial(self.classes_.size):
            return np.asarray(log_softmax(values, axis=1))
        logs = log_expit(values)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, shape (n_samples, n_classes).

        With more than two classes they are the softmax of the scores. If classes were trained one against the rest, the
        probability of each class is divided by their sum.
        """
        refuse_other_place(self, X, "predict_proba")
        logs = self.predict_log_proba(X)
        if is_array_elsewhere(logs):
            from .on_device import exponentials

            return exponentials(logs)
        return np.asarray(np.exp(logs))

    def to_sklearn(self) -> Any:
        """Return this model as a fitted ``sklearn.linear_model.LogisticRegression``, for exports.

        If more than two classes were trained one against the rest, it is a ``sklearn.multiclass.OneVsRestClassifier``.
        """
        check_is_fitted(self)
        share = 0.0 if self._is_ridge() else self._l1_share()
        regularised = bool(self.fit_intercept) and not self._intercept_is_free()
        multinomial = self._is_multinomial(self.classes_.size)
        model = unfitted(self, self._weight_of_loss(), share, regularised, multinomial)
        model.n_iter_ = np.array([np.max(getattr(self, "n_iter_", 0))], dtype=np.int32)
        if self.classes_.size == 2 or multinomial:
            return self._copy_model_to(model)
        return one_versus_rest(self, model)
