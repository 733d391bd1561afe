"""The worker's jobs in this process, with a clock that the tests set."""

from itertools import count

import pytest

from hingeline.bench import worker
from hingeline.bench.process import SETUP_SECONDS
from hingeline.bench.solvers import make_solver


@pytest.fixture
def job(tiny, tmp_path, fake_peers):
    return {
        "kind": "ladder",
        "data": str(tiny.parsed(tmp_path)),
        "C": 1.0,
        "loss": "hinge",
        "intercept": False,
        "penalty": "l2",
        "own_gap": False,
        "targets": [1e-3],
        "solver": "auto",
        "dual": 1e9,  # any weights are good enough
        "deadline": 100.0,
        "repeat": 1,
    }


def runs(job):
    events = list(worker.events(job))
    assert {event["event"] for event in events} <= {"ready", "limit", "run"}, events
    return [event for event in events if event["event"] == "run"]


@pytest.fixture
def each_run_takes(monkeypatch):
    """Return a function that sets the seconds of every run from then on."""

    def set_clock(seconds):
        readings = count()
        monkeypatch.setattr(worker, "now", lambda: next(readings) * seconds)

    return set_clock


@pytest.mark.parametrize("solver", ["auto", "fake_peer:Good"])
@pytest.mark.parametrize(
    ("seconds", "repeat", "n_runs"),
    [
        (1.0, 1, 1),
        (1.0, 3, 3),
        (2.0**-4, 1, 1),
        (2.0**-7, 1, 26),
        (2.0**-7, 30, 30),
        (2.0**-10, 5, 50),
        (2.0**-10, 55, 55),
    ],
)
def test_short_runs_are_repeated(seconds, repeat, n_runs, solver, job, each_run_takes):
    each_run_takes(seconds)
    assert [run["seconds"] for run in runs(job | {"repeat": repeat, "solver": solver})] == [seconds] * n_runs


@pytest.mark.parametrize(("name", "n_runs"), [("auto", 1), ("fake_peer:Good", 3)])
def test_a_first_run_on_cold_memory_does_not_count(name, n_runs, job, each_run_takes, monkeypatch):
    each_run_takes(1.0)
    solver, seeds = make_solver(name), []
    run = solver.run
    monkeypatch.setattr(
        solver, "run", lambda tolerance, max_time, seed: seeds.append(seed) or run(1e-3, max_time, seed)
    )
    monkeypatch.setattr(worker, "make_solver", lambda name: solver)
    assert len(runs(job)) == 1
    assert len(seeds) == n_runs  # a peer's warm-up on a few rows, its cold run, and the one that counts


def test_the_deadline_is_that_of_all_classes_together(job, three, tmp_path, each_run_takes):
    each_run_takes(40.0)
    job |= {"data": str(three.parsed(tmp_path)), "solver": "fake_peer:Good"}
    in_time, late = runs(job | {"deadline": 121.0}), runs(job | {"deadline": 80.0, "dual": 0.0})
    assert [(run["seconds"], run["timed_out"]) for run in in_time] == [(120.0, False)]
    assert [(run["seconds"], run["timed_out"]) for run in late] == [(80.0, True)]
    limits = [event["seconds"] for event in worker.events(job) if event["event"] == "limit"]
    assert limits[:6] == [SETUP_SECONDS, 100.0, SETUP_SECONDS, 60.0, SETUP_SECONDS, 20.0]


def test_bounds_of_the_optimum_hold_at_every_moment(job, three, tmp_path):
    events = list(worker.events(job | {"kind": "optimum", "gap": 1e-7, "data": str(three.parsed(tmp_path))}))
    primal, dual = ([event[name] for event in events[1:]] for name in ("primal", "dual"))
    assert len(primal) >= 3
    assert primal == sorted(primal, reverse=True)
    assert dual == sorted(dual)
    assert primal[0] > 240.0  # two classes are still at w = 0
    assert primal[-1] - dual[-1] <= 1e-6 * primal[-1]
    assert not events[-1]["timed_out"]


def test_an_optimum_that_was_not_reached_is_told(job):
    events = list(worker.events(job | {"kind": "optimum", "gap": 1e-7, "deadline": 1e-9, "C": 1e4}))
    assert events[-1]["timed_out"]
