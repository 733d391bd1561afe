"""What ``hingeline warmup`` trains: problems of each kind that together need every kernel of that kind.

``tools/check_warmup.py`` checks this: it uses each kind on other data and lists kernels that were not needed here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hingeline import (
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
    c_path,
    solve,
)
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.io import dump_svmlight, load_svmlight
from hingeline.runtime.pace import Pace, do_nothing
from hingeline.runtime.threads import ALONE
from hingeline.selection.path import LOSSES
from hingeline.selection.start import best_start, is_any_at_bound
from hingeline.solvers.engines import names_for
from hingeline.solvers.shards import Shards
from hingeline.solvers.shards.in_memory import InMemoryShards
from hingeline.solvers.shards.line import Line
from hingeline.solvers.solve import checked_labels
from hingeline.solvers.state import new_state
from hingeline.solvers.stretch import Stretch

from . import main

SHAPES = {"few": (24, 3), "tall": (2400, 3), "wide": (20, 260), "middling": (1300, 90)}
TYPES = {  # LIBLINEAR's, by kind
    "linear": (1, 2, 3),
    "logistic": (0, 7),
    "l1": (5, 6),
    "regression": (11, 12, 13),
    "crammer_singer": (4,),
    "one_class": (21,),
}
OF_TEXT = "sparse, float64 values, int32 indices"  # the layout that text is read into
BRIEF: dict[str, Any] = {"max_time": 0.2}  # seconds of training, which do not count what is compiled
LAYOUTS = tuple(
    [f"dense, {value}" for value in ("float32", "float64")]
    + [
        f"{kind}, {value} values, {index} indices"
        for value in ("float32", "float64")
        for index in ("int32", "int64")
        for kind in ("sparse", "ones")
    ]
)


def in_layout(X: np.ndarray, layout: str) -> Any:
    """Return the rows in one of ``LAYOUTS``, each of which has kernels of its own."""
    value = np.float32 if "float32" in layout else np.float64
    if layout.startswith("dense"):
        return np.ascontiguousarray(X, dtype=value)
    matrix = sparse.csr_matrix((X > 0.0 if layout.startswith("ones") else np.where(X > 0.0, X, 0.0)).astype(value))
    index = np.int64 if "int64" in layout else np.int32
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def _rows(shape: str, layout: str, n_classes: int = 2) -> tuple[Any, np.ndarray]:
    """Return rows that no hyperplane separates, and their classes from 0 on."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=SHAPES[shape]) - 0.3
    y = np.argmax(X[:, :n_classes] + rng.normal(size=(len(X), n_classes)), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return in_layout(X, layout), y


def _engines(loss: str, layout: str) -> None:
    """Train a loss with every engine, in every shape and with an intercept of either kind, and along a path of C."""
    kind: Any = LOSSES[loss]
    if kind.has_epsilon:
        kind = kind._replace(epsilon=0.1)
    for shape in SHAPES:
        X, classes = _rows(shape, layout)
        y = 2 * classes - 1 + kind.is_regression * np.linspace(-1.0, 1.0, classes.size)
        for solver in ("auto", *names_for(smooth=kind.is_smooth)):
            for how in ({"bias": 1.0}, {"gap_tol": 1e-7}, {"free_intercept": True}):
                solve(X, y, kind._replace(C=10.0), solver=solver, **how, **BRIEF)
        solve(X, y, kind._replace(C=1e3), n_jobs=2, **BRIEF)
    if not kind.is_regression:
        problem = make_problem(read_data(X), checked_labels(y, len(y)), None, kind._replace(C=1.0))
        Stretch(new_state(problem, seed=0)).objective(Pace())
    X, y = X[:60], y[:60]
    for solver in ("auto", "hybrid"):
        c_path(X, y, [0.1, 1.0, 10.0], loss, solver=solver, **BRIEF)
    _left_to_chance(X, y, kind)
    _dependent_columns(kind, layout)


def _left_to_chance(X: Any, y: np.ndarray, kind: Any) -> None:
    """Start at a larger C in every way, and do a Newton step verb by verb: training chooses these by what it sees."""
    targets = y.astype(float) if kind.is_regression else checked_labels(y, len(y))
    problem = make_problem(read_data(X), targets, None, kind._replace(C=1.0))
    alpha = np.full(problem.data.n_rows, 0.1)
    best_start(problem, alpha, growth=10.0)
    is_any_at_bound(problem, alpha, growth=10.0)
    shards = InMemoryShards(problem, alpha, ALONE, do_nothing)
    _, p = shards.begin(shards.weights(), delta=0.5)
    Shards.move(shards, p, Line(-1.0, 0.0, 1.0, 1e-9), afresh=True)


def _dependent_columns(kind: Any, layout: str) -> None:
    """Train on columns that are the same or far from zero, at a C so large that scores need twice the precision."""
    X, classes = _rows("few", "dense, float64")
    X[:, 1] = X[:, 0]
    y = 2 * classes - 1 + kind.is_regression * X[:, 2]
    for free in (False, True):
        how: dict[str, Any] = {"solver": "newton", "gap_tol": 1e-12, "free_intercept": free}
        for C in (1e6, 1e12):
            solve(in_layout(X, layout), y, kind._replace(C=C), **how, **BRIEF)
    for C in (1e6, 1e9):
        for bias in (0.0, 1.0):
            far: dict[str, Any] = {"solver": "newton", "gap_tol": 1e-9, "bias": bias}
            solve(1e3 + X, y, kind._replace(C=C), **far, **BRIEF)


def linear(layout: str) -> None:
    """Train both hinge losses, and search for their C."""
    for loss in ("hinge", "squared_hinge"):
        _engines(loss, layout)
        X, y = _rows("few", layout)
        for how in ({"class_weight": "balanced"}, {"fit_intercept": False}):
            LinearSVC(loss=loss, **BRIEF, **how).fit(X, y).predict(X)
        LinearSVC(loss=loss, warm_start=True, **BRIEF).fit(X, y).fit(X, y).fit(X[2:], y[2:])
        for n_classes in (2, 3):
            X, y = _rows("middling", layout, n_classes)
            for intercept in (True, "free"):
                LinearSVC(loss=loss, fit_intercept=intercept, **BRIEF).fit(X, y).predict(X)
                LinearSVCCV(Cs=[0.1, 10.0], cv=2, loss=loss, fit_intercept=intercept, max_time=1.0).fit(X, y)


def logistic(layout: str) -> None:
    """Train logistic regression of two and more classes, and search for C."""
    _engines("logistic", layout)
    for shape in SHAPES:
        for n_classes in (2, 3):
            X, y = _rows(shape, layout, n_classes)
            for how in ({}, {"fit_intercept": False}, {"fit_intercept": "regularised"}, {"C": 1e3}):
                LogisticRegression(**BRIEF, **how).fit(X, y).predict_proba(X)
    X, y = _rows("few", layout, n_classes=3)
    for how in ({"multi_class": "ovr"}, {"C": np.inf}):
        LogisticRegression(**BRIEF, **how).fit(X, y).predict_proba(X)
    for classes in (y, y > 0):
        LogisticRegressionCV(Cs=[0.1, 10.0], cv=2, max_time=1.0).fit(X, classes).predict_proba(X)


def l1(layout: str) -> None:
    """Train with an L1 penalty and with an elastic net."""
    for shape in SHAPES:
        X, y = _rows(shape, layout)
        for C in (0.1, 1.0, 1e3):
            for intercept in (True, "free"):
                LinearSVC(penalty="l1", C=C, fit_intercept=intercept, **BRIEF).fit(X, y).predict(X)
            for ratio in (0.5, 1.0):
                LogisticRegression(l1_ratio=ratio, C=C, **BRIEF).fit(X, y).predict_proba(X)


def regression(layout: str) -> None:
    """Train each loss of a regression, and search for its C."""
    for loss in (name for name, kind in LOSSES.items() if kind.is_regression):
        _engines(loss, layout)
        X, y = _rows("few", layout)
        LinearSVR(loss=loss, warm_start=True, **BRIEF).fit(X, y).fit(X[2:], y[2:]).predict(X)
        LinearSVRCV(Cs=[0.1, 10.0], cv=2, loss=loss, max_time=1.0).fit(X, y).predict(X)


def crammer_singer(layout: str) -> None:
    """Train Crammer and Singer's SVM, also on rows that come twice."""
    for shape in SHAPES:
        X, y = _rows(shape, layout, n_classes=3)
        twice = sparse.vstack([X, X], format="csr") if sparse.issparse(X) else np.vstack([X, X])
        for C in (0.1, 1e3):
            LinearSVC(multi_class="crammer_singer", C=C, **BRIEF).fit(X, y).predict(X)
            LinearSVC(multi_class="crammer_singer", C=C, **BRIEF).fit(twice, np.append(y, (y + 1) % 3))


def one_class(layout: str) -> None:
    """Train the one-class SVM."""
    for shape in SHAPES:
        X, _ = _rows(shape, layout)
        for nu in (0.05, 0.5):
            OneClassSVM(nu=nu, **BRIEF).fit(X).predict(X)


def files(kinds: Sequence[str]) -> None:
    """Write and read text, convert it, and train with those of LIBLINEAR's types that are of these kinds."""
    for value in (np.float32, np.float64):
        text = BytesIO()
        dump_svmlight(np.ones((1, 1), dtype=value), [1.0], text)
    for content in (text.getvalue(), b"1 3000000000:1\n"):
        load_svmlight(BytesIO(content))
    X, y = _rows("few", OF_TEXT, n_classes=3)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        data, dataset, model, out = (str(Path(folder, name)) for name in ("data", "dataset", "model", "out"))
        dump_svmlight(X, y, data)
        main(["convert", data, dataset])
        for number in (number for kind in kinds for number in TYPES[kind]):
            for trained in ([data], ["-v", "2", data]):
                main(["train", "-q", "-s", str(number), *trained, *([model] if len(trained) == 1 else [])])
            main(["predict", data, model, out])
        if "linear" in kinds:
            main(["train", "-q", "-s", "3", dataset, model])
            main(["train", "-q", "-C", data])
            for loss in ("hinge", "squared_hinge"):
                main(["search", "-v", "2", "--loss", loss, "--out", str(Path(folder, loss)), data])


KINDS: dict[str, Callable[[str], None]] = {
    kind.__name__: kind for kind in (linear, logistic, l1, regression, crammer_singer, one_class)
}
