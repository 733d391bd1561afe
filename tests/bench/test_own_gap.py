"""Quality as the duality gap that a solver's own weights certify: the bound, the worker's sums, and what is kept."""

import json
from math import exp, isnan, log

import numpy as np
import pytest
from bench.files import make_data, run_here

from hingeline import Logistic, SquaredHinge, solve
from hingeline.bench import results, worker
from hingeline.bench.datasets import read_arrays
from hingeline.bench.peers import PeerBench, Settings
from hingeline.bench.solvers import Solver, make_solver
from hingeline.bench.tables import legend, peer_row
from hingeline.bench.task import Task, Tasks

LOSSES = {"squared_hinge": SquaredHinge, "logistic": Logistic}
BOUNDS = {"event": "optimum", "primal": 1.0, "dual": 1.0, "timed_out": False}
EXHAUSTED = {"event": "exhausted"}
every_problem = pytest.mark.parametrize(
    ("loss", "intercept"), [(loss, intercept) for loss in LOSSES for intercept in (False, True)]
)


def make_task(loss, intercept, C=0.5):
    X, y = make_data()
    return Task(X, np.where(y == 2, 1.0, -1.0), C, loss, intercept, "l1")


def gap_of(task, w):
    primal = task.objective(w)
    return (primal - task.own_bound(w)) / primal


def optimum_of(task):
    return solve(task.full_X(), task.y, LOSSES[task.loss](C=task.C), l1_ratio=1.0, gap_tol=1e-10).w


def dual_term(loss, a, C):
    if loss == "squared_hinge":
        return a - a * a / (4.0 * C)
    q = a / C
    return -C * sum(p * log(p) for p in (q, 1.0 - q) if p > 0.0)


def slow_bound(task, w):
    """Return the bound entry by entry; for the squared hinge, the best of many multiples of the dual point."""
    rows, alpha = task.full_X().toarray().tolist(), []
    for x, y in zip(rows, task.y, strict=True):
        m = y * sum(a * b for a, b in zip(x, w, strict=True))
        alpha.append(2.0 * task.C * max(0.0, 1.0 - m) if task.loss == "squared_hinge" else task.C / (1.0 + exp(m)))
    v = [sum(a * y * x[j] for a, y, x in zip(alpha, task.y, rows, strict=True)) for j in range(len(w))]
    longest = 1.0 / max(map(abs, v))
    lengths = [min(1.0, longest)] if task.loss == "logistic" else np.linspace(0.0, longest, 2001)
    return max(sum(dual_term(task.loss, t * a, task.C) for a in alpha) for t in lengths)


@every_problem
@pytest.mark.parametrize("C", [0.01, 0.5, 1e3])
def test_the_bound_is_that_of_a_slow_computation(loss, intercept, C):
    task, rng = make_task(loss, intercept, C), np.random.default_rng(1)
    for size in (0.0, 0.1, 3.0):
        w = size * rng.normal(size=15 + intercept)
        slow = slow_bound(task, w)
        # Of the squared hinge, a grid may miss the best multiple by a little.
        assert slow * (1.0 - 1e-12) <= task.own_bound(w) <= slow * (1.0 + 1e-5 * (loss == "squared_hinge") + 1e-12)
        assert gap_of(task, w) >= -1e-15


@every_problem
def test_the_gap_vanishes_at_the_optimum_alone(loss, intercept):
    task = make_task(loss, intercept)
    w = optimum_of(task)
    assert 0.0 <= gap_of(task, w) + 1e-12 < 1e-4
    assert gap_of(task, 0.1 * w) > 0.1
    assert gap_of(task, 10.0 * w) > 0.1


@every_problem
def test_the_bound_holds_whatever_the_weights(loss, intercept):
    task = make_task(loss, intercept, C=10.0)
    best, rng = task.objective(optimum_of(task)), np.random.default_rng(2)
    for size in (0.0, 0.01, 1.0, 100.0):
        assert 0.0 <= task.own_bound(size * rng.normal(size=15 + intercept)) <= best


