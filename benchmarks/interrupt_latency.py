"""How long Ctrl-C takes: from the signal to the exception in the caller's hands, at several moments of each task.

Tasks are large enough to run for seconds. What they need is compiled first, by the same task on a few rows. The table
has the median and the worst time; the processor time of the worst one, which other work on the machine does not change;
and where it was noticed. 0.2 s are promised.

    python benchmarks/interrupt_latency.py [TASK ...] [--moments 8] [--scale 1.0]
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import statistics
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from scipy import sparse

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM, c_path
from hingeline.io import dump_svmlight, load_svmlight, write_dataset
from hingeline.io.dataset.convert import convert

LONGEST = 4.0  # seconds of a task within which moments are chosen
ENDLESS = {"tol": 1e-12, "random_state": 0}
RNG = np.random.default_rng(0)


def dense(n: int, d: int, dtype: Any = np.float64) -> np.ndarray:
    """Return neighbouring columns that nearly agree, which makes training long."""
    X = RNG.standard_normal((n, d), dtype=np.float32)
    return (X + np.roll(X, 1, axis=1)).astype(dtype)


def words(n: int, d: int, per_row: int = 40) -> Any:
    """Return sparse rows."""
    indices = RNG.integers(d, size=n * per_row, dtype=np.int32)
    return sparse.csr_matrix((RNG.random(indices.size), indices, np.arange(0, indices.size + 1, per_row)), shape=(n, d))


def labels(n: int, k: int = 2) -> np.ndarray:
    """Return random labels."""
    return RNG.integers(k, size=n)


def fit(model: Any, make: Callable[[int], Any], n: int, k: int = 2) -> tuple[Callable[[int], Any], int]:
    """Return a task: to fit a model to some rows."""
    return lambda rows: _fit(model, make(rows), labels(rows, k)), n


def _fit(model: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    return lambda: model.fit(X) if isinstance(model, OneClassSVM) else model.fit(X, y)


def loading(text: Callable[[Path], Any]) -> Callable[[int], Any]:
    """Return what does something with a file of so many rows."""

    def prepare(rows: int) -> Callable[[], Any]:
        folder = Path(tempfile.mkdtemp())
        dump_svmlight(words(rows, 50_000), labels(rows), folder / "data.svm")
        return lambda: text(folder / "data.svm")

    return prepare


def tasks() -> dict[str, tuple[Callable[[int], Any], int]]:
    """Return, by name, what makes a task of a number of rows, and that number."""

    def text_rows(n: int) -> Any:
        return words(n, 50_000)

    hinge = {"loss": "hinge", "C": 100.0, **ENDLESS}
    found = {
        f"{name}, sparse": fit(LinearSVC(solver=name, **hinge), text_rows, 200_000)
        for name in ("baseline", "avsf", "hybrid")
    }
    found |= {
        "hybrid, dense": fit(LinearSVC(solver="hybrid", **hinge), lambda n: dense(n, 100), 300_000),
        "newton, dense": fit(LinearSVC(solver="newton", **hinge), lambda n: dense(n, 100), 300_000),
        "newton, 2 threads": fit(LinearSVC(solver="newton", n_jobs=2, **hinge), lambda n: dense(n, 100), 300_000),
        "newton, 2000 columns": fit(LinearSVC(solver="newton", **hinge), lambda n: dense(n, 2000), 6_000),
        "newton, squared hinge": fit(LinearSVC(solver="newton", C=100.0, **ENDLESS), lambda n: dense(n, 500), 40_000),
        "newton_cg, sparse": fit(LogisticRegression(solver="newton_cg", C=1e4, **ENDLESS), text_rows, 200_000),
        "newton_cg, dense": fit(
            LogisticRegression(solver="newton_cg", C=1e4, **ENDLESS), lambda n: dense(n, 1500), 20_000
        ),
        "auto, sparse": fit(LinearSVC(C=100.0, **ENDLESS), text_rows, 200_000),
        "auto, ten classes": fit(LinearSVC(C=1.0, **ENDLESS), lambda n: dense(n, 200), 50_000, 10),
        "auto, ten classes, 2 threads": fit(LinearSVC(C=1.0, n_jobs=2, **ENDLESS), lambda n: dense(n, 200), 50_000, 10),
        "free intercept": fit(LinearSVC(fit_intercept="free", **hinge), lambda n: dense(n, 100), 100_000),
        "crammer_singer, dense": fit(
            LinearSVC(multi_class="crammer_singer", C=10.0, **ENDLESS), lambda n: dense(n, 50), 50_000, 10
        ),
        "crammer_singer, sparse": fit(
            LinearSVC(multi_class="crammer_singer", C=10.0, **ENDLESS), text_rows, 50_000, 20
        ),
        "l1, columns": fit(LinearSVC(penalty="l1", C=1.0, **ENDLESS), lambda n: dense(n, 1500), 20_000),
        "l1, few columns": fit(LinearSVC(penalty="l1", C=1.0, **ENDLESS), lambda n: dense(n, 100), 300_000),
        "l1, sparse": fit(LinearSVC(penalty="l1", C=1.0, **ENDLESS), text_rows, 200_000),
        "l1, logistic": fit(LogisticRegression(penalty="l1", C=1.0, **ENDLESS), text_rows, 200_000),
        "one class, dense": fit(OneClassSVM(nu=0.3, **ENDLESS), lambda n: dense(n, 50), 200_000),
        "one class, sparse": fit(OneClassSVM(nu=0.3, **ENDLESS), text_rows, 100_000),
        "regression": fit(LinearSVR(C=100.0, **ENDLESS), lambda n: dense(n, 200), 100_000),
        "regression, pinball": fit(LinearSVR(loss="pinball", quantile=0.9, C=100.0, **ENDLESS), text_rows, 100_000),
        "reading columns": fit(LinearSVC(max_iter=1), lambda n: np.asfortranarray(dense(n, 50)), 1_000_000),
        "reading integers": fit(LinearSVC(max_iter=1), lambda n: RNG.integers(100, size=(n, 50)), 1_000_000),
        "reading CSC": fit(LinearSVC(max_iter=1), lambda n: text_rows(n).tocsc(), 500_000),
        "reading COO": fit(LinearSVC(max_iter=1), lambda n: text_rows(n).tocoo(), 500_000),
        "cross-validation": fit(LinearSVCCV(Cs=np.logspace(-3, 3, 7), cv=3), text_rows, 100_000),
        "cross-validation, dense": fit(
            LinearSVCCV(Cs=np.logspace(-3, 3, 7), cv=3, n_jobs=2), lambda n: dense(n, 50), 100_000
        ),
        "path of C": (lambda n: _path(text_rows(n), 2 * labels(n) - 1), 100_000),
        "predict": (_predict, 4_000_000),
        "load text": (loading(lambda path: load_svmlight(path)), 300_000),
        "load text, 1 thread": (loading(lambda path: load_svmlight(path, n_threads=1)), 300_000),
        "convert": (loading(lambda path: convert(path, path.with_name(f"set{perf_counter()}"))), 300_000),
        "dump text": (lambda n: _dump(text_rows(n), labels(n)), 300_000),
        "write dataset": (lambda n: _write(text_rows(n), labels(n)), 1_000_000),
    }
    return found


def _path(X: Any, y: np.ndarray) -> Callable[[], Any]:
    return lambda: c_path(X, y, Cs=np.logspace(-3, 3, 13))


def _predict(n: int) -> Callable[[], Any]:
    model = LinearSVC(max_iter=1, tol=1e9).fit(words(100, 50_000), labels(100))
    X = words(min(n, 500_000), 50_000)
    return lambda: [model.predict(X) for _ in range(max(1, n // 500_000))]


def _dump(X: Any, y: np.ndarray) -> Callable[[], Any]:
    path = Path(tempfile.mkdtemp(), "data.svm.gz")
    return lambda: dump_svmlight(X, y, path)


def _write(X: Any, y: np.ndarray) -> Callable[[], Any]:
    path = Path(tempfile.mkdtemp(), "data")
    return lambda: write_dataset(path, X, y, force=True)


def interrupt(work: Callable[[], Any], after: float) -> tuple[float, float, str] | None:
    """Run, and send Ctrl-C after some seconds: wall and processor time until it arrived, and where; None: too late."""
    sent: list[tuple[float, float]] = []
    over = threading.Event()

    def send() -> None:
        sleep(after)
        if not over.is_set():
            sent.append((perf_counter(), process_time()))
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        work()
        over.set()
        sender.join()
    except KeyboardInterrupt as error:
        wall, cpu = perf_counter(), process_time()
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "hingeline" in frame.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}" if frames else "?"
        sender.join()
        return wall - sent[0][0], cpu - sent[0][1], place
    return None


def measure(prepare: Callable[[int], Any], rows: int, moments: int) -> tuple[float, list[tuple[float, float, str]]]:
    """Return how long a task runs, at most LONGEST, and what came of Ctrl-C at several moments of it."""
    prepare(min(rows, 300))()  # compiles
    work = prepare(rows)
    interrupt(work, 2 * LONGEST)  # compiles what only large problems need
    started = perf_counter()
    first = interrupt(work, LONGEST)
    seconds = min(LONGEST, perf_counter() - started)
    found = [] if first is None else [first]
    for k in range(moments):
        answer = interrupt(work, seconds * ((k + 0.5) / moments) ** 2)  # more of them early: setting up comes first
        if answer is not None:
            found.append(answer)
    return seconds, found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="parts of the names of tasks; all of them by default")
    parser.add_argument("--moments", type=int, default=8)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of rows")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'task':30} {'runs':>6} {'median':>7} {'worst':>7} {'cpu':>7}  where the worst one was noticed")
    for name, (prepare, rows) in tasks().items():
        if args.tasks and not any(part in name for part in args.tasks):
            continue
        seconds, found = measure(prepare, int(rows * args.scale), args.moments)
        gc.collect()
        if not found:
            print(f"{name:30} {seconds:5.2f}s: over before any Ctrl-C", flush=True)
            continue
        worst = max(found)
        print(
            f"{name:30} {seconds:5.2f}s {statistics.median(wall for wall, *_ in found):6.3f}s {worst[0]:6.3f}s "
            f"{worst[1]:6.3f}s  {worst[2]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
