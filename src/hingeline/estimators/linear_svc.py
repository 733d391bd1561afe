"""``LinearSVC``: support vector classification with scikit-learn's interface. No mathematics here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC as SklearnLinearSVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from ..kernels.losses import Hinge, Loss, SquaredHinge
from ..solution import Solution
from ..solvers.multiclass.crammer_singer import train_crammer_singer
from .base import support_of
from .certified import from_zero
from .checkpoint import Start
from .classifier import CLASSIFIER_CONSTRAINTS
from .sparse_penalty import SparsePenaltyClassifier
from .training_set import ClassificationSet, TrainingSet
from .watch import Watch

LOSSES: dict[str, Callable[[float], Loss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge}


class LinearSVC(SparsePenaltyClassifier):
    """Linear support vector classifier with a certificate of optimality.

    Minimises |w|^2/2 + C sum_i loss(1 - y_i f(x_i)). Parameters with scikit-learn's names have the same meaning as in
    ``sklearn.svm.LinearSVC``. The paper's model is ``loss="hinge", fit_intercept=False``.

    Parameters
    ----------
    penalty : {"l2", "l1"}
        "l1" replaces |w|^2/2 by |w|_1, so that many weights are zero. It needs the squared hinge; ``max_iter`` then
        counts Newton iterations, and ``n_steps_`` visits of columns.
    loss : {"squared_hinge", "hinge"}
        Not used with ``multi_class="crammer_singer"``, which has its own hinge loss, as in scikit-learn.
    dual : {"auto"} or bool
        Has no effect: every engine returns the primal and the dual solution. Accepted because scikit-learn has it.
    solver : {"auto", "baseline", "avsf", "hybrid", "newton", "newton_cg"}
        The engine. "auto" chooses one by the shape of the data and by C. It solves tiny problems (rows x columns up to
        1e4) as accurately as rounding allows, unless ``gap_tol`` is given.
    tol : float
        Training ends when the largest violation of the optimality conditions is below ``tol`` (the paper's eps). With
        ``solver="auto"`` it also ends at a certified relative duality gap of ``tol``/1000 (except with a free
        intercept, ``penalty="l1"`` or ``multi_class="crammer_singer"``).
    gap_tol : float, optional
        Relative duality gap at which training ends. If it is given, ``tol`` is not used.
    C : float
        Weight of the loss.
    multi_class : {"ovr", "crammer_singer"}
        How more than two classes are trained: each against the rest, or all in one problem, Crammer and Singer's
        (which has no free intercepts).
    fit_intercept : bool or "free"
        True: the intercept is the weight of a constant feature of value ``intercept_scaling``, and regularised like any
        other weight (X is not copied for it). "free": it is not regularised, as in ``sklearn.svm.SVC``.
    intercept_scaling : float
        Value of the constant feature.
    class_weight : dict or "balanced", optional
        Multiplies C for the rows of a class. With three or more classes one against the rest, it counts only in the
        problem of that class, as in LIBLINEAR; ``sample_weight`` counts in all of them.
    max_iter, max_time : optional
        Limits on the sweeps (Newton: iterations) of each class and on the seconds of the whole fit; None: no limit. If
        a limit ends training, ``fit`` warns, and the model is usable.
    warm_start : bool
        Start from the previous solution: from its dual variables if the number of rows is the same, else from its
        weights, scaled so that this start is never worse than zero.
    keep_dual : bool
        False: drop ``dual_coef_`` and ``support_`` after training, so that neither the model nor its pickle grows with
        the number of rows. A warm start then begins at the weights.
    n_jobs : int, optional
        Number of threads. They share the problems of several classes, and the rows of a large problem.
    random_state : int, RandomState or None
        Seeds the order in which rows are visited.
    verbose : int
        Above zero, progress is shown in terminals and notebooks, and a line per problem is printed at the end.
    device : str, optional
        "cuda" moves a NumPy or SciPy X to the GPU once and trains there; results are NumPy arrays. PyTorch and CuPy
        arrays are used where they are, with scikit-learn's ``array_api_dispatch``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_coef_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        alpha_i y_i. With ``multi_class="crammer_singer"`` alpha_ic of row i and class c (of two classes, the second),
        with w_c = sum_i alpha_ic x_i.
    support_ : ndarray
        Rows with a non-zero dual variable in any problem.
    n_iter_, n_steps_, fit_time_, solver_, converged_, stop_reason_
        Sweeps (Newton: iterations), visits of rows, seconds of training, engine, whether training converged, and what
        ended it. With several classes, ``n_iter_`` is the largest, ``n_steps_`` the sum, ``converged_`` tells whether
        all have converged, and ``solver_`` and ``stop_reason_`` are those of the class that did worst.
    kkt_violation_, duality_gap_, objective_, dual_objective_
        The certificate, computed for the returned weights: the optimum lies between ``dual_objective_`` and
        ``objective_``. With several classes, the largest violation and gap, and the sums of the objectives.
    per_class_ : table
        The same for each class: ``per_class_["duality_gap"]`` is an array in the order of ``per_class_["label"]``. If a
        single problem was trained, it has a single row, labelled "all".
    history_ : structured ndarray
        One record per sweep: seconds, steps, violation and gap (NaN if not computed) after it, the smallest objective
        and the largest lower bound so far, which of the engines in ``solver_`` was running (``phase``), and
        ``problem``, the number of its class.
    """

    _trains_on_devices = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 (scikit-learn's convention)
        **CLASSIFIER_CONSTRAINTS,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions(set(LOSSES))],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
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
        keep_dual: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        device: str | None = None,
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
        self.keep_dual = keep_dual
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    def _loss(self) -> Loss:
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError('penalty="l1" needs a smooth loss: choose loss="squared_hinge", or penalty="l2".')
        return LOSSES[self.loss](float(self.C))

    def _l1_share(self) -> float:
        return 1.0 if self.penalty == "l1" else 0.0

    def _train(self, rows: TrainingSet, start: Start, watch: Watch) -> list[Solution]:
        if self.multi_class == "ovr":
            return super()._train(rows, start, watch)
        if self.penalty != "l2":
            raise ValueError(
                'multi_class="crammer_singer" supports only penalty="l2": choose it, or multi_class="ovr".'
            )
        if self.fit_intercept == "free":
            raise ValueError('multi_class="crammer_singer" has no free intercept: choose fit_intercept=True or False.')
        assert isinstance(rows, ClassificationSet)
        watch.begin(1)
        with watch.problem(0) as callback:
            solution = train_crammer_singer(
                rows.data,
                rows.codes,
                rows.classes.size,
                rows.row_weights(),
                float(self.C),
                self.solver,
                self._stop(),
                seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
                callback=callback,
                **start(None, 0),
            )
            return [watch.solved(0, solution)]

    def _shape_of_variables(self, rows: TrainingSet) -> tuple[int, ...]:
        if self.multi_class == "ovr":
            return super()._shape_of_variables(rows)
        assert isinstance(rows, ClassificationSet)
        return (rows.data.n_rows, rows.classes.size)

    def _previous(self, rows: TrainingSet) -> Start:
        if self.multi_class == "ovr":
            return super()._previous(rows)
        if not (self.warm_start and self._has_model_of(rows)):
            return from_zero
        alpha = np.atleast_2d(getattr(self, "dual_coef_", ()))
        if alpha.shape[1] != rows.data.n_rows:
            return from_zero
        of_all = np.vstack([-alpha, alpha]).T if len(alpha) == 1 else alpha.T
        return lambda problem, k: {"alpha0": of_all}

    def _keep(self, rows: TrainingSet, solutions: list[Solution]) -> None:
        if self.multi_class == "ovr":
            super()._keep(rows, solutions)
            return
        self._keep_runs(rows.known, solutions)
        (s,) = solutions
        binary = self.classes_.size == 2
        self.coef_ = s.w[1:] - s.w[:1] if binary else s.w
        self.intercept_ = s.intercept[1:] - s.intercept[:1] if binary else s.intercept
        self.dual_coef_ = np.ascontiguousarray(s.alpha[:, 1] if binary else s.alpha.T)
        self.support_ = support_of(self.dual_coef_)

    def to_sklearn(self) -> Any:
        """Return this model as a fitted ``sklearn.svm.LinearSVC``, for exports that understand it.

        A free intercept becomes ``fit_intercept=True``: the model is the same, but training it again would regularise
        the intercept.
        """
        return self._counterpart(SklearnLinearSVC, dual=self.penalty == "l2")