def test_the_intercept_restricts_the_dual_point():
    """Its weight is penalised, so the labels of alpha have to be balanced as well."""
    X, _ = make_data()
    y = np.where(np.arange(120) % 10, 1.0, -1.0)  # far from balanced
    without, with_it = (Task(X, y, 1.0, "logistic", intercept, "l1") for intercept in (False, True))
    assert with_it.own_bound(np.zeros(16)) < without.own_bound(np.zeros(15))


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_without_any_loss_certify_nothing(loss):
    task, w = Task(make_data()[0][:2], np.ones(2), 1.0, loss, penalty="l1"), np.full(15, 1e4)
    assert task.objective(w) == np.abs(w).sum()
    assert task.own_bound(w) == 0.0


def test_it_needs_an_l1_penalty():
    with pytest.raises(ValueError, match="own_gap=True needs penalty='l1'"):
        Settings("squared_hinge", own_gap=True)


class Near(Solver):
    """Returns weights near the optimum; ends itself in one of the classes if it is told to."""

    package = "hingeline"
    l1_losses = ("squared_hinge",)
    late_at = None

    def run(self, tolerance, max_time, seed):
        self.w = 0.99 * optimum_of(self.task)
        self.timed_out = (self.task.y > 0.0).sum() == self.late_at

    def weights(self):
        return self.w


@pytest.fixture
def job(three, tmp_path):
    return {
        "kind": "ladder",
        "data": str(three.parsed(tmp_path)),
        "C": 1.0,
        "loss": "squared_hinge",
        "intercept": False,
        "penalty": "l1",
        "own_gap": True,
        "targets": [1e-2],
        "solver": "near",
        "dual": 0.0,
        "deadline": 60.0,
        "repeat": 1,
    }


def last_run(job):
    events = list(worker.events(job))
    assert events[-1]["event"] == "run", events[-1]
    return events[-1]


def test_classes_count_with_their_sums(job, three, tmp_path, monkeypatch):
    solver = Near()
    monkeypatch.setattr(worker, "make_solver", lambda name: solver)
    tasks = Tasks(*read_arrays(three.parsed(tmp_path)), 1.0, "squared_hinge", penalty="l1")
    w = [0.99 * optimum_of(task) for task in tasks]
    primal, dual = ([getattr(t, of)(v) for t, v in zip(tasks, w, strict=True)] for of in ("objective", "own_bound"))
    run = last_run(job | {"targets": [0.1]})
    assert run["objective"] == pytest.approx(sum(primal))
    assert run["gap"] == pytest.approx(1.0 - sum(dual) / sum(primal), rel=1e-4)
    assert 1e-5 < run["gap"] <= 0.1

    solver.late_at = 20  # the second of three: the last one has w = 0 and no bound
    run = last_run(job | {"targets": [0.1]})
    assert run["gap"] == pytest.approx(1.0 - sum(dual[:2]) / (sum(primal[:2]) + tasks.untrained), rel=1e-4)
    assert run["gap"] > 0.1


def test_engines_certify_as_before(job, tiny, tmp_path):
    """Their gap is the one that they certify, which is not more than that of their weights alone."""
    run = last_run(job | {"data": str(tiny.parsed(tmp_path)), "solver": "auto"})
    assert run["tolerance"] == 1e-2
    assert run["gap"] <= 1e-2


