"""Random small problems that try to break a promise: every estimator, loss, penalty, intercept and engine.

``draw(seed)`` returns the same case for the same seed, so a failure is a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from hingeline import LinearSVC, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.solvers.engines import SOLVERS, STEPWISE_SOLVERS

MOST_ROWS, MOST_COLUMNS = 50, 10
SMOOTH_ONLY = ("newton_cg",)


@dataclass
class Case:
    """An estimator with its data, and what is to happen to it."""

    seed: int
    model: Any
    X: Any
    y: Any
    sample_weight: np.ndarray | None
    then_C: float | None = None  # fitted a second time from the first solution, at this C (or nu)
    interrupt_after: float | None = None  # seconds to Ctrl-C
    kind: str = ""  # of data
    capped: bool = field(init=False)

    def __post_init__(self) -> None:
        self.capped = self.model.max_iter is not None or self.model.max_time is not None

    def __str__(self) -> str:
        parameters = {name: value for name, value in self.model.get_params().items() if value not in (None, 0)}
        stored = type(self.X).__name__ if sparse.issparse(self.X) else "dense"
        more = " weighted" if self.sample_weight is not None else ""
        shape = "x".join(map(str, self.X.shape))
        return f"seed {self.seed}: {type(self.model).__name__} {parameters}, {shape} {self.kind} {stored}{more}"


def draw(seed: int, *, any_layout: bool = True) -> Case:
    """Return the case of this number; without ``any_layout`` X is dense, which spares compiling for the other ones."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, MOST_ROWS + 1)), int(rng.integers(1, MOST_COLUMNS + 1))
    kind = str(rng.choice(list(KINDS)))
    X = KINDS[kind](rng, n, d)
    name = str(
        rng.choice(
            ["svc", "svc", "multiclass", "crammer_singer", "l1", "logistic", "multinomial", "svr", "svr", "one_class"]
        )
    )
    model, y = MODELS[name](rng, X)
    if rng.random() < 0.3:
        model.set_params(tol=10.0 ** rng.integers(-9, 0))
    if rng.random() < 0.15:
        model.set_params(gap_tol=10.0 ** rng.integers(-8, -1))
    if rng.random() < 0.05:
        model.set_params(max_iter=int(rng.integers(1, 50)))
    if rng.random() < 0.03:
        model.set_params(max_time=float(rng.choice([1e-6, 1e-3, 1e-2])))
    weights = None
    if rng.random() < 0.3:
        weights = _weights(rng, y if hasattr(model, "class_weight") else None, n)
    then_C = None
    if rng.random() < 0.15 and "warm_start" in model.get_params():
        model.set_params(warm_start=True)
        then_C = model.C * 10.0 ** rng.integers(-2, 3)
    after = float(rng.uniform(0.0, 0.01)) if rng.random() < 0.03 else None
    model.set_params(random_state=int(rng.integers(2**31)))
    return Case(seed, model, _stored(rng, X) if any_layout else X, y, weights, then_C, after, kind)


def _scales(rng: np.random.Generator, size: int, low: float, high: float) -> np.ndarray:
    return 10.0 ** rng.uniform(low, high, size=size)


