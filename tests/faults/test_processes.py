"""Other processes and threads, and a world that changes during a fit."""

import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import processes
import pytest
from fault_rows import row, rows_of

import hingeline
from hingeline import LinearSVC
from hingeline.io import open_dataset, write_dataset

HERE = Path(__file__).resolve().parent
CHILDREN = ["fork", "pool-fork", "pool-spawn", "pool-forkserver", "joblib", "threads"]
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="os.fork is not there")


@on_posix
@rows_of("process", CHILDREN)
def test_fits_in_children_of_all_kinds():
    """All in one process, since importing takes longer than the fits."""
    done = processes.run([sys.executable, HERE / "in_processes.py", *CHILDREN], timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [word for name in CHILDREN for word in (name, "True")]


SOURCE = """
from hingeline.kernels.compile import kernel

@kernel
def twice(x):
    return x + x
"""
CALL = """
import sys, threading, numbers_of_test
print("ready", flush=True)
sys.stdin.readline()
found = []
for value in (3, 0.5, 3, 0.5):
    threading.Thread(target=lambda x: found.append(numbers_of_test.twice(x)), args=(value,)).start()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
assert sorted(found) == [1.0, 1.0, 6, 6], found
print("right")
"""


@row("process-compiling")
def test_threads_and_processes_that_compile_at_once(tmp_path):
    (tmp_path / "numbers_of_test.py").write_text(SOURCE)
    package = Path(hingeline.__file__).resolve().parent.parent
    paths = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{package}", "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    for out, error in processes.two_at_once([sys.executable, "-c", CALL], env={**os.environ, **paths}):
        assert (out, error) == ("right\n", "")
    assert len(list((tmp_path / "kernels").rglob("*.nbc"))) == 2
    assert not list((tmp_path / "kernels").rglob("*.part"))


@pytest.fixture
def dataset(tmp_path):
    rng = np.random.default_rng(0)
    write_dataset(tmp_path / "dataset", rng.normal(size=(400, 5)), rng.integers(2, size=400))
    return tmp_path / "dataset"


@row("dataset-deleted")
def test_a_dataset_that_is_deleted_during_a_fit(dataset):
    X, y = open_dataset(dataset)
    model = LinearSVC(loss="hinge", solver="hybrid", gap_tol=1e-9)
    model.set_callbacks(lambda progress: shutil.rmtree(dataset, ignore_errors=True))
    model.fit(X, y)
    assert model.converged_
    assert not dataset.exists()


SHORTEN = """
import sys
from hingeline.io import open_dataset
X, y = open_dataset(sys.argv[1])
open(sys.argv[1] + "/data.npy", "w").close()
print(X.sum())
"""


@on_posix
@row("dataset-shortened")
def test_a_dataset_that_is_shortened_during_a_fit(dataset):
    done = processes.run([sys.executable, "-c", SHORTEN, dataset])
    assert done.returncode == -signal.SIGBUS
