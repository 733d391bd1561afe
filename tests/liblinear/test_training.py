"""Problems are solved within the time limit, from where the last ones have ended."""

import numpy as np
import pytest

from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.io.records.checkpoint import Starts
from hingeline.liblinear.fit import read
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.training import NO_TIME, Training
from hingeline.runtime.training_clock import now
from hingeline.solution import HISTORY, Certificate, Look, Progress, Snapshot, Solution


def solution(reason, value, n_iter=2):
    history = np.zeros(n_iter, dtype=HISTORY)
    history["steps"], history["seconds"] = 10 * np.arange(1, n_iter + 1), 0.5 * np.arange(1, n_iter + 1)
    return Solution(
        w=np.array([1.0, 2.0]),
        intercept=3.0,
        alpha=np.full(4, value),
        certificate=Certificate(0.0, 1.0, 1.0, 0.0),
        history=history,
        n_iter=n_iter,
        n_steps=10 * n_iter,
        seconds=0.5 * n_iter,
        solver="hybrid",
        converged=reason == "tol",
        stop_reason=reason,
    )


def training_of(settings, **how):
    """Return a training on four rows."""
    return Training(read(np.eye(4, 2) + 1.0, settings), np.array([1, -1, 1, -1]), settings, **how)


class EverySweep(Starts):
    """Notes what is kept, and looks at every sweep."""

    saves_sweeps = True

    def __init__(self):
        super().__init__()
        self.kept = []

    def after_sweep(self, k, take):
        self.kept.append((k, take()[0]))

    def keep(self, k, variables):
        super().keep(k, variables)
        self.kept.append((k, variables[0]))


def test_what_a_problem_reaches_is_kept_and_is_where_the_next_one_starts():
    seen, starts, told = [], EverySweep(), []

    def solve(start, *, stop, seed, callback):
        seen.append((None if start is None else start[0], stop.max_time, seed))
        assert (stop.tol, stop.gap_tol) == (0.25, None)
        for n_iter in (1, 2):
            look = Look(lambda: Snapshot(np.zeros(2), 0.0, np.full(4, 10.0 * len(seen) + n_iter)))  # noqa: B023
            callback(Progress(n_iter, 0, 0.0, 1.0, 1.0, look=look))
        return solution("tol", float(len(seen)))

    training = training_of(Settings(), starts=starts, report=lambda k, progress: told.append((k, progress)))
    for _ in range(2):
        training.solve(7, 0.25, solve)
    assert [start for start, _, _ in seen] == [None, 1.0]
    assert {max_time for _, max_time, _ in seen} == {None}
    assert len({seed for _, _, seed in seen}) == 1
    assert starts.kept == [(7, 11.0), (7, 12.0), (7, 1.0), (7, 21.0), (7, 22.0), (7, 2.0)]
    assert [k for k, _ in told] == [7] * 6
    assert [progress and progress.n_iter for _, progress in told] == [1, 2, None] * 2


def test_nobody_is_called_if_nobody_watches():
    def solve(start, *, stop, seed, callback):
        assert callback is None
        return solution("tol", 1.0)

    training_of(Settings()).solve(0, 0.1, solve)


def test_the_time_is_that_of_all_problems_and_one_that_comes_too_late_returns_at_once():
    seen = []

    def solve(start, *, stop, seed, callback):
        seen.append((stop.max_time, seed))
        return solution("max_time", 1.0)

    training = training_of(Settings(max_time=100.0, gap=0.5))
    training.solve(0, 0.1, solve)
    training.deadline = now() - 1.0
    assert training.solve(1, 0.1, solve).stop_reason == "max_time"
    (first, seed), (second, other) = seen
    assert 90.0 < first <= 100.0
    assert second == NO_TIME
    assert seed != other  # each has a seed of its own


@pytest.mark.parametrize(("bias", "expected"), [(-1.0, [1.0, 2.0]), (0.0, [1.0, 2.0, 0.0]), (2.0, [1.0, 2.0, 1.5])])
def test_the_constant_features_weight_comes_last(bias, expected):
    model = training_of(Settings(bias=bias)).trained((1, -1), [solution("tol", 1.0)]).model
    assert model.w[:, 0].tolist() == expected


def test_every_loss_is_known():
    for number, known in SOLVER_TYPES.items():
        loss = training_of(Settings(type=number, C=2.0, p=0.25)).loss
        assert (loss.name, loss.C) == (known.loss, 2.0)
        assert not known.is_regression or loss.epsilon == 0.25
