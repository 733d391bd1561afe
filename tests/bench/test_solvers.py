from types import SimpleNamespace

import numpy as np
import pytest
from bench.files import make_data
from problems import LOSSES

from hingeline import solve
from hingeline.bench.peer_solvers import CAPPED, PEERS
from hingeline.bench.solvers import ENGINES, Hingeline, Task, Unsupported, make_solver, missing_package


def make_task(loss="hinge", C=0.5, **kwargs):
    X, y = make_data(**kwargs)
    return Task(X, np.where(y == 2, 1.0, -1.0), C, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_hingelines(loss):
    task = make_task(loss)
    s = solve(task.X, task.y, LOSSES[loss](C=task.C), gap_tol=1e-6)
    assert task.objective(s.w) == pytest.approx(s.certificate.primal, rel=1e-12)


# Peers that are not installed are skipped here; what they minimise is checked wherever they are.
@pytest.mark.parametrize(
    ("name", "loss"), [(name, loss) for name, peer in PEERS.items() for loss in LOSSES if loss in peer.losses]
)
@pytest.mark.filterwarnings("ignore")
def test_peers_minimise_the_same_objective(name, loss):
    if missing_package(name):
        pytest.skip(f"{name} is not installed")
    task = make_task(loss)
    optimum = solve(task.X, task.y, LOSSES[loss](C=task.C), gap_tol=1e-9).certificate
    peer = make_solver(name)
    peer.warm_up(task)
    peer.prepare(task)
    peer.run(1e-6, 60.0, seed=0)
    value = task.objective(peer.weights())
    assert optimum.dual * (1.0 - 1e-9) <= value <= optimum.dual * (1.0 + 1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_certify_the_target(engine):
    task = make_task()
    solver = Hingeline(engine)
    solver.warm_up(task)
    solver.prepare(task)
    solver.run(1e-4, 60.0, seed=0)
    optimum = solve(task.X, task.y, LOSSES["hinge"](C=task.C), gap_tol=1e-9).certificate
    assert task.objective(solver.weights()) <= optimum.dual * (1.0 + 1.1e-4)
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
    X, y = make_data(n_rows=2500, n_cols=2500)
    solver = Hingeline("newton")
    solver.prepare(Task(X, np.where(y == 2, 1.0, -1.0), 1.0, "hinge"))
    with pytest.raises(Unsupported, match="columns"):
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
