"""``LinearSVC``: the scikit-learn face of the engines. No mathematics here."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC as SklearnLinearSVC
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..kernels.losses import Hinge, Loss, SquaredHinge
from .classifier import CLASSIFIER_CONSTRAINTS, CertifiedClassifier

LOSSES: dict[str, Callable[[float], Loss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge}


class LinearSVC(CertifiedClassifier):
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
    fit_intercept : bool or "free"
        True: the intercept is the weight of a constant feature of value ``intercept_scaling``, and regularised like any
        other (X is not copied for it). "free": it is not regularised, as in ``sklearn.svm.SVC``.
    intercept_scaling : float
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
        **CLASSIFIER_CONSTRAINTS,
        "penalty": [StrOptions({"l2"})],
        "loss": [StrOptions(set(LOSSES))],
        "multi_class": [StrOptions({"ovr"})],
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
        fit_intercept: bool | str = True,
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

    def _loss(self) -> Loss:
        return LOSSES[self.loss](float(self.C))

    def to_sklearn(self) -> SklearnLinearSVC:
        """Return a fitted ``sklearn.svm.LinearSVC`` with this model, for every export that understands it."""
        check_is_fitted(self)
        model = SklearnLinearSVC(
            penalty=self.penalty,
            loss=self.loss,
            dual=True,
            tol=self.tol,
            C=self.C,
            fit_intercept=bool(self.fit_intercept),
            intercept_scaling=self.intercept_scaling,
            class_weight=self.class_weight,
            random_state=self.random_state,
        )
        for name in ("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, copy(getattr(self, name)))
        model.n_iter_ = int(np.max(self.n_iter_))
        return model
