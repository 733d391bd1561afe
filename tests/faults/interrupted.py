"""Run by test_interrupt.py in a process of its own: fits without end, and Ctrl-C in the midst of each.

Prints, a line a case, what came of it as JSON.
"""

import json
import os
import signal
import sys
import threading
from time import perf_counter

import numpy as np

from hingeline import LinearSVC

AFTER_SECONDS = 0.4  # long after validation, long before the end


def hard_problem(n_classes):
    """Return random labels: a tight tolerance at a large C takes minutes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(3000, 40)), rng.integers(n_classes, size=3000)


def interrupt(model, X, y):
    """Fit, be interrupted, and return how long that took (None where the fit ended by itself)."""
    sent = []

    def send():
        sent.append(perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(AFTER_SECONDS, send)
    timer.start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        return perf_counter() - sent[0]
    timer.cancel()
    return None


def learned(model):
    """Return all that a model has learned."""
    return {name: repr(value) for name, value in vars(model).items() if name.endswith("_")}


for solver in sys.argv[1:]:
    for n_classes, n_jobs in ((2, None), (3, 2)):
        X, y = hard_problem(n_classes)
        model = LinearSVC(loss="hinge", solver=solver, C=1e4, tol=1e-12, n_jobs=n_jobs, random_state=0)
        easy = {"C": 1e-4, "tol": 1.0}
        LinearSVC(**{**model.get_params(), **easy}).fit(X, y)  # compiled now
        seconds = interrupt(model, X, y)
        warm = LinearSVC(**{**model.get_params(), **easy, "warm_start": True}).fit(X, y)
        before = learned(warm)
        seconds_warm = interrupt(warm.set_params(C=1e4, tol=1e-12), X, y)
        report = {
            "case": f"{solver}, {n_classes} classes",
            "seconds": [seconds, seconds_warm],
            "unfitted": not learned(model),
            "as it was": learned(warm) == before and bool(before),
            "threads": threading.active_count(),
        }
        print(json.dumps(report), flush=True)
