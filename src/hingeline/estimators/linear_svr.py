"""``LinearSVR``: support vector and quantile regression with scikit-learn's interface. No mathematics here."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import QuantileRegressor
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.svm import LinearSVR as SklearnLinearSVR
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..kernels.losses import EVERY_LOSS, Loss
from ..solution import Snapshot, Solution
from .base import decision_values, dense_coef, read_to_predict, support_of
from .certified import TRAINING_CONSTRAINTS, CertifiedEstimator
from .device import is_dispatched, refuse_other_place
from .training_set import RegressionSet, TrainingSet, read_regression

LOSSES: dict[str, type[Loss]] = {kind.name: kind for kind in EVERY_LOSS if kind.is_regression}
OF_SOME_LOSSES = {"epsilon": 0.0, "quantile": 0.5}  # parameters that not every loss has, and their defaults


class LinearSVR(SparseCoefMixin, RegressorMixin, CertifiedEstimator):
    """Linear support vector regression with a certificate of optimality.

    Minimises |w|^2/2 + C sum_i max(0, |y_i - f(x_i)| - epsilon), the same with squares, or with the pinball loss of
    quantile regression, C sum_i max(q m_i, (q - 1) m_i) with m_i = y_i - f(x_i). Parameters with scikit-learn's names
    have the same meaning as in ``sklearn.svm.LinearSVR``.

    Parameters
    ----------
    epsilon : float
        Errors up to epsilon cost nothing. In the units of y. Only for the epsilon-insensitive losses.
    tol : float
        Training ends when the largest violation of the optimality conditions is below ``tol``. In the units of y.
    C : float
        Weight of the loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "pinball"}
    quantile : float
        q, above 0 and below 1: the quantile of y that is predicted. Only for the pinball loss.
    fit_intercept : bool or "free"
        True: the intercept is the weight of a constant feature of value ``intercept_scaling``, and regularised like any
        other weight. "free": it is not regularised.
    intercept_scaling : float
        Value of the constant feature.
    dual : {"auto"} or bool
        Has no effect: every engine returns the primal and the dual solution. Accepted because scikit-learn has it.
    verbose : int
        Above zero, progress is shown in terminals and notebooks, and a line per problem is printed at the end.
    random_state : int, RandomState or None
        Seeds the order in which rows are visited.
    max_iter, max_time : optional
        Limits on sweeps (Newton: iterations) and on seconds; None: no limit. If a limit ends training, ``fit`` warns,
        and the model is usable.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton", "newton_cg"}
        The engine. "auto" chooses one by the shape of the data and by C. It solves tiny problems (rows x columns up to
        1e4) as accurately as rounding allows, unless ``gap_tol`` is given.
    gap_tol : float, optional
        Relative duality gap at which training ends. If it is given, ``tol`` is not used.
    warm_start : bool
        Start from the previous solution: from its dual variables if the number of rows is the same, else from its
        weights.
    keep_dual : bool
        False: drop ``dual_coef_`` and ``support_`` after training, so that neither the model nor its pickle grows with
        the number of rows. A warm start then begins at the weights.
    n_jobs : int, optional
        Number of threads. They share the rows of a large problem.
    device : str, optional
        "cuda" moves a NumPy or SciPy X to the GPU once and trains there; results are NumPy arrays.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_coef_ : ndarray of shape (n_samples,)
        beta_i, with ``coef_`` = sum_i beta_i x_i.
    support_ : ndarray
        Rows with beta_i != 0.
    n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_, history_, per_class_
        As in ``LinearSVC``.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, computed for the returned weights: the optimum lies between ``dual_objective_`` and
        ``objective_``.
    """

    _trains_on_devices = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **TRAINING_CONSTRAINTS,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
        "quantile": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        quantile: float = 0.5,
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        solver: str = "auto",
        gap_tol: float | None = None,
        warm_start: bool = False,
        keep_dual: bool = True,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.quantile = quantile
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_time = max_time
        self.solver = solver
        self.gap_tol = gap_tol
        self.warm_start = warm_start
        self.keep_dual = keep_dual
        self.n_jobs = n_jobs
        self.device = device

    def _read(self, X: Any, y: Any, sample_weight: Any) -> RegressionSet:
        return read_regression(self, X, y, sample_weight, bias=self._bias())

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        self._keep_runs(rows.known, solutions)
        (s,) = solutions
        self.coef_ = s.w
        self.intercept_ = np.array([s.intercept])
        self.dual_coef_ = s.alpha
        self.support_ = support_of(s.alpha)

    def _loss(self) -> Loss:
        """Return the loss with its parameters; raise if one is set that the loss does not have."""
        kind = LOSSES[self.loss]
        for name, default in OF_SOME_LOSSES.items():
            if name not in kind._fields and getattr(self, name) != default:
                raise ValueError(f"loss={self.loss!r} has no {name}: leave it at {default}.")
        return kind(float(self.C), *(float(getattr(self, name)) for name in kind._fields[1:]))

    def _model_of(self, reached: Sequence[Snapshot | None]) -> dict[str, Any]:
        model = super()._model_of(reached)
        return {**model, "coef_": model["coef_"][0]}

    def to_sklearn(self) -> Any:
        """Return this model as a fitted ``sklearn.svm.LinearSVR``, for exports that understand it.

        With ``loss="pinball"`` it is a ``sklearn.linear_model.QuantileRegressor``. It predicts the same, but its
        penalty differs: trained again, it would give another model.
        """
        if self.loss == "pinball":
            return self._counterpart(QuantileRegressor)
        return self._counterpart(SklearnLinearSVR, dual=True)

    def predict(self, X: Any) -> np.ndarray:
        """Return f(x) = <x, coef_> + intercept_ for each row, shape (n_samples,)."""
        check_is_fitted(self)
        if is_dispatched(X):
            from .on_device import scores_on_device

            return scores_on_device(self, X, "predict")[:, 0]
        refuse_other_place(self, X, "predict")
        matrix = read_to_predict(self, X)
        return decision_values(matrix, np.atleast_2d(dense_coef(self.coef_)), self.intercept_).ravel()
