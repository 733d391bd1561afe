"""What the estimators that choose C by cross-validation share. No mathematics here."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, _fit_context, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..estimators.certified import from_zero
from ..estimators.checkpoint import Start
from ..estimators.device import is_for_device
from ..estimators.training_set import TrainingSet
from ..solvers.engines import AUTO
from .choice import choose
from .early import EarlyEnd
from .fold_problems import FoldProblems
from .folds import read_folds
from .grid import Grid
from .multinomial_walk import Joint
from .path import checked_grid
from .refit import from_folds
from .scoring import DEFAULT, HeldOutScore, scorer_of
from .start import Reached, start_from
from .study import Study
from .table import Table
from .watch import SearchWatch

SMALLEST_EXPONENT, LARGEST_EXPONENT = -4.0, 4.0  # of the grid if Cs is a number, as in scikit-learn
SELECTION_CONSTRAINTS: dict[str, list[Any]] = {
    "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "cv": ["cv_object"],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "refit": ["boolean"],
    "early_stopping": ["boolean"],
}
SEARCH_ATTRIBUTES = (
    "Cs_",
    "scores_",
    "mean_scores_",
    "std_errors_",
    "fit_times_",
    "fit_gaps_",
    "C_",
    "C_1se_",
    "best_score_",
)
SET_BY_SEARCH = ("C", "warm_start")  # parameters of the model that a search sets itself


def selection_constraints(of_model: dict[str, list[Any]], *without: str) -> dict[str, list[Any]]:
    """Return the constraints on the parameters of an estimator that chooses C, from those of its model."""
    kept = {name: rule for name, rule in of_model.items() if name not in (*SET_BY_SEARCH, *without)}
    return {**kept, **SELECTION_CONSTRAINTS}


class ChoosesC(BaseEstimator):
    """Cross-validates a grid of C, and trains a model with the best C on all rows.

    Among the bases of an estimator it comes before the class of the model, which makes the predictions.
    """

    _model_class: Any
    _balances_each_fold = True  # class_weight="balanced" counts the rows that a fold trains with

    def _model(self, C: float) -> Any:
        """Return an untrained model with this estimator's parameters."""
        mine = self.get_params(deep=False)
        names = [name for name in self._model_class._get_param_names() if name in mine]
        return self._model_class(**{name: mine[name] for name in names}, C=C)

    def to_model(self) -> Any:
        """Return the fitted model with the best C alone: the same predictions, without the scores of the search."""
        check_is_fitted(self)
        model = self._model(self.C_)
        _set(model, {name: value for name, value in learned_by(self).items() if name not in SEARCH_ATTRIBUTES})
        return model

    def to_sklearn(self) -> Any:
        """Return scikit-learn's fitted counterpart of the model with the best C, for exports."""
        return self.to_model().to_sklearn()

    def grid(self) -> np.ndarray:
        """Return the values of C that ``Cs`` stands for, in ascending order."""
        if isinstance(self.Cs, Integral):
            return np.logspace(SMALLEST_EXPONENT, LARGEST_EXPONENT, int(self.Cs))
        return checked_grid(self.Cs)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose C, and train with it.

        Parameters
        ----------
        X : {array, data frame, sparse matrix} of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row, also in the folds, and weighs the scores.
        **params
            Metadata for the splitter (such as ``groups``) and the scorer, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
        """
        _raise_for_params(params, self, "fit")
        if is_for_device(X, self.device):
            from .on_device import search_on_device

            return search_on_device(self, X, y, sample_weight, params)
        Cs, rows = self.grid(), self._read(X, y, sample_weight)
        study = self._study(rows, params)
        with SearchWatch(self, X, y, sample_weight, Cs, len(study.folds)) as watch:
            grid = Grid(
                study,
                Cs,
                early=EarlyEnd() if self.early_stopping else None,
                n_threads=effective_n_jobs(self.n_jobs),
                on_cell=watch.cell,
                on_row=lambda k, table: watch.row(k, self._row_text(k, table) if self.verbose else None),
                callback=watch.callback,
                elapsed=watch.used,
                keeps_best=self.refit,
            )
            table, model = grid.run(), None
            if self.refit:
                with watch.refit(self._model(self._chosen(table))) as model:
                    model._fit_from(rows, self._start_of_refit(study, grid.best))
            self._learn(table, rows.features, model)
        self._warn_of(table, watch.late)
        return self

    def _chosen(self, table: Table) -> float:
        """Return the best C."""
        return float(table.Cs[choose(table.of("score")).best])

    def _learn(self, table: Table, features: dict[str, Any], model: Any) -> None:
        """Set every attribute of a fitted search; ``model`` is that of the best C, or None."""
        learned = {**learned_from(table), **features, **({} if model is None else learned_by(model))}
        for name in learned_by(self):
            delattr(self, name)
        _set(self, learned)

    def study(self, X: Any, y: Any, sample_weight: Any = None) -> Study:
        """Return what ``fit`` would cross-validate, as input to a ``Grid``."""
        return self._study(self._read(X, y, sample_weight), {})

    def _check_parameters(self) -> None:
        """Raise if a parameter asks for something that is not available."""

    def _study(self, rows: TrainingSet, params: dict[str, Any]) -> Study:
        self._check_parameters()
        model, stratify = self._model(1.0), is_classifier(self)
        _set(model, rows.known)
        to_split, to_score = self._route(rows.weights, params)
        folds = read_folds(self.cv, rows.X, rows.truth, rows.data.n_rows, stratify=stratify, **to_split)
        loss, solver, stop = model._loss(), self._engine(), self._stop()
        problems = FoldProblems(rows, folds, loss)
        score = HeldOutScore(model, self.scoring, rows.X, rows.truth, folds, to_score)
        joint = self._joint(rows)
        return Study(
            rows.data,
            folds,
            rows.n_problems if joint is None else 1,
            problems.problem_at,
            problems.is_trainable,
            partial(score, bias=rows.data.rows.bias),
            solver,
            stop.for_scores(loss) if solver == AUTO and joint is None and not self._intercept_is_free() else stop,
            int(check_random_state(self.random_state).randint(2**31 - 1)),
            self._intercept_is_free(),
            joint,
        )

    def _joint(self, rows: TrainingSet) -> Joint | None:
        """Return the problem of all classes at once, if the model has one."""
        return None

    def _start_of_refit(self, study: Study, best: list[list[Reached | None]] | None) -> Start:
        """Return where the fit to all rows starts from: the folds' solutions at the best C."""
        if best is None:
            return from_zero
        if study.joint is not None:
            weights = np.mean([at.w for (at,) in best if at is not None], axis=0)
            return lambda problem, k: {"alpha0": weights}

        def start(problem: Problem, k: int) -> dict[str, Any]:
            reached = {number: at for number, of_fold in enumerate(best) if (at := of_fold[k]) is not None}
            if not reached:  # a class that no fold has trained with
                return {}
            mean = from_folds(problem, list(reached.values()), [study.folds[number] for number in reached])
            return start_from(mean, problem, study.solver, self._stop(), free_intercept=study.free_intercept)

        return start

    def _route(self, weights: np.ndarray | None, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments of the splitter and of the scorer besides rows and labels."""
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=weights, **params)
            return routed.splitter.split, routed.scorer.score
        return {}, {} if weights is None else {"sample_weight": weights}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed: sample weights to training and the scorer, groups to the splitter."""
        to_scorer = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=scorer_of(self, self.scoring), method_mapping=to_scorer)
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return the score by ``scoring``: by default accuracy, or R^2 in a regression."""
        _raise_for_params(params, self, "score")
        if sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        if _routing_enabled():
            params = process_routing(self, "score", **params).scorer.score
        return float(scorer_of(self, self.scoring)(self, X, y, **params))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.regressor_tags is not None and self.scoring not in (None, DEFAULT["regressor"]):
            tags.regressor_tags.poor_score = True  # ``score`` is not R^2, of which more than 0.5 would be expected
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model; without ``refit`` there are only scores."""
        return hasattr(self, "coef_")

    def _row_text(self, k: int, table: Table) -> str:
        cells = [table.cells[k, fold] for fold in range(table.n_folds)]
        scores = [cell.score for cell in cells]
        return (
            f"[{type(self).__name__}] C = {table.Cs[k]:g}: score {np.mean(scores):.4g} (from {min(scores):.4g} to "
            f"{max(scores):.4g}), {sum(cell.seconds for cell in cells):.3g} s, gap {max(c.gap for c in cells):.1e}"
        )

    def _warn_of(self, table: Table, late: bool = False) -> None:
        """Warn if limits ended fits of folds, or the search was ``late``; the fit to all rows warns by itself."""
        n_done = len({k for k, _ in table.cells})
        if late and n_done < table.Cs.size:
            warnings.warn(
                f"max_time ended the search after {n_done} of {table.Cs.size} values of C: larger ones were not tried. "
                "Raise max_time (None: no limit), or use a shorter grid.",
                ConvergenceWarning,
                stacklevel=3,
            )
        capped = [cell for cell in table.cells.values() if not cell.converged]
        if capped:
            reasons = ", ".join(sorted({cell.stop_reason for cell in capped}))
            warnings.warn(
                f"{len(capped)} of {len(table.cells)} fits of folds ended before they converged ({reasons}; largest "
                f"relative gap {max(cell.gap for cell in capped):.2e}): their scores are those of unfinished models. "
                "Raise the limit that ended them, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )


def learned_from(table: Table) -> dict[str, Any]:
    """Return the attributes that describe a search: its table, and the values of C chosen from it."""
    choice = choose(table.of("score"))
    return {
        "Cs_": table.Cs,
        "scores_": table.of("score"),
        "mean_scores_": choice.means,
        "std_errors_": choice.std_errors,
        "fit_times_": table.of("seconds"),
        "fit_gaps_": table.of("gap"),
        "C_": float(table.Cs[choice.best]),
        "C_1se_": float(table.Cs[choice.one_se]),
        "best_score_": float(choice.means[choice.best]),
    }


def learned_by(estimator: Any) -> dict[str, Any]:
    """Return the attributes that ``fit`` has set, by scikit-learn's convention."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("_")}


def _set(estimator: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(estimator, name, value)
