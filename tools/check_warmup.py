"""Check that nothing is compiled after ``hingeline warmup``: train as users do, and list the kernels that are new.

``python tools/check_warmup.py --layout "dense, float64" linear`` warms up one kind of problem in one layout of the data
and uses it; without arguments everything is checked. Kernels that are already on disk are loaded, not compiled, so this
then takes only seconds: what counts is that no kernel is *requested* that the warm-up has not requested.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hingeline import (
    Hinge,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
    SquaredHinge,
    c_path,
    solve,
)
from hingeline.cli import main, warmup_problems
from hingeline.io import dump_svmlight, load_svmlight
from hingeline.kernels.cache import needed
from hingeline.solvers.engines import names_for

SIZES = {"small": (60, 8), "tall": (6000, 5), "wide": (40, 300), "middling": (1500, 90)}
LONG = (400, 2100)  # so many columns that coordinate descent does everything
THREADS = (9000, 40)  # so many values that threads share them


def rows(size: tuple[int, int], layout: str, n_classes: int = 2) -> tuple[Any, np.ndarray]:
    """Return rows in a layout, with the labels -1 and 1, or 0, 1, ..."""
    rng = np.random.default_rng(size)
    X = rng.normal(size=size) * (rng.random(size) < 0.3)
    if layout.startswith("ones"):
        X = (X != 0.0).astype(float)
    scores = X @ rng.normal(size=(size[1], n_classes)) + rng.normal(size=(size[0], n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return in_layout(X, layout), 2.0 * y - 1.0 if n_classes == 2 else y


def in_layout(X: np.ndarray, layout: str) -> Any:
    """Return the rows as ``layout`` says."""
    value = np.float32 if "float32" in layout else np.float64
    if layout.startswith("dense"):
        return np.ascontiguousarray(X + 1e-3, dtype=value)
    index = np.int64 if "int64" in layout else np.int32
    matrix = sparse.csr_array(X.astype(value))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def linear(layout: str) -> None:
    """Both hinge losses, as LinearSVC and ``solve`` train them."""
    for size in SIZES.values():
        X, y = rows(size, layout)
        for loss in ("hinge", "squared_hinge"):
            for C in (1e-3, 1.0, 1e3):
                LinearSVC(loss=loss, C=C, max_time=0.3).fit(X, y)
        for solver in names_for(smooth=False):
            solve(X, y, Hinge(), solver=solver, max_time=0.3, bias=1.0)
        for solver in names_for(smooth=True):
            solve(X, y, SquaredHinge(), solver=solver, max_time=0.3)
    X, y = rows(LONG, layout)
    for large_C in (Hinge(1e3), SquaredHinge(1e3)):
        solve(X, y, large_C, gap_tol=1e-4, max_time=2.0)
    X, y = rows(SIZES["small"], layout)
    Xm, ym = rows(SIZES["middling"], layout, n_classes=3)
    for loss in ("hinge", "squared_hinge"):
        for how in (
            {"fit_intercept": False},
            {"fit_intercept": "free"},
            {"gap_tol": 1e-8},
            {"class_weight": "balanced"},
            {"solver": "avsf", "fit_intercept": "free"},
        ):
            LinearSVC(loss=loss, max_time=0.3, **how).fit(X, y).decision_function(X)
        LinearSVC(loss=loss, max_time=0.3).fit(X, y, sample_weight=np.linspace(0.0, 2.0, y.size)).predict(X)
        LinearSVC(loss=loss, max_time=0.3, fit_intercept="free").fit(Xm, ym).predict(Xm)
        warm = LinearSVC(loss=loss, max_time=0.3, warm_start=True).fit(X, y)
        warm.set_params(C=2.0).fit(X, y)
        LinearSVC(loss=loss, max_time=0.3, n_jobs=2).fit(*rows(THREADS, layout))


def search(layout: str) -> None:
    """Searches for C."""
    for size in (SIZES["small"], SIZES["middling"]):
        X, y = rows(size, layout)
        for loss in ("hinge", "squared_hinge"):
            LinearSVCCV(Cs=[0.01, 1.0, 100.0], cv=3, loss=loss, max_time=1.0).fit(X, y).predict(X)
            LinearSVCCV(Cs=[0.01, 1.0], cv=3, loss=loss, max_time=1.0, fit_intercept="free").fit(X, y)
            c_path(X, y, [0.01, 1.0, 100.0], loss, max_time=0.3)
    LinearSVCCV(Cs=[0.1, 1.0], cv=3, max_time=1.0).fit(*rows(SIZES["small"], layout, n_classes=3))


def logistic(layout: str) -> None:
    """Logistic regression of two and more classes, and its search."""
    for size in SIZES.values():
        X, y = rows(size, layout)
        for C in (0.01, 1.0, 100.0):
            LogisticRegression(C=C, max_time=0.3).fit(X, y).predict_proba(X)
        for solver in names_for(smooth=True):
            LogisticRegression(fit_intercept="regularised", solver=solver, max_time=0.3).fit(X, y)
        X, y = rows(size, layout, n_classes=3)
        LogisticRegression(max_time=0.3).fit(X, y).predict_proba(X)
        LogisticRegression(max_time=0.3, fit_intercept=False).fit(X, y)
    X, y = rows(SIZES["small"], layout, n_classes=3)
    LogisticRegression(max_time=0.3, C=np.inf).fit(X, y)
    LogisticRegression(max_time=0.3, multi_class="ovr").fit(X, y).predict_proba(X)
    for y_ in (y, 2 * (y > 0) - 1):
        LogisticRegressionCV(Cs=[0.1, 1.0], cv=3, max_time=1.0).fit(X, y_).predict_proba(X)


def sparse_penalty(layout: str) -> None:
    """L1 and elastic net."""
    for size in SIZES.values():
        X, y = rows(size, layout)
        for C in (0.01, 1.0, 100.0):
            LinearSVC(penalty="l1", C=C, max_time=0.3).fit(X, y)
            LogisticRegression(l1_ratio=1.0, C=C, max_time=0.3).fit(X, y)
        LinearSVC(penalty="l1", fit_intercept="free", max_time=0.3).fit(X, y).predict(X)
        LogisticRegression(l1_ratio=0.5, max_time=0.3).fit(X, y).predict_proba(X)


def regression(layout: str) -> None:
    """Support vector regression and its search."""
    for size in SIZES.values():
        X, y = rows(size, layout)
        y = y + np.linspace(-1.0, 1.0, y.size)
        for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "pinball"):
            settings: list[dict[str, Any]] = [{}, {"C": 100.0}, {"fit_intercept": "free"}, {"solver": "hybrid"}]
            for how in [*settings, {"quantile": 0.8} if loss == "pinball" else {"epsilon": 0.5}]:
                LinearSVR(loss=loss, max_time=0.3, **how).fit(X, y).predict(X)
    X, y = rows(SIZES["small"], layout)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "pinball"):
        LinearSVRCV(Cs=[0.1, 1.0], cv=3, loss=loss, max_time=1.0).fit(X, y).predict(X)


def multiclass(layout: str) -> None:
    """Crammer and Singer's SVM."""
    for size in SIZES.values():
        for C in (0.01, 1.0, 1e3):
            X, y = rows(size, layout, n_classes=4)
            LinearSVC(multi_class="crammer_singer", C=C, max_time=0.3).fit(X, y).predict(X)
    LinearSVC(multi_class="crammer_singer").fit(*rows(SIZES["small"], layout))


