"""Tiny data files and fake solvers that the tests of the benchmarks share."""

import gzip
import lzma
import os

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from hingeline.bench.worker import events

OPENERS = {"": open, ".gz": gzip.open, ".xz": lzma.open}

# A solver of one's own, in the file fake_peer.py: gradient descent that is exact enough, and ways to misbehave.
FAKE = """
import time
import numpy as np
from hingeline.bench.solvers import Solver, solve_task


class Good(Solver):
    package = "fake_peer"

    def run(self, tolerance, max_time, seed):
        s = solve_task(self.task, "hybrid", gap_tol=tolerance, random_state=seed)
        self.w = np.append(s.w, s.intercept) if self.task.intercept else s.w

    def weights(self):
        return self.w


class Sleepy(Good):
    def run(self, tolerance, max_time, seed):
        if tolerance < 0.5:
            time.sleep(600)
        super().run(tolerance, max_time, seed)


class Capped(Good):
    capped = True

    def run(self, tolerance, max_time, seed):
        self.w = np.zeros(self.task.X.shape[1])


class Other(Good):
    def run(self, tolerance, max_time, seed):
        super().run(tolerance, max_time, seed)
        self.w = self.w * 3.0


class LateInClass1(Good):
    def run(self, tolerance, max_time, seed):
        super().run(1e-6, max_time, seed)
        self.timed_out = (self.task.y > 0.0).sum() == 20  # the second of three


class Crash(Good):
    def prepare(self, task):
        raise RuntimeError("no licence")


class Abort(Good):
    def prepare(self, task):
        import os
        os._exit(7)


class NoHinge(Good):
    losses = ("squared_hinge",)
"""


def make_data(n_rows=120, n_cols=15, seed=0, classes=2):
    """Return X and the labels 1 and 2, or 1, 2, 3 of half, a sixth and a third of the rows."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n_rows, n_cols, density=0.4, random_state=rng, format="csr")
    score = X @ rng.normal(size=n_cols) + 0.3 * rng.normal(size=n_rows)
    if classes == 2:
        return X, np.where(score > 0.0, 2, 1)
    rank = np.argsort(np.argsort(score))
    return X, 1 + (rank >= n_rows // 2) + (rank >= n_rows // 2 + n_rows // 6)


def write_data(path, **kwargs):
    X, y = make_data(**kwargs)
    with OPENERS[path.suffix if path.suffix in OPENERS else ""](path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False)
    return X, y


def run_here(job):
    """Return the events of a job without a separate process: quicker, if processes are not the point."""
    return [event for event in events(job) if event["event"] != "limit"]


def install_fake_peers(folder, monkeypatch):
    """Make the module ``fake_peer`` importable here and in workers."""
    folder.mkdir()
    (folder / "fake_peer.py").write_text(FAKE)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
