"""Cross-validation over a grid of C with rows on a device: all folds, classes and values of C are trained together.

Folds are weights of the rows: X is there once. Values of C go through the rules of the other searches in ascending
order, so that a table ends where it would end on the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _BaseScorer

from ..arrays.batch import most_together, train_one, train_together
from ..arrays.namespace import to_numpy
from ..estimators.device import is_array_elsewhere
from ..estimators.device_set import ClassifiedOnDevice, DeviceSet, read_for_device
from ..estimators.on_device import fit_rows_on_device, refuse_what_is_for_the_cpu, trains_together
from ..kernels.types import Matrix
from ..solution import Solution
from ..solvers.engines import AUTO
from .choice import choose
from .early import EarlyEnd
from .folds import read_folds
from .grid import NEWTON_WORK
from .scoring import HeldOutScore, scorer_of
from .table import Cell, Table
from .watch import SearchWatch

TABLES = ("Cs_", "scores_", "mean_scores_", "std_errors_", "fit_times_", "fit_gaps_")  # live where results live


def search_on_device(search: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Any:
    """Choose C, and train with it, on a device; returns the estimator."""
    Cs, model = search.grid(), search._model(1.0)
    rows = read_for_device(search, X, y, sample_weight)
    search._check_parameters()
    refuse_what_is_for_the_cpu(model, rows.n_problems)
    study = DeviceStudy(search, model, rows, params)
    with SearchWatch(search, X, y, sample_weight, Cs, len(study.folds)) as watch:
        table = study.table(Cs, watch)
        refitted = None
        if search.refit:
            with watch.refit(search._model(search._chosen(table))) as refitted:
                fit_rows_on_device(refitted, rows, study.best)
        search._learn(table, rows.features, refitted)
        for name in TABLES:
            setattr(search, name, rows.result(getattr(search, name)))
    search._warn_of(table, watch.late)
    return search


class DeviceStudy:
    """What a search cross-validates on a device.

    Attributes
    ----------
    folds : list of Fold
    best : matrix or None
        The mean of the folds' weights at the best C, a row per problem; after ``table``.
    """

    def __init__(self, search: Any, model: Any, rows: DeviceSet, params: dict[str, Any]) -> None:
        self._search, self._rows, self._loss = search, rows, model._loss()
        place, n = rows.rows.place, rows.rows.n_rows
        weights = None if rows.weights is None else to_numpy(rows.weights)
        to_split, to_score = search._route(weights, params)
        truth = rows.truth
        of_rows = np.empty((n, 0)) if is_array_elsewhere(rows.X) else rows.X  # splitters count them
        self.folds = read_folds(search.cv, of_rows, truth, n, stratify=is_classifier(search), **to_split)
        self._counts = place.put(np.array([fold.counts for fold in self.folds]))
        if rows.weights is not None:
            self._counts = self._counts * rows.weights
        self._held_out = place.put(np.array([np.bincount(fold.held_out, minlength=n) for fold in self.folds]))
        self._trainable = self._find_trainable()
        free = search._intercept_is_free()
        self._stop = search._stop()
        self._together = trains_together(search, rows, self._loss)
        if search._engine() == AUTO and not free:
            self._stop = self._stop.for_scores(self._loss)
        plain = is_classifier(search) and search.scoring is None and set(to_score) <= {"sample_weight"}
        self._score_here = None if plain else self._scorer(model, of_rows, truth, to_score)
        self.best: Matrix | None = None

    def _scorer(self, model: Any, of_rows: Any, truth: np.ndarray, params: dict[str, Any]) -> HeldOutScore:
        """Return what scores on the host; raises if that needs rows which are on the device."""
        rows, scoring = self._rows, self._search.scoring
        if is_array_elsewhere(rows.X) and not isinstance(scorer_of(model, scoring), _BaseScorer):
            raise ValueError(
                "scoring: a function of your own needs rows in main memory. Use one of scikit-learn's scorers, or "
                'give NumPy arrays with device="cuda".'
            )
        for name, value in rows.features.items():
            setattr(model, name, value)
        if isinstance(rows, ClassifiedOnDevice):
            model.classes_ = np.asarray(rows.names)
        return HeldOutScore(model, scoring, of_rows, truth, self.folds, params)

    def _find_trainable(self) -> np.ndarray:
        """Return for each fold and problem whether the fold trains with any row of its class."""
        rows = self._rows
        if not isinstance(rows, ClassifiedOnDevice):
            return np.ones((len(self.folds), 1), dtype=bool)
        present = np.array([rows.class_totals(self._counts[f, :]) > 0.0 for f in range(len(self.folds))])
        for number, of_fold in enumerate(present):
            if np.count_nonzero(of_fold) < 2:
                raise ValueError(
                    f"The training rows of fold {number} are all of one class: use fewer folds, or stratified ones."
                )
        return present[:, 1:] if rows.n_problems == 1 else present

    def table(self, Cs: np.ndarray, watch: SearchWatch) -> Table:
        """Fill the table as far as the rules go."""
        search, table = self._search, Table(Cs, {}, len(self.folds))
        early = EarlyEnd() if search.early_stopping else None
        each = max(1, int(self._trainable.sum()))
        size = max(1, most_together(self._rows.rows) // each) if self._together else 1
        for begin in range(0, Cs.size, size):
            of_row, weights = self._cells(Cs[begin : begin + size], watch)
            for k, cells in enumerate(of_row, start=begin):
                for fold, cell in enumerate(cells):
                    table.cells[k, fold] = cell
                    watch.cell()
                ended = watch.row(k, search._row_text(k, table) if search.verbose else None)
                scores, work = (table.of(name)[: k + 1] for name in ("score", "work"))
                if choose(scores).best == k:
                    self.best = weights[k - begin]
                if ended or (early is not None and early.ends(scores, work.sum(axis=1), self._test_share)):
                    return table
        return table

    @property
    def _test_share(self) -> float:
        held_out = sum(fold.held_out.size for fold in self.folds)
        return held_out / max(1, sum(int(fold.counts.sum(dtype=np.int64)) for fold in self.folds))

    def _cells(self, Cs: np.ndarray, watch: SearchWatch) -> tuple[list[list[Cell]], list[Matrix]]:
        """Return the cells of some values of C, and the mean of the folds' weights for each of them."""
        which = [(k, f, p) for k in range(Cs.size) for f, p in zip(*np.nonzero(self._trainable), strict=True)]
        solutions = dict(zip(which, self._train(Cs, which, watch), strict=True))
        n_folds, n_problems = self._trainable.shape
        n = self._rows.rows.n_features + 1
        W = np.zeros((Cs.size, n_folds, n_problems, n))
        bias = self._rows.rows.bias
        for at, s in solutions.items():
            W[at] = np.append(s.w, s.intercept / bias if bias else 0.0)
        scores = self._scores(Cs, W)
        cells = [
            [
                self._cell(scores[k, f], Cs[k], f, [s for (i, j, _), s in solutions.items() if (i, j) == (k, f)])
                for f in range(n_folds)
            ]
            for k in range(Cs.size)
        ]
        share = self._trainable[:, :, None].sum(axis=0).clip(min=1)
        return cells, [of_C.sum(axis=0) / share for of_C in W]

    def _train(self, Cs: np.ndarray, which: list[tuple[int, int, int]], watch: SearchWatch) -> list[Solution]:
        """Return the solutions for values of C, folds and problems by their numbers."""

        def make(number: int) -> Any:
            k, fold, problem = which[number]
            loss = self._loss._replace(C=float(Cs[k]))
            return self._rows.problem(problem, loss, self._counts[fold, :], self._search._balances_each_fold)

        free, stop = self._search._intercept_is_free(), self._stop.after(watch.used())
        if self._together:
            return train_together(make, len(which), stop, free=free)
        solver = self._search._engine()
        return [
            train_one(make(number), solver, self._stop.after(watch.used()), free=free) for number in range(len(which))
        ]

    def _scores(self, Cs: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return the scores of the rows that folds hold out, from the weights of (C, fold, problem)."""
        rows, place = self._rows.rows, self._rows.rows.place
        n_folds, n_problems = self._trainable.shape
        found = []
        for C, of_C in zip(Cs.tolist(), W, strict=True):
            values = rows.times_many(place.put(of_C.reshape(n_folds * n_problems, -1)))
            if self._score_here is None:
                found.append(self._accuracy(values))
            else:
                found.append(
                    np.array([self._score_fold(self._score_here, f, C, values, of_C[f]) for f in range(n_folds)])
                )
        if self._score_here is not None:
            return np.array(found)
        return to_numpy(place.xp.stack(found))

    def _accuracy(self, values: Any) -> Any:
        """Return the accuracy of each fold, on the device."""
        rows, xp = self._rows, self._rows.rows.place.xp
        n_folds, n_problems = self._trainable.shape
        if n_problems == 1:
            right = (values > 0.0) == (rows.targets == 1)[None, :]
        else:
            values = xp.reshape(values, (n_folds, n_problems, -1))
            absent = rows.rows.place.put(~self._trainable, xp.bool)[:, :, None]
            values = xp.where(absent, xp.full_like(values, -float("inf")), values)
            right = xp.argmax(values, axis=1) == rows.targets[None, :]
        held_out = self._held_out if rows.weights is None else self._held_out * rows.weights
        return xp.sum(xp.where(right, held_out, xp.zeros_like(held_out)), axis=1) / xp.sum(held_out, axis=1)

    def _score_fold(self, score: HeldOutScore, fold: int, C: float, values: Any, weights: Matrix) -> float:
        """Return the score of a fold, on the host."""
        place, n_problems = self._rows.rows.place, self._trainable.shape[1]
        held_out = place.put(self.folds[fold].held_out, place.xp.int64)
        own = place.xp.take(values[fold * n_problems : (fold + 1) * n_problems, :], held_out, axis=1)
        known = self._trainable[fold].tolist()
        here = np.where(self._trainable[fold], to_numpy(own).T, -np.inf)
        of_problems = [w if is_known else None for w, is_known in zip(weights, known, strict=True)]
        return score(fold, C, here, of_problems, self._rows.rows.bias)

    def _cell(self, score: float, C: float, fold: int, solutions: list[Solution]) -> Cell:
        if not np.isfinite(score):
            raise ValueError(
                f"The score of fold {fold} at C = {C:g} is {score}: choose another scoring, or other folds."
            )
        worst = max(solutions, key=lambda s: (not s.converged, s.certificate.gap))
        return Cell(
            float(score),
            sum(s.seconds for s in solutions),
            max(s.certificate.gap for s in solutions),
            NEWTON_WORK * self._rows.rows.n_rows * sum(s.n_iter for s in solutions),
            worst.converged,
            worst.stop_reason,
        )
