"""Hostile little problems for the models that are not binary L2 ones, and what is wrong with a fitted model of them.

Primal and dual are recomputed from the model's attributes alone, in extended precision, by their definitions.
"""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np

from hingeline import LinearSVC, LogisticRegression, OneClassSVM

KINDS = ("normal", "integers", "offset", "constant column", "rows of all scales", "columns of all scales", "copies")
SOLVERS = ("auto", "auto", "baseline", "avsf", "hybrid")
GOOD_GAP = 1e-3
LONG = np.longdouble


def hostile_matrix(rng, n, d):
    """Return n rows of d columns of a kind that some engine finds hard."""
    X = rng.normal(size=(n, d))
    kinds = rng.choice(KINDS, size=rng.integers(1, 3), replace=False)
    if "integers" in kinds:
        X = np.round(2.0 * X)
    if "offset" in kinds:
        X += 100.0
    if "constant column" in kinds:
        X[:, 0] = 1e3
    if "rows of all scales" in kinds:
        X *= 10.0 ** rng.uniform(-5.0, 3.0, size=(n, 1))
    if "columns of all scales" in kinds:
        X *= 10.0 ** rng.uniform(-5.0, 3.0, size=d)
    if "copies" in kinds:
        X = X[rng.integers(max(1, n // 2), size=n)]
        X[:, -1] = X[:, 0]
    return X


def hostile_weights(rng, n, y=(0,)):
    """Return None, or weights of which some may be zero, but not all of a class."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    weights = rng.choice([0.0, 0.5, 2.0], size=n) if kind == 1 else 10.0 ** rng.uniform(-3.0, 3.0, size=n)
    weights[np.unique(y, return_index=True)[1]] = 1.0
    return weights


def shape(rng):
    """Return a number of rows and of columns."""
    return int(rng.integers(3, 51)), int(rng.integers(1, 11))


def rule(rng):
    """Return a solver and a stop rule."""
    stop = ({"tol": 1e-3}, {"tol": 1e-9}, {"gap_tol": 1e-3}, {"gap_tol": 1e-6})[rng.integers(4)]
    return {"solver": str(rng.choice(SOLVERS)), "random_state": 0, **stop}


def labels(rng, n, k):
    """Return labels of k classes, each of them at least once."""
    y = rng.integers(k, size=n)
    y[rng.permutation(n)[:k]] = np.arange(k)
    return y


def one_class_case(rng):
    """Return a model to be fitted, and what to fit it to."""
    n, d = shape(rng)
    X = hostile_matrix(rng, n, d)
    nu = float(rng.choice([1.0, 0.5, 10.0 ** rng.uniform(-4.0, 0.0)]))
    return OneClassSVM(nu=nu, **rule(rng)), X, None, hostile_weights(rng, n)


def crammer_singer_case(rng):
    """Return a model to be fitted, and what to fit it to."""
    n, d = shape(rng)
    k = int(rng.integers(2, min(n, 5) + 1))
    how = {"C": 10.0 ** rng.uniform(-6.0, 6.0), "fit_intercept": bool(rng.integers(2)), **rule(rng)}
    if k == 2:  # those that have a name are the engines of binary problems
        how["solver"] = "auto"
    y = labels(rng, n, k)
    return LinearSVC(multi_class="crammer_singer", **how), hostile_matrix(rng, n, d), y, hostile_weights(rng, n, y)


def l1_case(rng):
    """Return a model to be fitted, and what to fit it to."""
    n, d = shape(rng)
    k = 3 if rng.integers(5) == 0 else 2
    intercept = (False, True, "free")[rng.integers(3)]
    how = {"C": 10.0 ** rng.uniform(-6.0, 6.0), "fit_intercept": intercept, **rule(rng)}
    logistic = how | {"fit_intercept": "regularised" if intercept is True else intercept, "multi_class": "ovr"}
    model = (
        LinearSVC("l1", **how),
        LogisticRegression("l1", **logistic),
        LogisticRegression("elasticnet", l1_ratio=float(rng.choice([0.0, 0.01, 0.5, 0.99])), **logistic),
    )[rng.integers(3)]
    y = labels(rng, n, k)
    return model, hostile_matrix(rng, n, d), y, hostile_weights(rng, n, y)


def fitted(model, X, y, weights):
    """Fit; returns the seconds that it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".* ended training before it converged")
        begin = perf_counter()
        model.fit(X, y, sample_weight=weights)
        return perf_counter() - begin


def complaints(model, X, y, weights):
    """Return what is wrong with a fitted model: a list of words."""
    if isinstance(model, OneClassSVM):
        parts = [one_class_values(model, X, weights)]
    elif getattr(model, "multi_class", None) == "crammer_singer":
        parts = [crammer_singer_values(model, X, y, weights)]
    else:
        parts = [l1_values(model, X, y, weights, k) for k in range(model.per_class_.n_rows)]
    found = []
    for k, (primal, dual, size, excess) in enumerate(parts):
        P, D, gap, violation, converged, reason = (
            model.per_class_[name][k]
            for name in ("objective", "dual_objective", "duality_gap", "kkt_violation", "converged", "stop_reason")
        )
        if not np.isfinite([P, D, gap, violation]).all() or not np.isfinite(model.coef_).all():
            found.append("not finite")
        if excess > 1e-14:
            found.append(f"infeasible by {float(excess):.1e}")
        if not converged or not gap <= GOOD_GAP:
            found.append(f"not converged, {reason}")
        if converged and reason == "tol" and not violation < model.tol:
            found.append("tol not met")
        if converged and reason == "gap_tol" and not gap <= model.gap_tol:
            found.append("gap_tol not met")
        if dual > primal + 1e-12 * size:
            found.append("dual above primal")
        if not abs((primal - dual) / size - gap) <= 1e-6 + 1e-3 * gap:
            found.append("gap does not match")
        if not (abs(primal - P) <= 1e-6 * size and abs(dual - D) <= 1e-6 * size):
            found.append("values do not match")
    return found


def one_class_values(model, X, weights):
    """Return the primal, the dual, what the gap is relative to, and by how much the dual variables are infeasible."""
    C = (np.ones(len(X)) if weights is None else weights).astype(LONG)
    X, w, rho, a = X.astype(LONG), model.coef_[0].astype(LONG), LONG(model.offset_[0]), model.dual_coef_.astype(LONG)
    total = LONG(model.nu) * C.sum()
    primal = w @ w / 2 - total * rho + np.sum(C * np.maximum(0, rho - X @ w))
    v = a @ X
    dual = -v @ v / 2
    lengths = np.sqrt(np.sum(X * X, axis=1))
    size = max(abs(primal), abs(dual), 1e-12 * np.sum(a * lengths) ** 2, 1e-28 * (lengths.max() * total) ** 2)
    size = max(size, LONG(1e-300))
    excess = max(np.max(-a), np.max((a - C) / C.max()), abs(a.sum() - total) / total)
    return primal, dual, size, excess


def crammer_singer_values(model, X, y, weights):
    """Return the same for Crammer and Singer's classifier."""
    n, k = len(X), model.classes_.size
    C = model.C * (np.ones(n) if weights is None else weights)
    if model.fit_intercept:
        X = np.c_[X, np.ones(n)]
        W = np.c_[model.coef_, model.intercept_]
    else:
        W = model.coef_
    A = model.dual_coef_.T
    if k == 2:
        W, A = np.vstack([-W, W]) / 2, np.c_[-A, A]
    X, W, A, C = (array.astype(LONG) for array in (X, W, A, C))
    rows = np.arange(n)
    G = X @ W.T + 1
    G[rows, y] -= 1
    primal = np.sum(W * W) / 2 + np.sum(C * (G.max(axis=1) - G[rows, y]))
    V = A.T @ X
    others = A.copy()
    others[rows, y] = 0
    dual = -np.sum(V * V) / 2 - others.sum()
    upper = np.zeros_like(A)
    upper[rows, y] = C
    excess = max(np.max((A - upper) / C.max()), np.max(np.abs(A.sum(axis=1)) / C.max()))
    return primal, dual, max(primal, LONG(1e-300)), excess


def l1_values(model, X, y, weights, k):
    """Return the same for the problem of class k with an L1 or elastic-net penalty."""
    n = len(X)
    C = (model.C * (np.ones(n) if weights is None else weights)).astype(LONG)
    several = model.per_class_.n_rows > 1
    s = np.where(y == (model.classes_[k] if several else model.classes_[1]), 1, -1).astype(LONG)
    w, b = model.coef_[k].astype(LONG), LONG(model.intercept_[k])
    a = s * np.atleast_2d(model.dual_coef_)[k].astype(LONG)
    X = X.astype(LONG)
    f = X @ w + b
    if model.fit_intercept in (True, "regularised"):
        X, w = np.c_[X, np.ones(n)], np.append(w, b)
    l1 = LONG(1.0 if model.penalty == "l1" else model.l1_ratio)
    l2 = 1 - l1
    v = (s * a) @ X
    on = C > 0
    if isinstance(model, LinearSVC):
        losses = C * np.maximum(0, 1 - s * f) ** 2
        gains = (a - a * a / (4 * np.where(on, C, 1)))[on]
        excess = max(0, np.max(-a))
    else:
        losses = C * (np.maximum(0, -s * f) + np.log1p(np.exp(-np.abs(f))))
        share = np.clip(a[on] / C[on], 0, 1)
        positive, below = share > 0, share < 1
        gains = np.zeros_like(share)
        gains[positive] -= (C[on] * share)[positive] * np.log(share[positive])
        gains[below] -= (C[on] * (1 - share))[below] * np.log1p(-share[below])
        excess = max(0, np.max(-a / C.max()), np.max((a - C) / C.max()))
    primal = l1 * np.abs(w).sum() + l2 * (w @ w) / 2 + losses.sum()
    dual = gains.sum()
    if l2 > 0:
        dual -= np.sum(np.maximum(0, np.abs(v) - l1) ** 2) / (2 * l2)
    else:
        excess = max(excess, np.max(np.abs(v)) - 1)
    if model.fit_intercept == "free":
        excess = max(excess, abs(np.sum(s * a)) / max(a.sum(), LONG(1e-300)))
    return primal, dual, max(primal, LONG(1e-300)), excess


CASES = {"one-class": one_class_case, "Crammer-Singer": crammer_singer_case, "L1": l1_case}
