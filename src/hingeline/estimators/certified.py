"""What the estimators share: training, the certificate as attributes, the warning if a limit ended training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.matrix import Data
from ..kernels.losses import Loss
from ..runtime.training_clock import compile_seconds, now
from ..solution import Snapshot, Solution
from ..solvers.engines import AUTO, SOLVERS
from ..solvers.free_intercept import train_free
from ..solvers.one_versus_rest import train_each
from ..solvers.start import from_weights
from ..solvers.stop import Stop
from ..solvers.train import train
from .base import dense_coef
from .callbacks import CallbackSupport
from .checkpoint import Start
from .device import is_for_device
from .html_repr import CertificateRepr
from .per_class import PerClass, joined, overall
from .scaling import advice_on_scale
from .training_set import TrainingSet
from .watch import Watch

TRAINING_CONSTRAINTS: dict[str, list[Any]] = {
    "dual": ["boolean", StrOptions({"auto"})],
    "solver": [StrOptions(set(SOLVERS))],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "gap_tol": [Interval(Real, 0.0, None, closed="neither"), None],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "fit_intercept": ["boolean", StrOptions({"free"})],
    "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "max_time": [Interval(Real, 0.0, None, closed="neither"), None],
    "warm_start": ["boolean"],
    "keep_dual": ["boolean"],
    "device": [str, None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
PER_ROW = ("dual_coef_", "support_")  # attributes that grow with the rows
WORTH_A_WORD = 0.1  # seconds of compiling


def from_zero(problem: Any, k: int) -> dict[str, Any]:
    """Return no arguments: training starts from zero."""
    return {}


class CertifiedEstimator(CertificateRepr, CallbackSupport, BaseEstimator):
    """Trains one problem, or one per class, by ``solver`` with the stop rules and limits of the parameters."""

    device: str | None = None  # models of earlier versions have no such parameter
    _trains_on_devices = False
    _depth_of_fit = 5  # calls from what a user calls to the warning that names it

    def _bias(self) -> float:
        """Return the value of the constant feature whose weight is the intercept."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _intercept_is_free(self) -> bool:
        """Tell whether the intercept is left out of the regulariser."""
        return getattr(self, "fit_intercept", None) == "free"

    def _engine(self) -> str:
        """Return the engine that ``solver`` asks for."""
        return str(self.solver)

    def _loss(self) -> Loss:
        """Return the loss that the parameters describe."""
        raise NotImplementedError

    def _stop(self) -> Stop:
        """Return the stop rule and the limits."""
        return Stop(float(self.tol), self.gap_tol, self.max_iter, self.max_time)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Read and check what ``fit`` is given."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : {array, data frame, sparse matrix} of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row; a row with weight zero is ignored.

        Returns
        -------
        self
        """
        if self._trains_on_devices and is_for_device(X, self.device):
            from .on_device import fit_on_device

            return fit_on_device(self, X, y, sample_weight)
        rows = self._read(X, y, sample_weight)
        return self._fit_rows(rows, self._previous(rows))

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit_from(self, rows: TrainingSet, start: Start) -> Any:
        """Train on rows that were read before, from a known start: the last fit of a search."""
        return self._fit_rows(rows, start)

    def _fit_rows(self, rows: TrainingSet, start: Start) -> Any:
        compiled = compile_seconds()
        with Watch(self, rows) as watch:
            begun = now()
            solutions = self._train(rows, watch.start_or(start), watch)
            seconds = now() - begun
            self._keep(rows, solutions)
            self.fit_time_ = seconds
            if not self.keep_dual:
                for name in PER_ROW:
                    delattr(self, name)
            watch.trained(solutions)
        self._report(rows, solutions)
        if self.verbose and compile_seconds() - compiled > WORTH_A_WORD:
            print(f"[{type(self).__name__}] compiling, once, took {compile_seconds() - compiled:.1f} s more")
        return self

    def _train(self, rows: TrainingSet, start: Start, watch: Watch) -> list[Solution]:
        """Train every problem, on ``n_jobs`` threads."""
        loss, stop, trainer, n = self._loss(), self._stop(), self._trainer(rows.data), rows.n_problems
        begun = now()
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=n)

        def train_one(k: int, **how: Any) -> Solution:
            problem = rows.problem(k, loss)
            how |= {"solver": self._engine(), **start(problem, k)}
            with watch.problem(k) as callback:
                left = stop.after(now() - begun)
                return watch.solved(k, trainer(problem, stop=left, seed=int(seeds[k]), callback=callback, **how))

        n_jobs = effective_n_jobs(self.n_jobs)
        if rows.data.blocks is not None:  # each problem would read the files and take the memory that is left
            n_jobs = 1
        watch.begin(n, rows.names, parallel=min(n_jobs, n) > 1)
        return train_each(train_one, n, n_jobs)

    def _trainer(self, data: Data) -> Callable[..., Solution]:
        """Return the function that trains one problem over ``data``."""
        return train_free if self._intercept_is_free() else train

    def _shape_of_variables(self, rows: TrainingSet) -> tuple[int, ...]:
        """Return the shape of what a problem can start from: dual variables."""
        return (rows.data.n_rows,)

    def _variables(self, at: Solution | Snapshot, bias: float) -> np.ndarray:
        """Return what a problem needs to continue from ``at``; the constant feature has the value ``bias``."""
        assert at.alpha is not None
        return at.alpha

    def _has_model_of(self, rows: TrainingSet) -> bool:
        """Tell whether there is a model of the same classes and the same number of features."""
        if not hasattr(self, "coef_") or dense_coef(self.coef_).shape[-1] != rows.data.n_features:
            return False
        classes = rows.known.get("classes_")
        return classes is None or np.array_equal(self.classes_, classes)

    def _previous(self, rows: TrainingSet) -> Start:
        """Return where problems start from: with ``warm_start``, the dual variables or weights of the last model."""
        if not (self.warm_start and self._has_model_of(rows)):
            return from_zero
        signed = np.atleast_2d(getattr(self, "dual_coef_", ()))  # not every model has them
        if signed.shape[1] == rows.data.n_rows:
            return lambda problem, k: {"alpha0": signed[k] * problem.signs}
        weights = self._weights(rows.data.rows.bias)
        return lambda problem, k: {"alpha0": from_weights(problem, weights[k])}

    def _weights(self, bias: float) -> np.ndarray:
        """Return the weights of each problem, with that of the constant feature ``bias`` at the end."""
        coef = np.atleast_2d(dense_coef(self.coef_))
        constant = np.atleast_1d(self.intercept_) / bias if bias else np.zeros(coef.shape[0])
        return np.column_stack([coef, constant])

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        """Set every attribute of a fitted estimator; nothing before this changes one."""
        raise NotImplementedError

    def _model_of(self, reached: Sequence[Snapshot | None]) -> dict[str, Any]:
        """Return the attributes that predictions need, from what each problem has reached (None: it has not begun)."""
        if len(reached) == 1 and reached[0] is not None:
            return {"coef_": np.atleast_2d(reached[0].w), "intercept_": np.atleast_1d(reached[0].intercept)}
        zero = np.zeros_like(next(at.w for at in reached if at is not None))
        coef = np.array([zero if at is None else at.w for at in reached])
        return {"coef_": coef, "intercept_": np.array([0.0 if at is None else at.intercept for at in reached])}

    def _keep_runs(self, known: dict[str, Any], solutions: list[Solution]) -> None:
        """Set the attributes that were ``known`` before training, and those that describe how it went."""
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(known)
        self.__dict__.update(overall(PerClass.of(solutions, known.get("classes_", ()))))
        self.history_ = joined([s.history for s in solutions])

    def _report(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        """Print a line per problem if ``verbose``, and warn if a limit ended training."""
        if self.verbose:
            for s in solutions:
                outcome, c = "converged" if s.converged else "NOT CONVERGED", s.certificate
                print(
                    f"[{type(self).__name__}] {outcome}, {s.solver}: {s.n_iter} iterations, {s.n_steps} steps, "
                    f"{s.seconds:.3g} s, violation {c.violation:.2e}, gap {c.gap:.2e} ({s.stop_reason})"
                )
        # A callback that ended training needs no warning.
        capped = [s for s in solutions if not (s.converged or s.stop_reason == "callback")]
        if capped:
            worst = max(capped, key=lambda s: s.certificate.gap)
            remedy = self._advice(rows)
            if not remedy and worst.stop_reason == "stalled":
                other = "" if self.solver == AUTO else ' Or let solver="auto" choose.'
                remedy = f"Scale the columns (StandardScaler, MaxAbsScaler), or choose a smaller C.{other}"
            elif not remedy:
                remedy = f"Raise {worst.stop_reason} (None: no limit), loosen tol or gap_tol, or scale the data."
            warnings.warn(
                f"{worst.stop_reason} ended training before it converged ({len(capped)} of {len(solutions)} "
                f"problems): relative duality gap {worst.certificate.gap:.2e}, violation "
                f"{worst.certificate.violation:.2e}. The model is usable: its objective is within that gap of the "
                f"optimum. {remedy}",
                ConvergenceWarning,
                stacklevel=self._depth_of_fit,
            )

    def _advice(self, rows: TrainingSet) -> str:
        """Return which columns to scale, if any stands out; rows on a device are not checked."""
        if rows.data is None:
            return ""
        return advice_on_scale(rows.data, rows.features.get("feature_names_in_"))

    def to_sklearn(self) -> Any:
        """Return this model as a fitted scikit-learn estimator, for exports that understand it."""
        raise NotImplementedError

    def _counterpart(self, kind: Any, **changed: Any) -> Any:
        """Return a fitted estimator of scikit-learn's class ``kind``: the parameters that it shares, and the model."""
        check_is_fitted(self)
        mine = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        if "fit_intercept" in mine:
            mine["fit_intercept"] = bool(mine["fit_intercept"])
        shared = {name: mine[name] for name in kind._get_param_names() if name in mine and name != "solver"}
        other = kind(**{**shared, **changed})
        if hasattr(self, "n_iter_"):
            other.n_iter_ = self.n_iter_
        return self._copy_model_to(other)

    def _copy_model_to(self, other: Any) -> Any:
        """Give scikit-learn's estimator ``other`` copies of what it predicts with; return it."""
        for name in ("coef_", "intercept_", "offset_", "classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(other, name, copy(getattr(self, name)))
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self._trains_on_devices
        return tags