@pytest.mark.filterwarnings("ignore")
def test_a_peer_climbs_until_its_own_gap_is_met(job, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peer_solvers.UNLIMITED", 10_000)  # nobody kills it here
    job |= {"data": str(tiny.parsed(tmp_path)), "solver": "sklearn-primal", "targets": [1e-1, 1e-6]}
    runs = [event for event in worker.events(job) if event["event"] == "run"]
    by_tolerance = {run["tolerance"]: run["gap"] for run in reversed(runs)}
    *looser, tightest = sorted(by_tolerance, reverse=True)
    assert by_tolerance[tightest] <= 1e-6
    assert looser
    assert all(by_tolerance[tolerance] > 1e-6 for tolerance in looser)


def test_ladders_start_alike_and_go_further_with_an_l1_penalty():
    ladders = {}
    for penalty in ("l2", "l1"):
        solver = make_solver("sklearn-primal")
        solver.task = Task(*make_data(), 1.0, "squared_hinge", penalty=penalty)
        ladders[penalty] = solver.ladder([1e-3])
    assert ladders["l1"][:19] == ladders["l2"]
    assert (ladders["l2"][-1], ladders["l1"][-1]) == (pytest.approx(1e-9), pytest.approx(1e-12))


def run(tolerance, gap):
    how = {"event": "run", "tolerance": tolerance, "seconds": 1.0, "capped": False, "timed_out": False}
    return how | {"objective": 5.0, "gap": gap}


def settings(**kwargs):
    return Settings("squared_hinge", targets=(1e-3,), penalty="l1", own_gap=True, **kwargs)


def cell_of(*events, tmp_path, dataset, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: list(events))
    ((found,),) = PeerBench(settings(), tmp_path).cells(dataset, 1.0, ["sklearn-primal"])
    return found


def test_a_cell_has_the_gap_of_the_first_good_rung(tiny, tmp_path, monkeypatch):
    rungs = [run(1.0, 0.5), run(0.1, 9e-4), run(0.01, 1e-5)]
    found = cell_of(*rungs, tmp_path=tmp_path, dataset=tiny, monkeypatch=monkeypatch)
    assert (found.status, found.tolerance, found.suboptimality, found.own_gap) == ("ok", 0.1, 9e-4, True)
    assert isnan(found.optimum_gap)
    assert peer_row("d", 1.0, 1e-3, {"sklearn-primal": found}, ["sklearn-primal"])[2] == "0.001"  # no optimum is loose
    assert legend([found]) == []


def test_a_large_gap_at_the_tightest_tolerance_says_nothing_of_the_objective(tiny, tmp_path, monkeypatch):
    found = cell_of(run(1.0, 0.5), EXHAUSTED, tmp_path=tmp_path, dataset=tiny, monkeypatch=monkeypatch)
    assert (found.status, found.suboptimality) == ("missed", 0.5)


def test_no_optimum_is_computed_and_results_do_not_mix(tiny, tmp_path, monkeypatch):
    jobs = []

    def note(job):
        jobs.append((job["kind"], job["own_gap"]))
        return [BOUNDS] if job["kind"] == "optimum" else [run(1e-3, 1e-4) if job["own_gap"] else run(1e-3, 1.0)]

    monkeypatch.setattr("hingeline.bench.peers.run_job", note)
    other = Settings("squared_hinge", targets=(1e-3,), penalty="l1")
    for one in (settings(), other, settings(), other):
        list(PeerBench(one, tmp_path).cells(tiny, 1.0, ["auto", "sklearn-primal"]))
    assert jobs == [*[("ladder", True)] * 2, ("optimum", False), *[("ladder", False)] * 2]
    assert settings(intercept=True).name == "peers-squared_hinge-l1-intercept-own-gap"
    assert other.name == "peers-squared_hinge-l1"


def test_records_of_earlier_versions_are_of_the_other_mode(tiny, tmp_path, monkeypatch):
    other = Settings("squared_hinge", targets=(1e-3,), penalty="l1")
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: [run(1e-3, 1.0)])
    list(PeerBench(other, tmp_path).cells(tiny, 1.0, ["auto"]))
    path = tmp_path / "peers.jsonl"
    record = json.loads(path.read_text())
    assert record.pop("own_gap") is False
    path.write_text(json.dumps(record) + "\n")
    ran = []
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: ran.append(job["own_gap"]) or [run(1e-3, 1e-4)])
    for one in (other, settings()):
        list(PeerBench(one, tmp_path).cells(tiny, 1.0, ["auto"]))
    assert ran == [True]


def test_a_file_says_which_quality_was_meant(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    bench = PeerBench(settings(deadline=20.0), tmp_path)
    cells = [cell for found in bench.cells(tiny, 1.0, ["auto"]) for cell in found]
    command = results.command_of(bench.settings, ["auto"], [tiny], [1.0])
    results.save(tmp_path / "x.json", command, bench, tiny, cells)
    found = results.read(tmp_path / "x.json")
    assert " --penalty l1 --own-gap --subopt " in found.commands[0]
    assert found.own_gap
    assert all(cell.own_gap for cell in found.cells)
