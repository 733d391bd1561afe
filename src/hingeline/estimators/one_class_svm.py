"""``OneClassSVM``: outlier detection with scikit-learn's interface. No mathematics here."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.linear_model import SGDOneClassSVM
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..solution import Snapshot, Solution
from ..solvers.engines import STEPWISE_SOLVERS
from ..solvers.one_class.one_class import train_one_class
from .base import decision_values, read_to_fit, read_to_predict, support_of
from .certified import TRAINING_CONSTRAINTS, CertifiedEstimator, from_zero
from .checkpoint import Start
from .labels import encode_weights
from .training_set import TrainingSet
from .watch import Watch

ON_BOUNDARY = 1e-12  # times rho: support vectors on the boundary count as inside, whatever rounding makes of them
SHARED = ("tol", "gap_tol", "max_iter", "max_time", "keep_dual", "random_state", "verbose")


class OneClassSVM(OutlierMixin, CertifiedEstimator):
    """Linear one-class support vector machine: finds rows that are unlike the others, with a certificate.

    Minimises |w|^2/2 - nu n rho + sum_i max(0, rho - <x_i, w>) over w and rho. ``predict``, ``decision_function`` and
    ``score_samples`` return what they return in ``sklearn.svm.OneClassSVM(kernel="linear")``, which solves the same
    problem, as LIBLINEAR does. (scikit-learn's ``SGDOneClassSVM`` divides the objective by nu n, so its weights differ
    by that factor.)

    Parameters
    ----------
    nu : float in (0, 1]
        At most this fraction of the rows lies outside, and at least this fraction are support vectors.
    tol : float
        Training ends when the largest violation of the optimality conditions, a difference of two scores, is below
        ``tol`` and the duality gap is at most 1e-3.
    gap_tol : float, optional
        Relative duality gap at which training ends. If it is given, ``tol`` is not used.
    solver : {"auto", "baseline", "avsf", "hybrid"}
        "hybrid" visits rows with adaptive frequencies and leaves out those that are settled, "avsf" leaves out none,
        and "baseline" visits all rows equally often. "auto" is the hybrid, and solves tiny problems (rows x columns up
        to 1e4) more accurately than ``tol`` asks for. If sweeps converge slowly, Newton's method takes over.
    max_iter, max_time : optional
        Limits on sweeps and on seconds; None: no limit. If a limit ends training, ``fit`` warns, and the model is
        usable.
    keep_dual : bool
        False: drop ``dual_coef_`` and ``support_`` after training, so that neither the model nor its pickle grows with
        the number of rows.
    random_state : int, RandomState or None
        Seeds the order in which rows are visited.
    verbose : int
        Above zero, progress is shown in terminals and notebooks, and a line per problem is printed at the end.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    offset_, intercept_ : ndarray of shape (1,)
        rho and -rho: ``decision_function`` returns ``score_samples`` - ``offset_``.
    dual_coef_ : ndarray of shape (n_samples,)
        alpha_i, with ``coef_`` = sum_i alpha_i x_i up to rounding; one entry per row, also if it is zero.
    support_ : ndarray
        Rows with alpha_i > 0.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_, history_, per_class_
        As in ``LinearSVC``.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, computed for the returned weights. The optimum is negative, and the gap relative to its size.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **{name: TRAINING_CONSTRAINTS[name] for name in SHARED},
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "solver": [StrOptions(set(STEPWISE_SOLVERS))],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        tol: float = 1e-3,
        gap_tol: float | None = None,
        solver: str = "auto",
        max_iter: int | None = None,
        max_time: float | None = None,
        keep_dual: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.tol = tol
        self.gap_tol = gap_tol
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.keep_dual = keep_dual
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : {array, data frame, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Accepted because scikit-learn has it.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; a row with weight zero is ignored.

        Returns
        -------
        self
        """
        data, features = read_to_fit(X, 0.0)
        weights = encode_weights(sample_weight, data.n_rows)
        return self._fit_rows(TrainingSet(X, y, sample_weight, data, features, weights), from_zero)

    def _train(self, rows: TrainingSet, start: Start, watch: Watch) -> list[Solution]:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        watch.begin(1)
        with watch.problem(0) as callback:
            how: dict[str, Any] = {"seed": seed, "callback": callback, **start(None, 0)}
            s = train_one_class(rows.data, rows.weights, float(self.nu), self.solver, self._stop(), **how)
            return [watch.solved(0, s)]

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        self._keep_runs(rows.known, solutions)
        (s,) = solutions
        self.__dict__.update(_model(s.w, -s.intercept))
        self.dual_coef_ = s.alpha
        self.support_ = support_of(s.alpha)

    def _model_of(self, reached: Sequence[Snapshot | None]) -> dict[str, Any]:
        (at,) = reached
        assert at is not None
        return _model(at.w, -at.intercept)

    def to_sklearn(self) -> Any:
        """Return this model as a fitted ``sklearn.linear_model.SGDOneClassSVM``, for exports.

        It predicts the same. Trained again, it would solve the problem divided by nu n, approximately.
        """
        return self._counterpart(SGDOneClassSVM)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return <x, w> for each row: the larger, the more the row is like the others."""
        check_is_fitted(self)
        return decision_values(read_to_predict(self, X), self.coef_, np.zeros(1)).ravel()

    def decision_function(self, X: Any) -> np.ndarray:
        """Return <x, w> - rho for each row: negative for rows outside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 for rows inside or on the boundary, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


def _model(w: np.ndarray, rho: float) -> dict[str, Any]:
    offset = rho - ON_BOUNDARY * abs(rho)
    return {"coef_": w[None, :], "offset_": np.array([offset]), "intercept_": np.array([-offset])}
