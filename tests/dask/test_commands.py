"""A scheduler and workers that were started by Dask's own commands, as on a cluster."""

import subprocess
import sys

import numpy as np
import pytest
from distributed import Client
from scipy import sparse

import hingeline
import hingeline.dask as on_dask
from hingeline.io import dump_svmlight

QUIET = ("--no-dashboard", "--host", "127.0.0.1")


@pytest.fixture
def remote_client(tmp_path):
    """A client of a scheduler and two workers, each a process of its own."""
    file = str(tmp_path / "scheduler.json")
    command = [sys.executable, "-m", "dask"]
    worker = [*command, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", *QUIET]
    started = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
        for words in ([*command, "scheduler", "--scheduler-file", file, "--port", "0", *QUIET], worker, worker)
    ]
    try:
        with Client(scheduler_file=file, set_as_default=False, timeout="60s") as client:
            client.wait_for_workers(2, timeout=60)
            yield client
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_fit_on_a_scheduler_and_workers_of_their_own(remote_client, tmp_path):
    rng = np.random.default_rng(4)
    X = sparse.random(80, 12, 0.4, random_state=rng, format="csr")
    y = np.where(X @ rng.standard_normal(12) > 0.0, 1, -1)
    for k, rows in enumerate(np.array_split(np.arange(80), 3)):
        dump_svmlight(X[rows], y[rows], tmp_path / f"part-{k}.svm")
    x, labels = on_dask.read_svmlight(str(tmp_path / "part-*.svm"), n_features=12, client=remote_client)
    model = on_dask.LinearSVC(loss="hinge", solver="newton", gap_tol=1e-6, client=remote_client).fit(x, labels)
    local = hingeline.LinearSVC(loss="hinge", gap_tol=1e-6).fit(X, y)
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-5)
    predicted = model.predict(x).compute(scheduler=remote_client)
    np.testing.assert_array_equal(predicted, model.predict(X))
