"""What a search cross-validates, and one fit of it: a problem of a fold for one C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem
from ..solution import Solution
from ..solvers.stop import Stop
from .folds import Fold
from .multinomial_walk import Joint, MultinomialWalk
from .start import Reached
from .walk import Walk


@dataclass(frozen=True)
class Study:
    """What is cross-validated.

    Attributes
    ----------
    data : Data
        All rows, read once.
    folds : list of Fold
    n_problems : int
        Problems of a model: one per class if there are more than two classes, else one.
    problem_at : callable (fold, k, C) -> Problem
    is_trainable : callable (fold, k) -> bool
        Whether problem k has anything to learn from in a fold; if not, its class is never predicted (-inf).
    score : callable (fold, C, values, weights) -> float
        Score of the held-out rows, from their decision values (n_held_out, n_problems) and each problem's weights.
    solver, stop, seed, free_intercept
        How each problem is trained.
    joint : Joint or None
        The problem of all classes at once, if there is one instead of ``problem_at``.
    """

    data: Data
    folds: list[Fold]
    n_problems: int
    problem_at: Callable[[int, int, float], Problem]
    is_trainable: Callable[[int, int], bool]
    score: Callable[[int, float, np.ndarray, list[np.ndarray | None]], float]
    solver: str
    stop: Stop
    seed: int
    free_intercept: bool = False
    joint: Joint | None = None

    @property
    def test_share(self) -> float:
        """Held-out rows over training rows."""
        held_out = sum(fold.held_out.size for fold in self.folds)
        return held_out / max(1, sum(int(fold.counts.sum(dtype=np.int64)) for fold in self.folds))


class Part(NamedTuple):
    """What one problem gives to a cell."""

    solution: Solution | None  # without dual variables; None if there was nothing to learn from
    reached: Reached | None
    values: np.ndarray  # of the rows that are held out; with a column per class if all are one problem


def walk_of(study: Study, chain: int, *, stop: Stop | None = None, **how: Any) -> Walk | MultinomialWalk | None:
    """Return the walk of a chain along C; None if it has nothing to learn from. ``how`` is what ``Walk`` takes."""
    fold, problem = divmod(chain, study.n_problems)
    if study.joint is not None:
        return MultinomialWalk(study.joint, study.folds[fold], study.solver, stop or study.stop, **how)
    if not study.is_trainable(fold, problem):
        return None
    seed = int(np.random.SeedSequence((study.seed, fold, problem)).generate_state(1, np.uint64)[0])
    return Walk(
        lambda C: study.problem_at(fold, problem, C),
        study.solver,
        stop or study.stop,
        seed=seed,
        free_intercept=study.free_intercept,
        **how,
    )


def part_of(study: Study, chain: int, walk: Walk | MultinomialWalk | None, C: float) -> Part:
    """Go on to C; return what that gives to a cell: solution, and decision values of the rows that are held out."""
    held_out = study.folds[chain // study.n_problems].held_out
    if walk is None:
        return Part(None, None, np.full(held_out.size, -np.inf))
    solution = replace(walk.advance(C), alpha=np.empty(0))  # what is needed of them is in ``walk.reached``
    return Part(solution, walk.reached, walk.values(study.data.rows, held_out.astype(np.uint64)))
