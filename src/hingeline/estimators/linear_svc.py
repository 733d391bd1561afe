"""``LinearSVC``: the scikit-learn face of the engines. No mathematics here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from numbers import Integral, Real
from threading import Event
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.svm import LinearSVC as SklearnLinearSVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..kernels.losses import Hinge, Loss, SquaredHinge
from ..problem import Data, Problem, make_problem
from ..solution import Solution
from ..solvers.driver import Stop
from ..solvers.start import from_weights
from ..solvers.train import ENGINES, train
from .base import decision_values, dense_coef, read_to_fit, read_to_predict
from .labels import class_weights, drop_weightless, encode_labels, encode_weights, row_weights

LOSSES: dict[str, Callable[[float], Loss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge}
PER_SOLUTION = {
    "n_iter_": "n_iter",
    "n_steps_": "n_steps",
    "fit_time_": "seconds",
    "solver_": "solver",
    "converged_": "converged",
    "stop_reason_": "stop_reason",
}
CERTIFIED = {
    "kkt_violation_": "violation",
    "objective_": "primal",
    "dual_objective_": "dual",
    "duality_gap_": "gap",
}


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, BaseEstimator):
    """Linear support vector classifier, trained exactly, with a certificate.

    Minimises |w|^2/2 + C sum_i loss(1 - y_i f(x_i)). Parameters with scikit-learn's names mean what they mean in
    ``sklearn.svm.LinearSVC``; the paper's machine is ``loss="hinge", fit_intercept=False``.

    Parameters
    ----------
    penalty : {"l2"}
    loss : {"squared_hinge", "hinge"}
    dual : {"auto"} or bool
        Without effect, here for scikit-learn's users: every engine returns the primal and the dual solution.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton"}
        Engine. "auto" chooses by the shape of the data, and solves small problems (rows x columns up to 1e5) to
        rounding.
    tol : float
        Largest violation of the optimality conditions at which training ends (the paper's eps).
    gap_tol : float, optional
        Relative duality gap at which training ends; ``tol`` is then not used.
    C : float
        Weight of the loss.
    multi_class : {"ovr"}
        More than two classes are trained one against the rest.
    fit_intercept, intercept_scaling
        The intercept is the weight of a constant feature of value ``intercept_scaling``; X is not copied for it.
    class_weight : dict or "balanced", optional
    max_iter, max_time : optional
        Caps on sweeps (Newton: iterations) and seconds; none by default. A fit that one of them ends warns, and is
        usable.
    warm_start : bool
        Start from the previous solution: from its dual variables where the number of rows is the same, else from its
        weights, scaled so that the start is never worse than none.
    n_jobs : int, optional
        Threads over the classes of a one-versus-rest problem.
    random_state : int, RandomState or None
        Seed of the order in which rows are visited.
    verbose : int
        Above zero, a line is printed for each binary problem when it is solved.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_coef_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        alpha_i y_i.
    support_ : ndarray
        Rows with alpha_i > 0 (for any class).
    n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_, history_
        Sweeps, visits of rows, seconds after validation, engine, whether and why training ended, one record a sweep.
        Scalars for a binary problem, one value a class otherwise.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, exact at the returned weights: the optimum lies between ``dual_objective_`` and ``objective_``.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        "penalty": [StrOptions({"l2"})],
        "loss": [StrOptions(set(LOSSES))],
        "dual": ["boolean", StrOptions({"auto"})],
        "solver": [StrOptions({"auto", *ENGINES})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "gap_tol": [Interval(Real, 0.0, None, closed="neither"), None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "multi_class": [StrOptions({"ovr"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "max_time": [Interval(Real, 0.0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        solver: str = "auto",
        tol: float = 1e-3,
        gap_tol: float | None = None,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.solver = solver
        self.tol = tol
        self.gap_tol = gap_tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Train.

        Parameters
        ----------
        X : {array, data frame, sparse matrix} of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row; rows of weight zero count for nothing.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("This LinearSVC estimator requires y to be passed, but the target y is None.")
        data, features = read_to_fit(X, float(self.intercept_scaling) if self.fit_intercept else 0.0)
        classes, codes = encode_labels(y)
        if codes.size != data.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{data.n_rows}, {codes.size}]"
            )
        weights = encode_weights(sample_weight, data.n_rows)
        drop_weightless(classes, codes, weights)
        solutions = self._train(data, classes, codes, weights)
        self._keep(features, classes, codes, solutions)
        self._report(solutions)
        return self

    def _train(self, data: Data, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> list[Solution]:
        """Train one machine for two classes, else one for each class against the rest, on ``n_jobs`` threads."""
        loss = LOSSES[self.loss](float(self.C))
        stop = Stop(float(self.tol), self.gap_tol, self.max_iter, self.max_time)
        per_class = class_weights(self.class_weight, classes, codes, weights)
        positives = [1] if classes.size == 2 else list(range(classes.size))
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(positives))
        starts = self._starts(data, classes)
        interrupted = Event()

        def one(k: int) -> Solution:
            positive = codes == positives[k]
            y = np.where(positive, np.float32(1.0), np.float32(-1.0))
            problem = make_problem(data, y, row_weights(weights, per_class, positive, positives[k]), loss)
            alpha0 = None if starts is None else starts(problem, k)
            seed = int(seeds[k])
            return train(
                problem,
                self.solver,
                stop,
                seed=seed,
                alpha0=alpha0,
                cancelled=interrupted.is_set,
                n_threads=max(1, n_jobs // len(positives)),
            )

        n_jobs = effective_n_jobs(self.n_jobs)
        if data.blocks is not None:  # each class would read the files and take the memory that is left
            n_jobs = 1
        if min(n_jobs, len(positives)) == 1:
            return [one(k) for k in range(len(positives))]
        with ThreadPoolExecutor(min(n_jobs, len(positives))) as pool:
            try:
                return list(pool.map(one, range(len(positives))))
            except BaseException:
                interrupted.set()  # threads do not see Ctrl-C: tell them, then leave
                pool.shutdown(cancel_futures=True)
                raise

    def _starts(self, data: Data, classes: np.ndarray) -> Callable[[Problem, int], np.ndarray] | None:
        """Return what gives the start for class k, where ``warm_start`` has something to start from."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        coef = dense_coef(self.coef_)
        if not np.array_equal(self.classes_, classes) or coef.shape[1] != data.n_features:
            return None
        alpha = np.abs(np.atleast_2d(self.dual_coef_))
        if alpha.shape[1] == data.n_rows:
            return lambda problem, k: alpha[k]
        bias = data.rows.bias
        constant = self.intercept_ / bias if bias else np.zeros(coef.shape[0])
        return lambda problem, k: from_weights(problem, np.append(coef[k], constant[k]))

    def _keep(
        self, features: dict[str, Any], classes: np.ndarray, codes: np.ndarray, solutions: list[Solution]
    ) -> None:
        """Set every attribute of a trained estimator; nothing before this changes one."""
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(features)
        self.classes_ = classes
        binary = len(solutions) == 1
        self.coef_ = solutions[0].w[np.newaxis] if binary else np.array([s.w for s in solutions])
        self.intercept_ = np.array([s.intercept for s in solutions])
        signed = [
            np.negative(s.alpha, out=s.alpha, where=(codes != (1 if binary else k)) & (s.alpha > 0.0))
            for k, s in enumerate(solutions)
        ]
        self.dual_coef_ = signed[0] if binary else np.array(signed)
        self.support_ = np.flatnonzero(self.dual_coef_ if binary else self.dual_coef_.any(axis=0))
        for name, field in PER_SOLUTION.items():
            values = [getattr(s, field) for s in solutions]
            setattr(self, name, values[0] if binary else np.array(values))
        for name, field in CERTIFIED.items():
            values = [getattr(s.certificate, field) for s in solutions]
            setattr(self, name, values[0] if binary else np.array(values))
        self.history_ = solutions[0].history if binary else [s.history for s in solutions]

    def _report(self, solutions: list[Solution]) -> None:
        """Print where asked to, and warn where a cap ended training."""
        if self.verbose:
            for s in solutions:
                print(
                    f"[LinearSVC] {s.solver}: {s.n_iter} sweeps, {s.n_steps} steps, {s.seconds:.3g} s, "
                    f"violation {s.certificate.violation:.2e}, gap {s.certificate.gap:.2e} ({s.stop_reason})"
                )
        capped = [s for s in solutions if not s.converged]
        if capped:
            worst = max(capped, key=lambda s: s.certificate.gap)
            remedy = "Scale the data, or choose a smaller C."
            if worst.stop_reason != "rounding":
                remedy = f"Raise {worst.stop_reason} (None: no cap), loosen tol or gap_tol, or scale the data."
            warnings.warn(
                f"{worst.stop_reason} ended training before it converged ({len(capped)} of {len(solutions)} binary "
                f"problems): relative duality gap {worst.certificate.gap:.2e}, violation "
                f"{worst.certificate.violation:.2e}. The model is usable, its objective is within that gap of the "
                f"optimum. {remedy}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the signed scores, (n_samples,) for two classes, else (n_samples, n_classes)."""
        check_is_fitted(self)
        matrix = read_to_predict(self, X)
        values = decision_values(matrix, dense_coef(self.coef_), self.intercept_)
        return values.ravel() if values.shape[1] == 1 else values

    def to_sklearn(self) -> SklearnLinearSVC:
        """Return a fitted ``sklearn.svm.LinearSVC`` with this model, for every export that understands it."""
        check_is_fitted(self)
        model = SklearnLinearSVC(
            penalty=self.penalty,
            loss=self.loss,
            dual=True,
            tol=self.tol,
            C=self.C,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            class_weight=self.class_weight,
            random_state=self.random_state,
        )
        for name in ("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, copy(getattr(self, name)))
        model.n_iter_ = int(np.max(self.n_iter_))
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
