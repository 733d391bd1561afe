"""Run by test_out_of_core.py in a separate process: a fit without end from files, and Ctrl-C in its middle."""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse

from hingeline import LinearSVC

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
X, y = sparse.csr_array(rng.normal(size=(3000, 40)).astype(np.float32)), rng.integers(2, size=3000)
for name in ("data", "indices", "indptr"):
    np.save(folder / name, getattr(X, name))
    setattr(X, name, np.load(folder / f"{name}.npy", mmap_mode="r"))
os.environ["HINGELINE_MEMORY"] = "500K"
LinearSVC(loss="hinge", C=1e-4, tol=1.0).fit(X, y)  # compiled now
sent = []


def send():
    """Press Ctrl-C."""
    sent.append(perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


threading.Timer(0.4, send).start()
seconds = None
try:
    LinearSVC(loss="hinge", C=1e4, tol=1e-12).fit(X, y)
except KeyboardInterrupt:
    seconds = perf_counter() - sent[0]
print(json.dumps({"seconds": seconds, "threads": threading.active_count()}))
