"""What goes wrong on a cluster: workers die or come, the user gives up, versions differ."""

import os
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fault_rows import row
from problems import classification, csr
from processes import started

from hingeline import Hinge, solve
from hingeline.dask import versions
from hingeline.dask.partitions import place
from hingeline.dask.target import Binary
from hingeline.dask.train import train

N, D = 3000, 20
METHODS = {"newton": Hinge(1.0), "cocoa": Hinge(0.1)}  # all of them: benchmarks/dask_faults.py


def made(begin, end):
    """Return rows begin to end of the same data, whichever worker asks."""
    X, y = classification(N, D, seed=5, density=0.5)
    return csr(X)[begin:end], y[begin:end]


@pytest.fixture
def partitions(client):
    bounds = [0, 900, 1800, 2500, N]
    pieces = [(client.submit(made, a, b, pure=False), None, None) for a, b in pairwise(bounds)]
    return place(client, pieces)


def back_to_two(cluster, client):
    """Wait until the cluster has two workers and is about to start or close none: other tests use it too."""
    cluster.scale(2)
    deadline = time.monotonic() + 60.0
    while set(cluster.workers) != set(cluster.worker_spec) or len(client.scheduler_info(n_workers=-1)["workers"]) != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill_one(client):
    """Kill a worker, as if its machine had lost power; its nanny starts another one."""
    pids = client.run(os.getpid)
    os.kill(pids[min(pids)], signal.SIGKILL)


@row("dask-lost")
@pytest.mark.parametrize("method", METHODS)
def test_a_worker_that_dies_costs_its_rows_and_nothing_else(cluster, client, partitions, method):
    loss, killed = METHODS[method], []

    def callback(progress):
        if not killed:
            killed.append(True)
            kill_one(client)

    found = train(partitions, Binary(1), loss, solver=method, gap_tol=1e-5, callback=callback)
    X, y = classification(N, D, seed=5, density=0.5)
    alone = solve(csr(X), y, loss, gap_tol=1e-7).certificate
    assert found.stop_reason == "gap_tol"
    assert found.certificate.gap <= 1e-5
    assert alone.dual * (1.0 - 1e-9) <= found.certificate.primal <= alone.primal * (1.0 + 2e-5)
    alpha = np.concatenate(client.gather(found.alpha))
    assert alpha.shape == (N,)
    back_to_two(cluster, client)


@row("dask-scattered")
def test_rows_that_cannot_be_made_again(cluster, client):
    workers = sorted(client.scheduler_info()["workers"])
    halves = [made(0, 900), made(900, N)]
    pieces = [
        (client.scatter(half, workers=[home], hash=False), None, None)
        for half, home in zip(halves, workers, strict=True)
    ]

    killed = []

    def callback(progress):
        if not killed:  # nobody can ask a worker that has just died for its number
            killed.append(True)
            kill_one(client)

    with pytest.raises(RuntimeError, match="Dask cannot recompute them"):
        train(place(client, pieces), Binary(1), Hinge(1.0), solver="newton", gap_tol=1e-9, callback=callback)
    back_to_two(cluster, client)


@row("dask-added")
def test_workers_that_come_do_no_harm(cluster, client, partitions):
    def callback(progress):
        if progress.n_iter == 1:
            cluster.scale(3)

    try:
        found = train(partitions, Binary(1), Hinge(1.0), solver="newton", gap_tol=1e-5, callback=callback)
        assert found.certificate.gap <= 1e-5
    finally:
        back_to_two(cluster, client)


def tasks_of(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


@row("dask-interrupt")
@pytest.mark.parametrize("method", ["newton", "one_worker"])
def test_ctrl_c_leaves_nothing_behind(client, partitions, method):
    begun = []

    def callback(progress):
        begun.append(time.perf_counter())
        raise KeyboardInterrupt

    before = set(client.run_on_scheduler(tasks_of))  # models of other tests may still be there
    with pytest.raises(KeyboardInterrupt):
        train(partitions, Binary(1), Hinge(1.0), solver=method, gap_tol=1e-9, callback=callback)
    assert not left_since(client, before)
    assert time.perf_counter() - begun[0] < 20.0  # seconds, on a busy machine


def left_since(client, before):
    """Return the tasks of fits that have come since, and do not go away."""
    for _ in range(100):
        new = set(client.run_on_scheduler(tasks_of)) - before
        left = [key for key in new if key.startswith(("hingeline-rows", "hingeline-dual"))]
        if not left:
            break
        time.sleep(0.02)
    return left


def test_a_signal_in_the_middle_of_a_round(cluster, client):
    before = set(client.run_on_scheduler(tasks_of))
    command = [sys.executable, str(Path(__file__).with_name("interrupted_fit.py")), cluster.scheduler_address]
    with started(command, stderr=None) as process:
        assert process.stdout.readline() == "round\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)  # seconds, on a busy machine
    assert rest.splitlines()[-1] == "interrupted"
    assert process.returncode == 0
    assert not left_since(client, before)


@row("dask-version")
def test_workers_of_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr(versions, "__version__", "99.0")
    with pytest.raises(RuntimeError, match=r"has hingeline .*, but the client has 99.0: install the same version"):
        place(client, [(client.submit(made, 0, 10), None, None)])