def one_class(layout: str) -> None:
    """The one-class SVM."""
    for size in SIZES.values():
        X, _ = rows(size, layout)
        for nu in (0.01, 0.5):
            OneClassSVM(nu=nu, max_time=0.3).fit(X).predict(X)


def commands(kind: str) -> None:
    """Text, dataset folders, and the commands on both."""
    with tempfile.TemporaryDirectory() as folder:
        data, two, targets, model = (str(Path(folder, name)) for name in ("data", "two", "targets", "model"))
        X, y = rows(SIZES["small"], warmup_problems.OF_TEXT, n_classes=3)
        for place, values in ((data, y), (two, 2 * (y > 0) - 1), (targets, y + 0.5)):
            dump_svmlight(X, values, place)
        load_svmlight(data)
        run("convert", data, Path(folder, "dataset"))
        for number in warmup_problems.TYPES[kind]:
            for name in (targets,) if number > 10 else (data, two, Path(folder, "dataset")):
                run("train", "-q", "-s", number, name, model)
                run("predict", data, model, Path(folder, "out"))
        if kind == "linear":
            run("train", "-q", "-s", 3, "-v", 3, data)
            run("train", "-q", "-C", data)
            run("search", data, "-v", 3, "--out", Path(folder, "search"))
            run("search", data, "--loss", "hinge", "-v", 3, "--out", Path(folder, "hinge"))


def run(*words: Any) -> None:
    """Run a command, quietly."""
    text = StringIO()
    try:
        with redirect_stdout(text), redirect_stderr(text):
            status = main([str(word) for word in words])
    except SystemExit as end:
        status = 2 if end.code else 0
    if status:
        raise RuntimeError(f"hingeline {' '.join(map(str, words))} has failed:\n{text.getvalue()}")


USES: dict[str, tuple[Callable[[str], None], ...]] = {
    "linear": (linear, search),
    "logistic": (logistic,),
    "l1": (sparse_penalty,),
    "regression": (regression,),
    "crammer_singer": (multiclass,),
    "one_class": (one_class,),
}


def missing(kinds: Sequence[str], layouts: Sequence[str]) -> Iterator[str]:
    """Warm up, use, and yield each kernel that only the use has asked for."""
    for layout in layouts:
        for kind in kinds:
            warmup_problems.KINDS[kind](layout)
    if with_commands := warmup_problems.OF_TEXT in layouts:
        warmup_problems.files(kinds)
    uses = [(kind, layout, use) for layout in layouts for kind in kinds for use in USES[kind]]
    uses += [(kind, "text", commands) for kind in kinds if with_commands]
    for kind, layout, use in uses:
        before = len(needed)
        use(kind if use is commands else layout)
        yield from (f"{kind}, {layout}: {name}{signature}" for name, signature in needed[before:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layout", choices=warmup_problems.LAYOUTS, action="append", help="default: all")
    parser.add_argument("kinds", nargs="*", help=f"default: {', '.join(USES)}")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    count = 0
    for line in missing(args.kinds or tuple(USES), args.layout or warmup_problems.LAYOUTS):
        count += 1
        print(line, flush=True)
    print(f"{len(needed)} kernels in use; {count} were not ready after the warm-up")
    sys.exit(count > 0)
