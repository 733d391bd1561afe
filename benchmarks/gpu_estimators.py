"""Whole calls of ``fit`` with arrays on a GPU, warm: searches for C, many problems at once, and sparse text.

Text is also trained on one thread of the CPU. Data sets are svmlight files, found by their names in --data-dir.

    SCIPY_ARRAY_API=1 python benchmarks/gpu_estimators.py --data-dir data search together text
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
import torch

from hingeline import LinearSVC, LinearSVCCV, LogisticRegression
from hingeline.arrays.batch import train_together
from hingeline.arrays.problem import make_array_problem
from hingeline.arrays.rows import array_rows
from hingeline.bench.datasets import find
from hingeline.io import load_svmlight
from hingeline.kernels.losses import Logistic, SquaredHinge
from hingeline.solvers.stop import Stop

REPEATS = 5
DIGITS = 60_000  # rows; digits that are repeated get some noise


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the median seconds of a call, and its last result; the first one may compile."""
    taken = []
    for _ in range(1 + REPEATS):
        torch.cuda.synchronize()
        begun = perf_counter()
        result = work()
        torch.cuda.synchronize()
        taken.append(perf_counter() - begun)
    return float(np.median(taken[1:])), result


def read(folder: Path, *names: str) -> tuple[Any, np.ndarray]:
    """Return a data set of two classes or more, by one of its names."""
    X, y = load_svmlight(find(folder, names)[0][0].path)
    return X, np.unique(y, return_inverse=True)[1]


def search(folder: Path) -> None:
    """Choose among six C by five folds."""
    X, y = read(folder, "covtype")
    there = torch.asarray(X.toarray()).cuda(), torch.asarray(y).cuda()
    for loss in ("squared_hinge", "hinge"):
        model = LinearSVCCV(Cs=np.logspace(-2, 3, 6), cv=5, loss=loss, early_stopping=False)
        taken, found = seconds(partial(model.fit, *there))
        print(f"search, {loss}: {taken:.3f} s, C = {found.C_:g}, largest gap {float(found.fit_gaps_.max()):.1e}")


def together(folder: Path) -> None:
    """Train ten classes at six C, all of them at once, to a gap of 1e-3."""
    X, y = read(folder, "mnist", "mnist20k")
    dense, rng = X.toarray(), np.random.default_rng(0)
    times = -(-DIGITS // len(dense))
    noise = rng.normal(0.0, 0.05, (times * len(dense), dense.shape[1]))
    noise[: len(dense)] = 0.0
    dense = np.tile(dense, (times, 1))
    dense, y = (dense + (dense > 0.0) * noise)[:DIGITS], np.tile(y, times)[:DIGITS]
    labels = torch.asarray(y).cuda()
    signs = [torch.where(labels == k, 1.0, -1.0).to(torch.float64) for k in range(10)]
    for dtype in (torch.float64, torch.float32):
        rows = array_rows(torch.asarray(dense).cuda().to(dtype), 1.0)
        q = rows.squared_lengths()
        for kind in (SquaredHinge, Logistic):
            losses = [kind(float(C)) for C in np.logspace(-4, 1, 6)]

            def make(k: int, rows: Any = rows, losses: Any = losses, q: Any = q) -> Any:
                return make_array_problem(rows, signs[k % 10], None, losses[k // 10], q)

            taken, _ = seconds(partial(train_together, make, 60, Stop(gap_tol=1e-3)))
            print(f"sixty problems, {kind.__name__}, {dtype}: {taken:.3f} s")


def text(folder: Path) -> None:
    """Train the default models, on the device and on one thread of the CPU, on those sets of texts that are there."""
    for dataset in find(folder, ("debian_text", "news20"))[0]:
        name = dataset.name
        X, y = read(folder, name)
        parts = [torch.asarray(part).cuda() for part in (X.indptr, X.indices, X.data)]
        there = torch.sparse_csr_tensor(*parts, size=X.shape), torch.asarray(y).cuda()
        for kind in (LinearSVC, LogisticRegression):
            for C in (1.0, 100.0):
                on_device, _ = seconds(partial(kind(C=C).fit, *there))
                on_cpu, _ = seconds(partial(kind(C=C).fit, X, y))
                print(f"{name}, {kind.__name__}, C = {C:g}: {on_device:.3f} s, CPU {on_cpu:.3f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("parts", nargs="+", choices=("search", "together", "text"))
    args = parser.parse_args()
    sklearn.set_config(array_api_dispatch=True)
    for part in args.parts:
        {"search": search, "together": together, "text": text}[part](args.data_dir)
