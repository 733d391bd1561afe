"""``LinearSVCCV`` on a Dask cluster: folds are weights of resident rows, and each C starts from the last one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from ..selection import LinearSVCCV as LocalLinearSVCCV
from ..selection.cross_validated import learned_by, learned_from
from ..selection.early import EarlyEnd
from ..selection.table import Cell, Table
from ..selection.watch import SearchWatch
from .estimators import LinearSVC
from .folds import Fold
from .lazy import Tally, add_tallies, score_of, tally
from .on_dask import ClassifierOnDask
from .partitions import Block, Partitions
from .train import Trained, train
from .training_set import ClassifiedCluster, classified

N_FOLDS = 5


class LinearSVCCV(ClassifierOnDask, LocalLinearSVCCV):  # type: ignore[misc]  # score: no metadata for scorers here
    """Linear support vector classifier on a Dask cluster, with C chosen by cross-validation.

    The rows stay on their workers: a fold is a weight of 0 or 1 for each row. Every fold starts each C from its weights
    for the previous one, and the fit to all rows starts from the mean of the folds' weights.

    Parameters
    ----------
    Cs, refit, early_stopping
        As in ``hingeline.LinearSVCCV``.
    cv : int, optional
        Number of folds, stratified within each partition; None: five.
    scoring : None
        Accuracy, weighted by ``sample_weight``.
    solver, client
        As in ``hingeline.dask.LinearSVC``.
    loss, dual, tol, gap_tol, fit_intercept, intercept_scaling, class_weight, max_iter, max_time, keep_dual, n_jobs,
    random_state, verbose
        As in ``hingeline.dask.LinearSVC``; ``random_state`` also draws the folds, and ``max_time`` is for the whole
        search.

    Attributes
    ----------
    C_, C_1se_, Cs_, scores_, fit_times_, fit_gaps_, mean_scores_, std_errors_, best_score_
        As in ``hingeline.LinearSVCCV``.
    coef_, intercept_, ...
        With ``refit``, everything that a fitted ``hingeline.dask.LinearSVC`` has.
    """

    _local = LocalLinearSVCCV
    _model_class = LinearSVC
    _limits: ClassVar[dict[str, list[Any]]] = {
        "cv": [Interval(Integral, 2, None, closed="left"), None],
        "scoring": [None],
    }

    def _fit_partitions(self, partitions: Partitions) -> None:
        n_folds, seed = self.cv or N_FOLDS, int(check_random_state(self.random_state).randint(2**31 - 1))
        search = _Search(self, partitions, [Fold(k, n_folds, seed) for k in range(n_folds)])
        Cs, early = self.grid(), EarlyEnd() if self.early_stopping else None
        with SearchWatch(self, None, None, None, Cs, n_folds) as watch:
            search.run(Cs, early, watch)
            learned = {**learned_from(search.table), **partitions.features}
            if self.refit:
                best = int(np.flatnonzero(Cs == learned["C_"])[0])
                start = search.mean_weights(best)
                with watch.refit(self._model(learned["C_"])) as model:
                    model._fit_from(search.rows, lambda problem, k: {"w0": start[k]})
                learned |= learned_by(model)
            for name in learned_by(self):
                delattr(self, name)
            for name, value in learned.items():
                setattr(self, name, value)
        self._warn_of(search.table, watch.late)


class _Search:
    """Fills the table of a search, C by C and fold by fold: each fit has the whole cluster."""

    def __init__(self, estimator: Any, partitions: Partitions, folds: list[Fold]) -> None:
        self._estimator, self._folds = estimator, folds
        weight = estimator.class_weight
        self.rows = classified(partitions, weight)
        self._of_folds = [classified(partitions, weight, fold) for fold in folds]
        self.table = Table(np.empty(0), {}, len(folds))
        self._weights: dict[tuple[int, int], np.ndarray] = {}  # (k, fold) -> weights of each problem

    def run(self, Cs: np.ndarray, early: EarlyEnd | None, watch: SearchWatch) -> None:
        """Fill the table as far as the rule goes."""
        self.table = Table(Cs, {}, len(self._folds))
        for k in range(Cs.size):
            for number in range(len(self._folds)):
                self.table.cells[k, number] = self._cell(k, number, watch)
                watch.cell()
            ended = watch.row(k, self._estimator._row_text(k, self.table) if self._estimator.verbose else None)
            if ended or (early is not None and self._ends(early, k + 1)):
                return

    def _ends(self, early: EarlyEnd, n_done: int) -> bool:
        scores, work = (self.table.of(field)[:n_done] for field in ("score", "work"))
        return early.ends(scores, work.sum(axis=1), 1.0 / (len(self._folds) - 1))

    def _cell(self, k: int, number: int, watch: SearchWatch) -> Cell:
        """Train the problems of a fold for C number ``k``, and score the rows that it holds out."""
        rows, fold, model = self._of_folds[number], self._folds[number], self._estimator._model(float(self.table.Cs[k]))
        found = [self._train(model, rows, problem, k, number, watch) for problem in range(rows.n_problems)]
        trained = [one for one in found if one is not None]
        if not trained:
            raise ValueError(
                f"The training rows of fold {number} are all of one class: use fewer folds, or larger partitions, each "
                "of which is cut into folds on its own."
            )
        bias = model._bias()
        some = next(iter(trained)).w
        # A class without training rows is never predicted.
        coef = np.array([np.zeros_like(some) if one is None else one.w for one in found])
        intercept = np.array([-np.inf if one is None else one.intercept for one in found])
        constant = np.where(np.isfinite(intercept), intercept, 0.0) / bias if bias else np.zeros(len(found))
        self._weights[k, number] = np.column_stack([coef, constant])
        local = model._local()
        vars(local).update({**rows.known, "coef_": coef, "intercept_": intercept})
        vars(local).pop("feature_names_in_", None)
        total: Tally = rows.data.reduce(tally_held_out, add_tallies, local, fold)
        worst = max(trained, key=lambda one: (not one.converged, one.certificate.gap))
        return Cell(
            score_of(total, True),
            sum(one.seconds for one in trained),
            max(one.certificate.gap for one in trained),
            sum(one.n_iter for one in trained),
            worst.converged,
            worst.stop_reason,
        )

    def _train(
        self, model: Any, rows: ClassifiedCluster, problem: int, k: int, number: int, watch: SearchWatch
    ) -> Trained | None:
        if not rows.is_present[problem if rows.n_problems > 1 else 1]:
            return None
        last, callback, chain = self._weights.get((k - 1, number)), watch.callback, number * rows.n_problems + problem
        return train(
            rows.data,
            rows.target(problem),
            model._loss(),
            class_weight=rows.class_weight(problem),
            fold=self._folds[number],
            w0=None if last is None else last[problem],
            callback=None if callback is None else lambda progress: callback(chain, progress),
            **{**model._how(), "max_time": model._stop().after(watch.used()).max_time},  # it is for the whole search
        )

    def mean_weights(self, k: int) -> np.ndarray:
        """Return the means over the folds of each problem's weights at C number ``k``."""
        return np.asarray(np.mean([self._weights[k, number] for number in range(len(self._folds))], axis=0))


def tally_held_out(k: int, block: Block, model: Any, fold: Fold) -> Tally:
    """Return the sums over the rows of partition ``k`` that a fold holds out."""
    rows = np.flatnonzero(fold.holds_out(k, block.y))
    weights = None if block.sample_weight is None else block.sample_weight[rows]
    return tally(model, True, block.X[rows], block.y[rows], weights)
