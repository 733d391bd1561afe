"""What every estimator trained row by row shares: runs, certificates as attributes, the warning at a cap."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.problem import Data, Problem
from ..solution import Snapshot, Solution
from ..solvers.engines import SOLVERS
from ..solvers.free_intercept import train_free
from ..solvers.one_versus_rest import train_each
from ..solvers.start import from_weights
from ..solvers.stop import Stop
from ..solvers.train import train
from .base import dense_coef
from .callbacks import CallbackSupport
from .html_repr import CertificateRepr
from .watch import Watch

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
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}

Start = Callable[[Problem, int], "np.ndarray | None"]


class CertifiedEstimator(CertificateRepr, CallbackSupport, BaseEstimator):
    """Trains one problem, or one a class, by ``solver`` with the stop rules and caps of the parameters."""

    def _bias(self) -> float:
        """Return the value of the constant feature whose weight is the intercept."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _solve(
        self,
        data: Data,
        problem_of: Callable[[int], Problem],
        n: int,
        start: Start,
        trainer: Callable[..., Solution] | None = None,
        *,
        watch: Watch | None = None,
        names: Sequence[Any] = (),
    ) -> list[Solution]:
        """Solve the problems 0 to n - 1 over ``data`` by ``trainer`` (None: over rows), on ``n_jobs`` threads."""
        watch = watch or Watch()
        run = trainer or (train_free if self.fit_intercept == "free" else train)
        stop = Stop(float(self.tol), self.gap_tol, self.max_iter, self.max_time)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=n)

        def one(k: int, **how: Any) -> Solution:
            problem = problem_of(k)
            alpha0 = start(problem, k)
            with watch.problem(k) as callback:
                return run(
                    problem,
                    self.solver,
                    stop,
                    seed=int(seeds[k]),
                    alpha0=alpha0,
                    callback=callback,
                    **how,
                )

        n_jobs = effective_n_jobs(self.n_jobs)
        if data.blocks is not None:  # each problem would read the files and take the memory that is left
            n_jobs = 1
        watch.begin(n, names, parallel=min(n_jobs, n) > 1)
        return train_each(one, n, n_jobs)

    def _previous(self, data: Data, comparable: bool) -> Start:
        """Return what gives the start of problem k: where ``warm_start`` has something, dual variables or weights."""
        if not (self.warm_start and comparable):
            return lambda problem, k: None
        coef = np.atleast_2d(dense_coef(self.coef_))
        if coef.shape[1] != data.n_features:
            return lambda problem, k: None
        signed = np.atleast_2d(self.dual_coef_)
        if signed.shape[1] == data.n_rows:
            return lambda problem, k: signed[k] * problem.signs
        bias = data.rows.bias
        constant = np.atleast_1d(self.intercept_) / bias if bias else np.zeros(coef.shape[0])
        return lambda problem, k: from_weights(problem, np.append(coef[k], constant[k]))

    def _model_of(self, reached: Sequence[Snapshot | None]) -> dict[str, Any]:
        """Return the attributes that predictions need, from what each problem has reached; None: has not begun."""
        if len(reached) == 1 and reached[0] is not None:
            return {"coef_": np.atleast_2d(reached[0].w), "intercept_": np.atleast_1d(reached[0].intercept)}
        zero = np.zeros_like(next(at.w for at in reached if at is not None))
        coef = np.array([zero if at is None else at.w for at in reached])
        return {"coef_": coef, "intercept_": np.array([0.0 if at is None else at.intercept for at in reached])}

    def _keep_runs(self, features: dict[str, Any], solutions: list[Solution]) -> None:
        """Set what a run leaves, and what is known of the features."""
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(features)
        single = len(solutions) == 1
        for name, field in PER_SOLUTION.items():
            values = [getattr(s, field) for s in solutions]
            setattr(self, name, values[0] if single else np.array(values))
        for name, field in CERTIFIED.items():
            values = [getattr(s.certificate, field) for s in solutions]
            setattr(self, name, values[0] if single else np.array(values))
        self.history_ = solutions[0].history if single else [s.history for s in solutions]

    def _report(self, solutions: list[Solution]) -> None:
        """Print where asked to, and warn where a cap ended training."""
        if self.verbose:
            for s in solutions:
                print(
                    f"[{type(self).__name__}] {s.solver}: {s.n_iter} sweeps, {s.n_steps} steps, {s.seconds:.3g} s, "
                    f"violation {s.certificate.violation:.2e}, gap {s.certificate.gap:.2e} ({s.stop_reason})"
                )
        capped = [s for s in solutions if not (s.converged or s.stop_reason == "callback")]  # who asks knows
        if capped:
            worst = max(capped, key=lambda s: s.certificate.gap)
            remedy = "Scale the data, or choose a smaller C."
            if worst.stop_reason != "rounding":
                remedy = f"Raise {worst.stop_reason} (None: no cap), loosen tol or gap_tol, or scale the data."
            warnings.warn(
                f"{worst.stop_reason} ended training before it converged ({len(capped)} of {len(solutions)} "
                f"problems): relative duality gap {worst.certificate.gap:.2e}, violation "
                f"{worst.certificate.violation:.2e}. The model is usable, its objective is within that gap of the "
                f"optimum. {remedy}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
