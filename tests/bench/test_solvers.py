from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from bench.files import make_data
from problems import MARGIN_LOSSES

from hingeline import solve
from hingeline.bench.peer_solvers import CAPPED, PEERS
from hingeline.bench.solvers import OURS, Hingeline, Unsupported, make_solver, missing_package
from hingeline.bench.task import Task, Tasks


def make_task(loss="hinge", C=0.5, intercept=False, penalty="l2", **kwargs):
    X, y = make_data(**kwargs)
    return Task(X, np.where(y == 2, 1.0, -1.0), C, loss, intercept, penalty)


def optimum_of(task, gap=1e-9):
    """Return the solution; an intercept is a column of ones."""
    l1_ratio = 1.0 if task.penalty == "l1" else None
    return solve(task.full_X(), task.y, MARGIN_LOSSES[task.loss](C=task.C), l1_ratio=l1_ratio, gap_tol=gap)


PROBLEMS = [*((loss, "l2") for loss in MARGIN_LOSSES), ("squared_hinge", "l1"), ("logistic", "l1")]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("loss", "penalty"), PROBLEMS)
def test_the_objective_is_hingelines(loss, penalty, intercept):
    task = make_task(loss, intercept=intercept, penalty=penalty)
    s = optimum_of(task, 1e-6)
    assert s.w.size == 15 + intercept
    assert task.objective(s.w) == pytest.approx(s.certificate.primal, rel=1e-12)
    untrained = Tasks(task.X, np.zeros(120, dtype=int), task.C, loss, intercept, penalty).untrained
    assert task.objective(np.zeros(15 + intercept)) == pytest.approx(untrained, rel=1e-12)


def test_one_problem_a_class_or_one_for_two_classes():
    X, y = make_data(classes=3)
    tasks = Tasks(X, y - 1, 0.5, "hinge", intercept=True)
    assert [int((task.y > 0.0).sum()) for task in tasks] == [60, 20, 40]
    assert all(task.X is X and task.intercept and set(task.y) == {-1.0, 1.0} for task in tasks[:3])
    assert tasks[2].objective(np.zeros(16)) == tasks.untrained
    (task,) = Tasks(X, np.minimum(y - 1, 1), 0.5, "hinge")
    np.testing.assert_array_equal(task.y > 0.0, y > 1)


# Peers that are not installed are skipped here; what they minimise is checked wherever they are.
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("name", "loss", "penalty"), [(name, *one) for name, peer in PEERS.items() for one in PROBLEMS if peer.knows(*one)]
)
@pytest.mark.filterwarnings("ignore")
def test_peers_minimise_the_same_objective(name, loss, penalty, intercept):
    if missing_package(name):
        pytest.skip(f"{name} is not installed")
    task = make_task(loss, intercept=intercept, penalty=penalty)
    peer = make_solver(name)
    peer.warm_up(task)
    for labels in (-task.y, task.y, np.where(np.arange(task.y.size) % 3, 1.0, -1.0)):  # one class after another
        one = replace(task, y=labels)
        peer.prepare(one)
        peer.run(1e-6, 60.0, seed=0)
        value, bound = one.objective(peer.weights()), optimum_of(one).certificate.dual
        assert bound * (1.0 - 1e-9) <= value <= bound * (1.0 + 1e-3)


def test_rows_are_converted_once_for_all_classes():
    task, peer = make_task(intercept=True), make_solver("rehline")
    peer.prepare(task)
    converted = peer.X
    assert converted.shape == (120, 16)
    assert (converted[:, 15].toarray() == 1.0).all()
    peer.prepare(replace(task, y=-task.y))
    assert peer.X is converted
    assert peer.task.y[0] == -task.y[0]
    peer.prepare(task.tiny())
    assert peer.X.shape[0] == 20


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("engine", OURS)
def test_engines_certify_the_target(engine, intercept):
    solver = make_solver(engine)
    task = make_task(solver.losses[0], intercept=intercept)
    solver.warm_up(task)
    solver.prepare(task)
    solver.run(1e-4, 60.0, seed=0)
    assert task.objective(solver.weights()) <= optimum_of(task).certificate.dual * (1.0 + 1.1e-4)
    assert not solver.timed_out
    assert solver.ladder([1e-5, 1e-3]) == (1e-3, 1e-5)


def test_a_target_below_rounding_is_no_success(monkeypatch):
    certificate = SimpleNamespace(gap=2e-7)
    reached = SimpleNamespace(w=np.zeros(3), certificate=certificate, stop_reason="rounding")
    monkeypatch.setattr("hingeline.bench.solvers.solve_task", lambda *args, **kwargs: reached)
    solver = Hingeline("hybrid")
    solver.prepare(make_task())
    with pytest.raises(RuntimeError, match=r"ended by rounding at a gap of 2\.0e-07, asked for 1\.0e-09"):
        solver.run(1e-9, 60.0, seed=0)


def test_tiny_keeps_the_layout():
    task = make_task()
    task.X.indices, task.X.indptr = task.X.indices.astype(np.int64), task.X.indptr.astype(np.int64)
    task.X.data[:] = 1.0
    task.X.data[-1] = 2.0
    tiny = task.tiny(6)
    assert tiny.X.shape[0] == 6
    assert tiny.X.indices.dtype == tiny.X.indptr.dtype == np.int64
    assert set(tiny.y) == {-1.0, 1.0}
    assert not (tiny.X.data == 1.0).all()  # as in the whole


def test_what_an_engine_does_not_take_is_told():
    solver = Hingeline("newton_cg")
    solver.prepare(make_task("hinge"))
    with pytest.raises(Unsupported, match="smooth loss"):
        solver.run(1e-3, 1.0, seed=0)


def test_names(fake_peers):
    assert type(make_solver("fake_peer:Good")).__name__ == "Good"
    assert missing_package("fake_peer:Good") is None
    assert missing_package("no_such_package:Solver") == "no_such_package"
    with pytest.raises(ValueError, match=r"unknown solver 'svm'.*liblinear"):
        make_solver("svm")


def test_liblinears_word_for_its_limit(monkeypatch):
    from hingeline.bench import peer_solvers

    task = make_task()
    peer = make_solver("liblinear")
    peer.task = task
    peer.model = type("Model", (), {"w": np.ones(task.X.shape[1]), "label": [-1, 1]})
    monkeypatch.setattr(peer_solvers.np.ctypeslib, "as_array", lambda w, shape: w)
    for text, capped in ((f"....\nWARNING: {CAPPED}\n", True), ("optimization finished", False)):
        monkeypatch.setattr(peer_solvers, "printed", lambda text=text: text)
        assert (peer.weights() == -1.0).all()  # its weights are for the label it met first
        assert peer.capped is capped


def test_rows_are_checked_once_for_all_classes(monkeypatch):
    import hingeline.data.read

    checked, read_data = [], hingeline.data.read.read_data
    monkeypatch.setattr("hingeline.data.read.read_data", lambda X, bias: checked.append(bias) or read_data(X, bias))
    task = make_task()
    solver = Hingeline("hybrid")
    for _ in range(2):
        solver.begin()
        for y in (task.y, -task.y):
            solver.prepare(replace(task, y=y))
            solver.run(1e-3, 60.0, seed=0)
    assert checked == [0.0, 0.0]


def test_the_ladder_of_spark_is_numbers_of_iterations():
    iterations = [1.0 / tolerance for tolerance in make_solver("spark").ladder([1e-3])]
    assert iterations == sorted(iterations)
    assert all(abs(n - round(n)) < 1e-9 for n in iterations)
    assert max(b / a for a, b in pairwise(iterations)) < 2.0
