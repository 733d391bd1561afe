"""Runs in slices: they go on from where they were, within the time there is, and their histories become one."""

from time import perf_counter

import numpy as np
import pytest

from hingeline.liblinear.run import NO_TIME, MachineRun, weights_of
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.starts import Starts
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

    run = MachineRun(Settings(), starts, lambda k, progress: told.append((k, progress)))
    whole = run.machine(7, 0.25, solve)
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

    MachineRun(Settings(), Slices(), None).machine(0, 0.1, solve, resumes=False)
    assert seen == [None]


def test_the_time_is_that_of_all_machines_and_one_that_comes_too_late_returns_at_once():
    seen = []

    def solve(start, *, stop, seed, callback):
        seen.append((stop.max_time, seed))
        return solution("max_time", 1.0)

    run = MachineRun(Settings(max_time=100.0, gap=0.5), Starts(), None)
    run.machine(0, 0.1, solve)
    run.deadline = perf_counter() - 1.0
    assert run.machine(1, 0.1, solve).stop_reason == "max_time"
    (first, seed), (second, other) = seen
    assert 90.0 < first <= 100.0
    assert second == NO_TIME
    assert seed != other  # each has a seed of its own


@pytest.mark.parametrize(("bias", "expected"), [(-1.0, [1.0, 2.0]), (0.0, [1.0, 2.0, 0.0]), (2.0, [1.0, 2.0, 1.5])])
def test_the_constant_features_weight_comes_last(bias, expected):
    assert weights_of(solution("tol", 1.0), bias).tolist() == expected
