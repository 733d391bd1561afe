"""Problems are solved in slices: each continues the last one, within the time limit, and histories become one."""

from time import perf_counter

import numpy as np
import pytest

from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.liblinear.fit import read
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.starts import Starts
from hingeline.liblinear.training import NO_TIME, Training
from hingeline.solution import HISTORY, Certificate, Solution


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


class Slices(Starts):
    """Asks for a pause after every second, and notes what is kept."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def slice(self):
        return 1.0

    def keep(self, k, variables):
        super().keep(k, variables)
        self.kept.append((k, variables[0]))


def test_a_slice_goes_on_from_the_last_one_and_histories_are_joined():
    seen, starts, told = [], Slices(), []

    def solve(start, *, stop, seed, callback):
        seen.append((None if start is None else start[0], stop.max_time, seed))
        assert (stop.tol, stop.gap_tol) == (0.25, None)
        callback("progress")
        return solution("max_time" if len(seen) < 3 else "tol", float(len(seen)))

    training = training_of(Settings(), starts=starts, report=lambda k, progress: told.append((k, progress)))
    whole = training.solve_in_slices(7, 0.25, solve)
    assert [start for start, _, _ in seen] == [None, 1.0, 2.0]
    assert {max_time for _, max_time, _ in seen} == {1.0}
    assert len({seed for _, _, seed in seen}) == 1
    assert starts.kept == [(7, 1.0), (7, 2.0), (7, 3.0)]
    assert told == [(7, "progress")] * 3 + [(7, None)]
    assert (whole.n_iter, whole.n_steps, whole.seconds, whole.stop_reason) == (6, 60, 3.0, "tol")
    assert whole.history["steps"].tolist() == [10, 20, 30, 40, 50, 60]
    assert whole.history["seconds"].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]


def test_what_cannot_go_on_is_not_sliced():
    seen = []

    def solve(start, *, stop, seed, callback):
        seen.append(stop.max_time)
        return solution("tol", 1.0)

    training_of(Settings(), starts=Slices()).solve_in_slices(0, 0.1, solve, resumes=False)
    assert seen == [None]


def test_the_time_is_that_of_all_problems_and_one_that_comes_too_late_returns_at_once():
    seen = []

    def solve(start, *, stop, seed, callback):
        seen.append((stop.max_time, seed))
        return solution("max_time", 1.0)

    training = training_of(Settings(max_time=100.0, gap=0.5))
    training.solve_in_slices(0, 0.1, solve)
    training.deadline = perf_counter() - 1.0
    assert training.solve_in_slices(1, 0.1, solve).stop_reason == "max_time"
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