def _timestamps(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    start, duration = 1.7e9 + rng.uniform(0, 3e7, n), rng.exponential(1e3, n)
    return np.column_stack([start, start + duration, duration, rng.normal(size=(n, d))])[:, : max(d, 1)]


def _one_heavy_column(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    X[:, -1] = 1e3
    return X


def _repeated(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(max(1, n // 3), d))[rng.integers(max(1, n // 3), size=n)]


def _collinear(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    A = rng.normal(size=(n, max(1, d // 2))) * 10.0 ** rng.integers(-2, 6)
    return np.column_stack([A, A.sum(axis=1), A[:, :1] + 1e-6 * rng.normal(size=(n, 1))])[:, : max(d, 1)]


KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "integer": lambda rng, n, d: rng.integers(-5, 6, size=(n, d)).astype(float),
    "indicator": lambda rng, n, d: (rng.random((n, d)) < 0.3).astype(float),
    "sparse": lambda rng, n, d: rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3),
    "offset": lambda rng, n, d: 100.0 + rng.normal(size=(n, d)),
    "heavy column": _one_heavy_column,
    "row scales": lambda rng, n, d: rng.normal(size=(n, d)) * _scales(rng, n, -5, 3)[:, None],
    "column scales": lambda rng, n, d: rng.normal(size=(n, d)) * _scales(rng, d, -4, 4),
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, -3),
    "large": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(2, 7),
    "repeated": _repeated,
    "collinear": _collinear,
    "timestamps": _timestamps,
    "constant": lambda rng, n, d: np.full((n, d), 10.0 ** rng.integers(-6, 7)),
}


def _stored(rng: np.random.Generator, X: np.ndarray) -> Any:
    layout = rng.choice(["dense", "dense", "dense32", "fortran", "csr", "csr", "csr64", "csc"])
    if layout == "dense32" or rng.random() < 0.05:
        X = X.astype(np.float32)
    if layout == "fortran":
        return np.asfortranarray(X)
    if layout.startswith("csr"):
        rows = sparse.csr_array(X)
        if layout == "csr64":
            rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        return rows
    return sparse.csc_matrix(X) if layout == "csc" else X


def _weights(rng: np.random.Generator, y: Any, n: int) -> np.ndarray:
    weights = rng.choice([0.0, 1.0, 1.0, 2.5]) * np.ones(n) if rng.random() < 0.1 else 10.0 ** rng.uniform(-2, 2, n)
    weights[rng.random(n) < rng.choice([0.0, 0.2])] = 0.0
    if y is None:
        weights[0] = 1.0
    else:  # every class keeps a row
        weights[np.unique(y, return_index=True)[1]] = 1.0
    return weights


def _labels(rng: np.random.Generator, X: np.ndarray, n_classes: int) -> np.ndarray:
    n = len(X)
    how = rng.choice(["random", "rule", "unbalanced"])
    if how == "random":
        y = rng.integers(n_classes, size=n)
    elif how == "rule":
        scale = np.abs(X).max(axis=0) + 1e-300
        y = ((X / scale) @ rng.normal(size=(X.shape[1], n_classes)) + 0.1 * rng.normal(size=(n, n_classes))).argmax(1)
    else:
        y = np.zeros(n, dtype=int)
    y[:n_classes] = np.arange(n_classes)
    return y


def _C(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.uniform(-6, 6)) if rng.random() < 0.8 else 1.0


def _shared(rng: np.random.Generator, free: bool = True) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "C": _C(rng),
        "fit_intercept": [True, True, False, "free"][rng.integers(4 if free else 3)],
    }
    if rng.random() < 0.2:
        shared["intercept_scaling"] = float(10.0 ** rng.integers(-2, 3))
    if rng.random() < 0.1:
        shared["n_jobs"] = 2
    return shared


def _solver(rng: np.random.Generator, choices: Any) -> str:
    return "auto" if rng.random() < 0.5 else str(rng.choice(choices))


def _class_weight(rng: np.random.Generator, n_classes: int) -> Any:
    if rng.random() < 0.8:
        return None
    return "balanced" if rng.random() < 0.5 else {k: float(10.0 ** rng.uniform(-2, 2)) for k in range(n_classes)}


def _svc(rng: np.random.Generator, X: np.ndarray, n_classes: int = 2) -> tuple[Any, np.ndarray]:
    loss = str(rng.choice(["hinge", "squared_hinge"]))
    solver = _solver(rng, [s for s in SOLVERS if loss != "hinge" or s not in SMOOTH_ONLY])
    weight = _class_weight(rng, n_classes)
    return LinearSVC(loss=loss, solver=solver, class_weight=weight, **_shared(rng)), _labels(rng, X, n_classes)


def _multiclass(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    return _svc(rng, X, int(rng.integers(2, 1 + min(5, len(X)))))


def _crammer_singer(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    k = int(rng.integers(2, 1 + min(5, len(X))))
    model = LinearSVC(
        multi_class="crammer_singer",
        solver=_solver(rng, STEPWISE_SOLVERS),
        class_weight=_class_weight(rng, k),
        **_shared(rng, free=False),
    )
    return model, _labels(rng, X, k)


def _l1(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    how = {"solver": _solver(rng, STEPWISE_SOLVERS), "class_weight": _class_weight(rng, 2), **_shared(rng)}
    y = _labels(rng, X, 2)
    if rng.random() < 0.5:
        return LinearSVC(penalty="l1", **how), y
    if rng.random() < 0.5:
        return LogisticRegression(penalty="l1", **how), y
    return LogisticRegression(penalty="elasticnet", l1_ratio=float(rng.choice([0.0, 0.1, 0.5, 0.99, 1.0])), **how), y


def _logistic(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    k = 2 if rng.random() < 0.7 else int(rng.integers(2, 1 + min(4, len(X))))
    how = {"solver": _solver(rng, SOLVERS), "class_weight": _class_weight(rng, k), **_shared(rng)}
    if k > 2:
        how["multi_class"] = str(rng.choice(["auto", "ovr"]))
    return LogisticRegression(**how), _labels(rng, X, k)


def _multinomial(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    k = int(rng.integers(3, 6))
    intercept = [True, True, False, "regularised"][rng.integers(4)]
    how = {**_shared(rng), "fit_intercept": intercept, "solver": _solver(rng, ["newton", "newton_cg"])}
    return LogisticRegression(class_weight=_class_weight(rng, k), **how), _labels(rng, X, min(k, len(X)))


def _svr(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    loss = str(rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive", "pinball"]))
    smooth = loss.startswith("squared")
    how = {"solver": _solver(rng, [s for s in SOLVERS if smooth or s not in SMOOTH_ONLY]), **_shared(rng)}
    if loss == "pinball":
        how["quantile"] = float(rng.choice([0.05, 0.5, 0.9]))
    elif rng.random() < 0.6:
        how["epsilon"] = float(10.0 ** rng.uniform(-3, 1))
    y = (X / (np.abs(X).max(axis=0) + 1e-300)) @ rng.normal(size=X.shape[1]) + rng.choice([0.0, 0.3]) * rng.normal(
        size=len(X)
    )
    y = y * 10.0 ** rng.choice([-3, 0, 0, 0, 3, 6]) + rng.choice([0.0, 0.0, 10.0, 1e4])
    if rng.random() < 0.03:
        y = np.full(len(X), float(rng.choice([0.0, 1.0, 1e4])))
    return LinearSVR(loss=loss, **how), y


def _one_class(rng: np.random.Generator, X: np.ndarray) -> tuple[Any, None]:
    nu = float(rng.choice([1e-3, 0.1, 0.5, 0.9, 1.0])) if rng.random() < 0.5 else float(rng.uniform(0.01, 1.0))
    return OneClassSVM(nu=nu, solver=_solver(rng, STEPWISE_SOLVERS)), None


MODELS = {
    "svc": _svc,
    "multiclass": _multiclass,
    "crammer_singer": _crammer_singer,
    "l1": _l1,
    "logistic": _logistic,
    "multinomial": _multinomial,
    "svr": _svr,
    "one_class": _one_class,
}
