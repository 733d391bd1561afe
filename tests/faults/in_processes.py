"""Run by test_processes.py in a separate process: fits in children of all kinds. Prints a line for each."""

import multiprocessing
import os
import sys
import threading
import warnings

import numpy as np

import hingeline.runtime.threads as threads_module
from hingeline import LinearSVC

threads_module.WORTH_SHARING = 1  # so that small problems have threads
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 5)), RNG.integers(2, size=200)


def train(n_jobs=2):
    """Return the weights of a fit on two threads, rounded."""
    return np.round(LinearSVC(n_jobs=n_jobs, gap_tol=1e-9).fit(X, Y).coef_, 5).tolist()


def forked():
    """Fit in a child of os.fork, which inherits no threads."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(train()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return eval(os.read(reader, 10_000).decode())


def in_a_pool(method):
    """Fit in a worker of multiprocessing."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply_async(train).get(timeout=100)


def in_joblib():
    """Fit in a worker of joblib's, and get the fitted model back."""
    from joblib import Parallel, delayed

    model = LinearSVC(gap_tol=1e-9)
    found = Parallel(n_jobs=2)(delayed(model.fit)(X, Y) for _ in range(2))
    assert found[0].duality_gap_ <= 1e-9
    return np.round(found[1].coef_, 5).tolist()


def in_threads():
    """Fit in several threads at once."""
    found = []
    workers = [threading.Thread(target=lambda: found.append(train())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert all(weights == found[0] for weights in found)
    return found[0]


CASES = {
    "fork": forked,
    "pool-fork": lambda: in_a_pool("fork"),
    "pool-spawn": lambda: in_a_pool("spawn"),
    "pool-forkserver": lambda: in_a_pool("forkserver"),
    "joblib": in_joblib,
    "threads": in_threads,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
    EXPECTED = train()
    for name in sys.argv[1:]:
        print(name, CASES[name]() == EXPECTED, flush=True)
