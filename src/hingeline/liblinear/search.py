"""Cross validation (``-v``) and the search for C, or C and p (``-C``), as LIBLINEAR does them.

Rows are shuffled, not stratified, and cut into folds of about the same size. They are read once: the rows that a fold
holds out have weight zero while it trains. The search doubles C from a value so small that the solution is close to
zero. Each fold starts from its solution for the previous C, and keeps it if it meets LIBLINEAR's rule for the new C as
well. The search ends when C is at its largest, or when the weights of no fold have changed in five doublings in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import floor, inf, log2
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data
from ..io.models.liblinear_file import LinearModel
from ..io.records.checkpoint import Starts
from ..runtime.training_clock import now
from ..solution import Solution
from ..solvers.stop import NO_TIME
from .evaluate import Tally
from .fit import fit_data, read
from .predict import decide, scores
from .settings import Settings
from .tolerance import PrimalRule

LARGEST_C, LARGEST_C_OF_REGRESSION = 1024.0, 1048576.0
STEPS_OF_P = 20  # widths of the tube that are tried
UNCHANGED = 0.05  # relative change of the weights that counts as none for types that LIBLINEAR does not search
MOST_UNCHANGED = 5  # doublings
SMALLEST_SOLUTION = 0.1  # share of the loss at zero that the solution for a regression's first C may remove

Say = Callable[[str], object]


class Found(NamedTuple):
    """The best parameters, and their accuracy (a share) or mean squared error."""

    C: float
    p: float
    score: float


def folds_of(n_rows: int, count: int, seed: int, warn: Say) -> list[np.ndarray]:
    """Return the rows of each fold, in a random order."""
    if count > n_rows:
        count = n_rows
        warn("WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)")
    order = np.random.default_rng(seed).permutation(n_rows)
    bounds = [fold * n_rows // count for fold in range(count + 1)]
    return [order[begin:end] for begin, end in pairwise(bounds)]


class Fold:
    """One fold: a model of all other rows predicts the rows held out. Each training starts from the last one."""

    def __init__(self, data: Data, X: Any, y: np.ndarray, held_out: np.ndarray) -> None:
        self.data, self.y = data, y
        self.included = np.ones(y.size, dtype=bool)
        self.included[held_out] = False
        self.held_out_X, self.held_out_y = X[held_out], y[held_out]
        self.forget()

    def forget(self) -> None:
        """Let the next training start from scratch."""
        self.starts, self.converged = Starts(), True
        self.w: np.ndarray | None = None
        self.previous: dict[int, Solution] = {}

    def predict(self, settings: Settings, warn: Say, *, search: bool = False) -> np.ndarray:
        """Train on the other rows, and return predictions for the rows held out."""
        previous = self.previous if search else None
        model, solutions, _ = fit_data(
            self.data, self.y, settings, included=self.included, starts=self.starts, previous=previous, warn=warn
        )
        self.changed = self.w is not None and _differs(model, self.w, settings)
        self.w, self.previous = model.w, dict(enumerate(solutions))
        self.converged = all(s.converged for s in solutions)
        return decide(model, scores(model, self.held_out_X))


def _differs(model: LinearModel, w: np.ndarray, settings: Settings) -> bool:
    if PrimalRule.applies_to(settings):  # a solution that meets the rule stays as it is
        return not np.array_equal(model.w, w)
    return bool(np.linalg.norm(model.w - w) > UNCHANGED * np.linalg.norm(model.w))


def cross_validate(
    X: Any, y: np.ndarray, settings: Settings, count: int, warn: Say, advance: Callable[[], object] = lambda: None
) -> Tally:
    """Return how well rows are predicted by models that have not seen them; ``advance`` is called after each fold."""
    begun, tally, data = now(), Tally(), read(X, settings)
    converged = list[bool]()
    for held_out in folds_of(y.size, count, settings.seed, warn):
        fold = Fold(data, X, y, held_out)
        tally = tally.add(fold.predict(_with_time_left(settings, begun), warn), fold.held_out_y)
        converged.append(fold.converged)
        advance()
    _warn_of_unfinished(converged, warn)
    return tally


def _warn_of_unfinished(converged: list[bool], warn: Say) -> None:
    if not all(converged):
        warn(f"WARNING: the models of {converged.count(False)} of {len(converged)} folds ended before they converged")


def _with_time_left(settings: Settings, begun: float) -> Settings:
    """Return the settings of the next fit: all fits since ``begun`` share the time."""
    if settings.max_time is None:
        return settings
    return replace(settings, max_time=max(settings.max_time - (now() - begun), NO_TIME))


class _Fits:
    """Counts the fits of a search, of which there is a part for each width of the tube."""

    def __init__(self, report: Callable[[int, int], object]) -> None:
        self._report = report

    def begin(self, part: int, parts: int, most: int) -> None:
        """Begin a part of so many fits at most."""
        self._done, self._most = part * most, parts * most

    def advance(self) -> None:
        """Count a fit."""
        self._done += 1
        self._report(self._done, self._most)


def search(
    X: Any,
    y: np.ndarray,
    settings: Settings,
    count: int,
    start_C: float | None,
    start_p: float | None,
    say: Say,
    warn: Say,
    *,
    advance: Callable[[int, int], object] = lambda done, most: None,
    tried: list[Found] | None = None,
) -> Found:
    """Return the best C of a classifier, or the best C and p of a regression.

    ``say`` is called with each result, and ``advance`` after each fit with the number of fits so far and how many
    there may be at most. Results are appended to ``tried``.
    """
    begun, data = now(), read(X, settings)
    folds = [Fold(data, X, y, held_out) for held_out in folds_of(y.size, count, settings.seed, warn)]
    largest_C = LARGEST_C_OF_REGRESSION if settings.solver_type.is_regression else LARGEST_C
    best: Found | None = None
    widths = _widths(y, start_p) if settings.solver_type.is_regression else [settings.p]
    fits = _Fits(advance)
    for step, p in enumerate(widths):
        at_p = replace(settings, p=p)
        first = min(start_C or first_C(X, y, at_p), largest_C)
        for fold in folds:
            fold.forget()
        fits.begin(step, len(widths), len(folds) * (1 + int(log2(largest_C / first))))
        for found in _path(folds, at_p, first, largest_C, begun, say, warn, fits.advance, is_any=best is not None):
            if tried is not None:
                tried.append(found)
            if best is None or _better(found.score, best.score, settings):
                best = found
        if _is_over(settings, begun):
            warn("WARNING: the time was up before all parameters were tried")
            break
    assert best is not None
    return best


def _better(score: float, than: float, settings: Settings) -> bool:
    return score < than if settings.solver_type.is_regression else score > than


def _path(
    folds: list[Fold],
    settings: Settings,
    first: float,
    largest_C: float,
    begun: float,
    say: Say,
    warn: Say,
    advance: Callable[[], object],
    is_any: bool,
) -> Iterator[Found]:
    """Yield the scores of C, 2 C, 4 C, ... while there is time; ``advance`` is called after each fit.

    Scores of models that the time has cut off tell nothing of C. They are left out, unless there are no others
    (``is_any`` tells whether there were some before).
    """
    C, unchanged = first, 0
    while C <= largest_C:
        tally = Tally()
        for fold in folds:
            at_C = replace(_with_time_left(settings, begun), C=C)
            tally = tally.add(fold.predict(at_C, warn, search=True), fold.held_out_y)
            advance()
        converged = [fold.converged for fold in folds]
        if _is_over(settings, begun) and not all(converged):
            if is_any:
                return
            _warn_of_unfinished(converged, warn)
        is_any = True
        if settings.solver_type.is_regression:
            score = tally.mean_squared_error
            say(f"log2c={log2(C):7.2f}\tp={settings.p:7.2f}\tMean squared error={score:g}")
        else:
            score = tally.accuracy / 100.0
            say(f"log2c={log2(C):7.2f}\trate={tally.accuracy:g}")
        yield Found(C, settings.p, score)
        unchanged = 0 if any(fold.changed for fold in folds) else unchanged + 1
        if unchanged == MOST_UNCHANGED or _is_over(settings, begun):
            return
        C *= 2.0
    say("WARNING: maximum C reached.")


def _is_over(settings: Settings, begun: float) -> bool:
    return settings.max_time is not None and now() - begun >= settings.max_time


def _widths(y: np.ndarray, start_p: float | None) -> list[float]:
    """Return the widths of the tube to try, from wide to narrow."""
    largest = float(np.abs(y).max())
    first = STEPS_OF_P - 1
    if start_p is not None and start_p > 0.0 and largest > 0.0:
        first = min(first, int(start_p / (largest / STEPS_OF_P)))
    return [step * largest / STEPS_OF_P for step in range(first, -1, -1)]


def first_C(X: Any, y: np.ndarray, settings: Settings) -> float:
    """Return the power of two to begin with, which depends on the largest |x_i|^2 (with the constant feature)."""
    squares = X.astype(np.float64, copy=False).multiply(X).sum(axis=1)
    largest = float(np.max(squares)) + max(settings.bias, 0.0) ** 2
    if largest == 0.0:
        return 1.0
    if settings.solver_type.is_regression:
        size = np.abs(y)
        loss = float(np.sum(np.maximum(size - settings.p, 0.0) ** 2))
        smallest = SMALLEST_SOLUTION**2 * loss / (8.0 * float(size.sum()) ** 2 * largest) if loss > 0.0 else inf
    else:
        steepest = 2.0 if settings.solver_type.loss == "squared_hinge" else 1.0  # slope at zero, in units of C |x|
        smallest = 1.0 / (steepest * y.size * largest)
    return 2.0 ** floor(log2(smallest)) if smallest < inf else inf
