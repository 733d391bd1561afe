"""Run by test_interrupt.py in a separate process: fits without end, and Ctrl-C in the middle of each.

Prints, a line a case, what came of it as JSON.
"""

import json
import os
import signal
import sys
import threading
from time import perf_counter

import numpy as np
from sklearn.base import clone

from hingeline import LinearSVC, LogisticRegression, OneClassSVM

AFTER_SECONDS = 0.02  # after the first sweep: between two calls of compiled code, or within one


def hard_problem(n_classes):
    """Return random labels: a tight tolerance at a large C takes minutes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(3000, 40)), rng.integers(n_classes, size=3000)


def interrupt(model, X, y):
    """Fit, be interrupted soon after the first sweep, and return how long that took: None if the fit was over."""
    sent, first = [], threading.Lock()

    def send():
        sent.append(perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(AFTER_SECONDS, send)
    model.set_callbacks(lambda progress: timer.start() if first.acquire(blocking=False) else None)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        return perf_counter() - sent[0]
    timer.cancel()
    return None


def learned(model):
    """Return all that a model has learned."""
    return {name: repr(value) for name, value in vars(model).items() if name.endswith("_")}


def report(case, model, easy, X, y):
    """Interrupt a new model and a trained one, and print what came of it."""
    hard = {name: model.get_params()[name] for name in easy}
    trained = clone(model).set_params(**easy).fit(X, y)  # compiled now
    seconds = interrupt(model, X, y)
    if "warm_start" in model.get_params():
        trained.set_params(warm_start=True)
    before = learned(trained)
    seconds_trained = interrupt(trained.set_params(**hard), X, y)
    found = {
        "case": case,
        "seconds": [seconds, seconds_trained],
        "unfitted": not learned(model),
        "as it was": learned(trained) == before and bool(before),
        "threads": threading.active_count(),
    }
    print(json.dumps(found), flush=True)


def badly_scaled(n, d):
    """Return random labels, and features of sizes so different that conjugate gradients take long."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, d)) * np.logspace(-2, 2, d)).astype(np.float32), rng.integers(2, size=n)


def correlated(n, d, n_classes=2):
    """Return random labels and random walks: neighbouring columns nearly agree, which no diagonal can mend."""
    rng = np.random.default_rng(0)
    return np.cumsum(rng.normal(size=(n, d)), axis=1).astype(np.float32), rng.integers(n_classes, size=n)


EASY, ENDLESS = {"C": 1e-4, "tol": 1.0}, {"C": 1e4, "tol": 1e-12, "random_state": 0}
OTHERS = {  # models of engines that are not chosen by ``solver`` alone, and data that keeps them busy
    "crammer_singer": (LinearSVC(multi_class="crammer_singer", **ENDLESS), EASY, lambda: hard_problem(5)),
    "primal": (LinearSVC(penalty="l1", **ENDLESS), EASY, lambda: badly_scaled(20_000, 600)),
    "newton_cg": (LogisticRegression(solver="newton_cg", **ENDLESS), EASY, lambda: correlated(10_000, 1_500)),
    "multinomial": (LogisticRegression(solver="newton_cg", **ENDLESS), EASY, lambda: correlated(5_000, 800, 3)),
    "free_intercept": (
        LinearSVC(loss="hinge", solver="hybrid", fit_intercept="free", **ENDLESS),
        EASY,
        lambda: hard_problem(2),
    ),
    "one_class": (
        OneClassSVM(nu=0.5, tol=1e-14, solver="avsf", random_state=0),
        {"tol": 1e9},
        lambda: badly_scaled(20_000, 40),
    ),
}

for name in sys.argv[1:]:
    if name in OTHERS:
        model, easy, data = OTHERS[name]
        report(name, model, easy, *data())
        continue
    for n_classes, n_jobs in ((2, None), (3, 2))[: 2 if name == "hybrid" else 1]:
        model = LinearSVC(loss="hinge", solver=name, n_jobs=n_jobs, **ENDLESS)
        report(f"{name}, {n_classes} classes", model, EASY, *hard_problem(n_classes))
