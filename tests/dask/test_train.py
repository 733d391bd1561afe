"""Training on a real cluster of processes: the same optimum as on one machine, with an exact certificate."""

from itertools import pairwise

import numpy as np
import pytest
from dask_stand_in import HostsHere, partitioned
from distributed import Client, LocalCluster
from problems import classification, csr, regression

from hingeline import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, solve
from hingeline.dask import rounds
from hingeline.dask.partitions import place
from hingeline.dask.resident import Resident
from hingeline.dask.rounds import LOST
from hingeline.dask.spec import Spec
from hingeline.dask.target import Binary, Targets
from hingeline.dask.train import ClusterRun, DaskTraining, hosts_of, train
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.random import seeded
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import ALONE
from hingeline.solvers.certificate import refresh
from hingeline.solvers.clock import Clock, Ended
from hingeline.solvers.select import Phase
from hingeline.solvers.solve import checked_stop
from hingeline.solvers.state import State

N, D, K = 1200, 6, 5


def rows_of(array, begin, end):
    return array[begin:end]


def cut(client, X, y, weights=None, k=K):
    """Return rows as partitions of different sizes, on all workers in turn."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    bounds = [0, *sorted(np.random.default_rng(0).integers(1, len(y), k - 1)), len(y)]
    arrays = [X, y] if weights is None else [X, y, weights]
    pieces = [
        [client.submit(rows_of, array, a, b, pure=False, workers=[workers[i % len(workers)]]) for array in arrays]
        for i, (a, b) in enumerate(pairwise(bounds))
    ]
    pieces = [piece if len(piece) == 3 else [*piece, None] for piece in pieces]
    return place(client, pieces), bounds


PROBLEMS = {
    "hinge": (Hinge(1.0), "newton"),
    "hinge by rounds of ascent": (Hinge(0.1), "cocoa"),
    "squared hinge": (SquaredHinge(1.0), "newton_cg"),
    "hinge on one worker": (Hinge(1.0), "one_worker"),
    "logistic": (Logistic(1.0), "newton"),
    "epsilon-insensitive": (EpsilonInsensitive(1.0, 0.1), "newton"),
}


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", PROBLEMS)
def test_same_optimum_as_on_one_machine(client, name, free):
    loss, solver = PROBLEMS[name]
    if free and solver == "cocoa":
        pytest.skip("Newton's method alone can leave the intercept out of the regulariser")
    X, y = (regression if loss.is_regression else classification)(N, D, seed=1)
    if loss.is_regression:
        y = y + 1e3
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.0], N)
    partitions, bounds = cut(client, csr(X) if name == "logistic" else X, y, weights)
    how = {"gap_tol": 1e-6, "bias": 1.0}
    target = Targets() if loss.is_regression else Binary(1)
    found = train(partitions, target, loss, solver=solver, free=free, **how)
    alone = solve(X, y, loss, sample_weight=weights, free_intercept=free, **how)
    assert found.stop_reason == "gap_tol"
    assert found.certificate.gap <= 1e-6
    assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(found.w, alone.w, atol=2e-2)
    alpha = client.gather(found.alpha)
    assert [len(part) for part in alpha] == list(np.diff(bounds))
    if not free:  # the dual value by its definition, from what is returned
        a, s = np.concatenate(alpha), np.ones(N) if loss.is_regression else y
        v = np.append(X.T @ (a * s), np.sum(a * s))
        assert found.certificate.dual <= found.certificate.primal
        if isinstance(loss, Hinge):
            assert a.sum() - 0.5 * v @ v == pytest.approx(found.certificate.dual, rel=1e-8)


def test_history_tells_what_rounds_cost(client):
    X, y = classification(N, D, seed=2)
    seen = []
    found = train(cut(client, X, y)[0], Binary(1), Hinge(1.0), solver="newton", gap_tol=1e-4, callback=seen.append)
    assert len(found.history) == found.n_iter == len(seen)
    for name in ("seconds", "computing", "communicating", "bytes"):
        assert (np.diff(found.history[name]) >= 0).all()
        assert found.history[name][-1] > 0
    assert seen[-1].traffic.bytes == found.history["bytes"][-1]


def test_one_worker_tells_how_far_it_has_come(client):
    X, y = classification(N, D, seed=2)
    seen = []
    found = train(cut(client, X, y)[0], Binary(1), Hinge(1.0), solver="one_worker", gap_tol=1e-4, callback=seen.append)
    assert 0 < len(seen) <= found.n_iter
    assert seen[-1].n_iter == found.n_iter
    assert found.history["bytes"][-1] >= X.nbytes // 2


def test_large_results_go_up_a_tree(monkeypatch):
    """Five workers in this process: what a tree of them adds up is what the client would."""
    X, y = classification(N, D, seed=4)
    found = []
    with (
        LocalCluster(n_workers=5, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        partitions, _ = cut(client, X, y, k=7)
        for n_bytes in (0, 1 << 40):
            monkeypatch.setattr(rounds, "TREE_BYTES", n_bytes)
            found.append(train(partitions, Binary(1), SquaredHinge(1.0), solver="newton", gap_tol=1e-8))
    assert found[0].history["bytes"][-1] < found[1].history["bytes"][-1]  # the client receives one result, not five
    np.testing.assert_allclose(found[0].w, found[1].w, rtol=1e-6)
    assert found[0].certificate.primal == pytest.approx(found[1].certificate.primal, rel=1e-9)


def test_targets_far_from_zero(client):
    """A free intercept follows them: they are measured from a level that the workers agree on."""
    X, y = regression(N, D, seed=6)
    loss = EpsilonInsensitive(1.0, 0.1)
    near = train(cut(client, X, y)[0], Targets(), loss, free=True, solver="newton", gap_tol=1e-5)
    far = train(cut(client, X, y + 1e8)[0], Targets(), loss, free=True, solver="newton", gap_tol=1e-5)
    assert far.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-4)
    assert far.intercept - 1e8 == pytest.approx(near.intercept, abs=0.05)


def test_one_worker_keeps_what_it_has_gathered(client):
    """Problems on the same rows that differ in C, in their target or in weights."""
    X, y = classification(N, D, seed=7)
    partitions, _ = cut(client, X, y)
    for C, positive, class_weight in ((1.0, 1, None), (0.1, 1, None), (0.1, -1, None), (0.1, 1, (1.0, 5.0))):
        found = train(
            partitions, Binary(positive), Hinge(C), class_weight=class_weight, solver="one_worker", gap_tol=1e-6
        )
        labels = np.where(y == positive, 1, -1)
        weights = None if class_weight is None else np.where(labels > 0, 5.0, 1.0)
        alone = solve(X, labels, Hinge(C), sample_weight=weights, gap_tol=1e-6)
        assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)


class LosesRows(HostsHere):
    """Hosts here that lose the rows of one of them in some round: a new one knows w, and the width of the smoothing."""

    def lose_in(self, number):
        self.number, self.asked = number, []
        self.costs.rounds = 0

    def moved(self, name, w, delta):
        self.w, self.delta = w, delta

    def ask(self, name, calls, expected_bytes=0):
        self.asked += [verb for verb, _ in calls]
        if self.costs.rounds == self.number:
            self.costs.rounds += 1
            self.asked.append(LOST)
            old = self.residents[0]
            new = Resident(dict(zip(old.numbers, old._problems, strict=True)), ALONE, do_nothing)
            new.revive(self.w, self.delta)
            self.residents[0] = new
            raise Ended(LOST)
        return super().ask(name, calls, expected_bytes)


@pytest.mark.parametrize("loss", [Hinge(1.0), SquaredHinge(1.0)])
def test_training_goes_on_where_it_was_when_rows_are_lost(loss):
    X, y = classification(N, D, seed=3)
    problem = make_problem(read_data(X, 1.0), y.astype(np.float32), None, loss)
    verbs, found = [], []
    for number in (10**6, 6):
        shards = partitioned(problem, np.zeros(N), [0, 400, 800, N])
        hosts = shards.hosts = LosesRows(shards.hosts.residents, D, shards.hosts.spec)
        hosts.lose_in(number)
        stop = checked_stop(1e-3, 1e-8, None, None)
        state = State(shards, shards.summary.problem(hosts.spec, D), np.empty(0), np.zeros(D + 1), seeded(0))
        run = ClusterRun(stop, Clock(None, None), lambda pace, state=state: refresh(state, 0), lambda: 0.0)
        found.append(DaskTraining([Phase("newton", stop)], state, run).solution())
        verbs.append(hosts.asked)
    assert [one.stop_reason for one in found] == ["gap_tol", "gap_tol"]
    assert found[1].certificate.primal == pytest.approx(found[0].certificate.primal, rel=1e-7)
    after = verbs[1][verbs[1].index(LOST) + 1 :]
    assert after[0] == "begin"  # nothing is certified before, which would make the dual variables of the others zero
    assert len(verbs[1]) <= 1.5 * len(verbs[0])


def test_one_worker_goes_on_from_weights_that_another_had_reached(client):
    X, y = classification(N, D, seed=7)
    partitions, _ = cut(client, X, y)
    spec, stop = Spec(Binary(1), SquaredHinge(100.0)), checked_stop(1e-3, 1e-6, None, None)
    whole = train(partitions, Binary(1), SquaredHinge(100.0), solver="one_worker", gap_tol=1e-6)
    hosts = hosts_of(partitions)
    name, _ = hosts.open(spec, np.zeros(D + 1))
    hosts._reached[name] = np.append(whole.w, 0.0)
    again = hosts.solve_whole(name, stop, False, 0, None)
    assert again.certificate.gap <= 1e-6
    assert again.solver == "newton"
    assert again.n_iter <= 2
    assert again.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("solver", ["newton", "one_worker"])
def test_another_C_costs_no_round_of_its_own(client, solver):
    """Hosts begin a problem with its first round if only C has changed: its sizes are known."""
    X, y = classification(N, D, seed=8)
    partitions, _ = cut(client, X, y)
    rounds_of = []
    for C in (1.0, 1.0, 0.1):
        found = train(partitions, Binary(1), SquaredHinge(C), solver=solver, gap_tol=1e-6)
        rounds_of.append(hosts_of(partitions).costs.rounds)
        alone = solve(X, y, SquaredHinge(C), gap_tol=1e-6)
        assert found.certificate.gap <= 1e-6
        assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)
    assert rounds_of[1] == rounds_of[0] - 1


def test_the_seed_decides_the_order_of_visits(client):
    X, y = classification(N, 3000, seed=8, density=0.01)
    partitions, _ = cut(client, csr(X), y)
    found = [train(partitions, Binary(1), Hinge(0.1), solver="one_worker", gap_tol=1e-3, seed=k) for k in (5, 5, 6)]
    assert {one.solver for one in found} == {"hybrid"}
    np.testing.assert_array_equal(found[0].w, found[1].w)
    assert (found[0].w != found[2].w).any()
