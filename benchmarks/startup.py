"""Small things that users notice: importing, the first fit of a process and of a machine, iris, and scoring.

python benchmarks/startup.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from datasets import DATA_DIR, load
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC

IMPORT = """
from time import perf_counter
import numpy, scipy.sparse, sklearn.linear_model, sklearn.svm
started = perf_counter()
from hingeline import LinearSVC
print(perf_counter() - started)
"""

FIRST_FIT = """
from time import perf_counter, process_time
import numpy as np, scipy.sparse, sklearn.svm
from hingeline import LinearSVC
rng = np.random.default_rng(0)
X = scipy.sparse.random(20_000, 500, 0.02, format="csr", random_state=0)
y = np.sign(X @ rng.normal(size=500) + 1e-3)
seconds = []
for _ in range(2):
    started = np.array([perf_counter(), process_time()])
    LinearSVC({arguments}).fit(X, y)
    seconds.append(np.array([perf_counter(), process_time()]) - started)
print(*(seconds[0] - seconds[1]))
"""

NUMBA = "from hingeline.kernels import compiler; print(0)"


def printed(code: str, **variables: str) -> list[float]:
    """Run code in a new process that may keep bytecode, and return the numbers that it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**environment, **variables}, check=True, capture_output=True, text=True)
    return [float(number) for number in done.stdout.split()]


def first_fit(cache: str, arguments: str) -> list[float]:
    """Seconds that the first fit in a new process takes more than the second, which imports and loads nothing.

    By the clock, and of the processor: on a busy computer the two differ by far.
    """
    return printed(FIRST_FIT.format(arguments=arguments), NUMBA_CACHE_DIR=cache)


def median_of_pairs(ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median seconds of two calls that take turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    ours(), theirs()
    for _ in range(repeat):
        for call, kept in zip((ours, theirs), seconds, strict=True):
            started = perf_counter()
            call()
            kept.append(perf_counter() - started)
    return float(np.median(seconds[0])), float(np.median(seconds[1]))


def main() -> None:
    """Print each figure on a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    args = parser.parse_args()

    printed(IMPORT)  # writes bytecode
    seconds = np.median([printed(IMPORT)[0] for _ in range(5)])
    print(f"from hingeline import LinearSVC: +{seconds:.3f} s beyond NumPy, SciPy and scikit-learn")

    printed(NUMBA)  # writes bytecode too, and reads LLVM from disk: otherwise the first fit below would pay for both
    for arguments in ('loss="hinge", C=0.01, tol=0.1', "C=0.01, tol=0.1"):
        compiled = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as cache:
                compiled.append(first_fit(cache, arguments))
                cached = np.min([first_fit(cache, arguments) for _ in range(5)], axis=0)
        wall, cpu = np.min(compiled, axis=0)
        print(f"first fit, LinearSVC({arguments}), best of several, by the clock and of the processor:")
        print(f"  +{wall:.2f} s ({cpu:.2f} s) on a new machine, +{cached[0]:.3f} s ({cached[1]:.3f} s) from the cache")

    X, y = load_iris(return_X_y=True)
    ours, theirs = median_of_pairs(lambda: LinearSVC().fit(X, y), lambda: SklearnLinearSVC().fit(X, y), 300)
    print(f"iris, warm: {ours * 1e3:.2f} ms, scikit-learn {theirs * 1e3:.2f} ms, {ours / theirs:.2f}x")

    X, y = load("debian_paths", args.data_dir, np.float32)
    model = LinearSVC(loss="hinge", solver="avsf", tol=0.5).fit(X, y)
    peer = model.to_sklearn()
    ours, theirs = median_of_pairs(lambda: model.decision_function(X), lambda: peer.decision_function(X), 7)
    assert np.allclose(model.decision_function(X), peer.decision_function(X))
    print(f"decision_function, debian_paths float32: {ours:.3f} s, scikit-learn {theirs:.3f} s, {ours / theirs:.2f}x")


if __name__ == "__main__":
    main()
