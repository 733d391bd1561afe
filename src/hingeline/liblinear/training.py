"""One training: its problems are solved within the time limit, and what they reach is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem
from ..io.models.liblinear_file import LinearModel
from ..io.records.checkpoint import Starts
from ..kernels.losses import EVERY_LOSS, Loss
from ..runtime.training_clock import now
from ..solution import Progress, Snapshot, Solution
from ..solvers.free_intercept import train_free
from ..solvers.l1.primal import train_primal
from ..solvers.stop import NO_TIME, Stop
from ..solvers.train import train
from .labels import class_weights_of, ordered_labels
from .settings import Settings
from .tolerance import PrimalRule, tol_of

# Called with the number of a problem and its progress after each sweep; with None when the problem is solved.
Report = Callable[[int, "Progress | None"], Any]


def dual_variables(at: Solution | Snapshot) -> np.ndarray:
    """Return the dual variables: what most problems start from."""
    assert at.alpha is not None
    return at.alpha


class Trained(NamedTuple):
    """A model, how each of its problems was solved, and the seconds that all of them took together."""

    model: LinearModel
    solutions: list[Solution]
    seconds: float


@dataclass
class Training:
    """What all problems of a training share.

    Attributes
    ----------
    data, y
        Rows, and labels or targets.
    settings : Settings
    included : ndarray of bool, optional
        The rows to train on; None: all of them. The others have weight zero, so no rows are copied.
    starts : Starts
        Where problems start from; what they reach is kept there.
    report : callable, optional
        Called with the progress.
    warn : callable
        Called with the text of each of LIBLINEAR's warnings.
    previous : dict, optional
        The solutions of another C by their number, for a search. Problems that LIBLINEAR ends by the gradient of the
        primal then end as soon as its rule holds; one whose previous solution meets the rule keeps it.
    """

    data: Data
    y: np.ndarray
    settings: Settings
    included: np.ndarray | None = None
    starts: Starts = field(default_factory=Starts)
    report: Report | None = None
    warn: Callable[[str], object] = lambda text: None
    previous: dict[int, Solution] | None = None

    def __post_init__(self) -> None:
        self.begun, seconds = now(), self.settings.max_time
        self.deadline = inf if seconds is None else self.begun + seconds

    @cached_property
    def row_weights(self) -> np.ndarray | None:
        """What C is multiplied by in each row; None if that is 1 everywhere."""
        return None if self.included is None else self.included.astype(np.float64)

    @cached_property
    def loss(self) -> Loss:
        """The loss, with its parameters."""
        kind = next(known for known in EVERY_LOSS if known.name == self.settings.solver_type.loss)
        parameters: tuple[float, ...] = (self.settings.C, self.settings.p)
        return kind(*parameters[: 1 + kind.has_epsilon])

    def classes(self) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
        """Return the labels, the number of each row's label, and what C is multiplied by for each label."""
        labels, codes = ordered_labels(self.y, self.included)
        return labels, codes, class_weights_of(labels, self.settings.weights, self.warn)

    def train_l2(
        self, k: int, problem: Problem, *, n_threads: int, cancelled: Callable[[], bool] | None = None
    ) -> Solution:
        """Solve problem ``k`` with the regulariser |w|_2^2/2."""
        run = train_free if self.settings.free_bias else train
        rule = None
        if self.previous is not None and PrimalRule.applies_to(self.settings):
            rule = PrimalRule(problem, self.settings, self.included)
            if k in self.previous and rule.holds(self.previous[k]):
                return self.previous[k]

        def solve(start: np.ndarray | None, **how: Any) -> Solution:
            return run(problem, self.settings.solver, alpha0=start, n_threads=n_threads, cancelled=cancelled, **how)

        return self.solve(k, self._tol(problem) if rule is None else rule.tol, solve, rule=rule)

    def train_l1(self, k: int, problem: Problem, columns: Any, *, cancelled: Callable[[], bool]) -> Solution:
        """Solve problem ``k`` with the regulariser |w|_1; it starts from weights, since they are its variables."""
        settings = self.settings

        def solve(start: np.ndarray | None, **how: Any) -> Solution:
            return train_primal(
                problem,
                settings.solver,
                columns=columns,
                free_intercept=settings.free_bias,
                alpha0=start,
                cancelled=cancelled,
                **how,
            )

        def weights(s: Solution | Snapshot) -> np.ndarray:
            return np.append(s.w, s.intercept / settings.bias if settings.bias > 0.0 else 0.0)

        return self.solve(k, self._tol(problem), solve, weights)

    def _tol(self, problem: Problem) -> float:
        """Return the tolerance; it has no effect if a gap is asked for."""
        if self.settings.gap is not None:
            return self.settings.eps
        return tol_of(problem, self.settings, self.included)

    def solve(
        self,
        k: int,
        tol: float,
        solve: Callable[..., Solution],
        variables: Callable[[Solution | Snapshot], np.ndarray] = dual_variables,
        rule: PrimalRule | None = None,
    ) -> Solution:
        """Solve problem ``k`` within what is left of the time; what it reaches is kept where it started from.

        ``solve(start, stop=, seed=, callback=)`` continues from ``start``, which ``variables`` takes from a solution,
        or from a look at a run. It ends as soon as the ``rule`` holds, if there is one.
        """
        starts, report = self.starts, self.report

        def callback(progress: Progress) -> bool:
            if report is not None:
                report(k, progress)
            starts.after_sweep(k, lambda: variables(progress.look()))
            return rule is not None and rule.holds(progress.look())

        left = self.deadline - now()
        stop = Stop(tol, self.settings.gap, None, None if left == inf else max(left, NO_TIME))
        seed = int(np.random.SeedSequence((self.settings.seed, k)).generate_state(1, np.uint64)[0])
        is_watched = report is not None or starts.saves_sweeps or rule is not None
        s = solve(starts.start(k), stop=stop, seed=seed, callback=callback if is_watched else None)
        starts.keep(k, variables(s))
        if report is not None:
            report(k, None)
        return s

    def trained(self, labels: tuple[int, ...] | None, solutions: list[Solution], rho: float = 0.0) -> Trained:
        """Return the model that the solutions make, one column of weights per output."""
        bias = self.settings.bias
        w = np.column_stack([s.w.T for s in solutions])  # Crammer and Singer's one solution has a row per class
        if bias >= 0.0:
            intercepts = np.hstack([np.atleast_1d(s.intercept) for s in solutions])
            w = np.vstack((w, intercepts / bias if bias > 0.0 else np.zeros(w.shape[1])))
        model = LinearModel(self.settings.type, labels, self.data.n_features, bias, w, rho)
        return Trained(model, solutions, now() - self.begun)
