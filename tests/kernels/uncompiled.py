"""Tiny problems, solved by every engine; prints the results as JSON, to be run with NUMBA_DISABLE_JIT=1."""

import io
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from problems import ENGINES, LOSSES, TARGET_LOSSES, classification, csr, regression

from hingeline import LinearSVC, Logistic, OneClassSVM, solve
from hingeline.io import dump_svmlight, load_svmlight


def results():
    """Return the weights and dual variables of each engine, loss and layout."""
    found = {}
    X, y = classification(14, 3, seed=61, density=0.8)
    X[5] = 0.0
    for name, rows in {"dense": X, "csr": csr(X), "ones": csr((X != 0.0).astype(float))}.items():
        for loss in LOSSES:
            for engine in ENGINES:
                bias = 0.0 if engine == "avsf" else 1.0
                s = solve(rows, y, LOSSES[loss](0.3), solver=engine, tol=1e-11, random_state=0, bias=bias)
                found[f"{name} {loss} {engine}"] = [*s.w, s.intercept, s.certificate.primal, s.certificate.dual]
    X, y = regression(14, 3, seed=61)
    for name, loss in TARGET_LOSSES.items():
        for engine in ("hybrid", "newton"):
            s = solve(X, y, loss(0.3), solver=engine, tol=1e-11, random_state=0)
            found[f"{name} {engine}"] = [*s.w, s.certificate.primal, s.certificate.dual]
    X, y = classification(15, 3, seed=62, n_classes=3)
    found["LinearSVC"] = LinearSVC().fit(csr(X), y).decision_function(csr(X)).ravel().tolist()
    found["svmlight"] = svmlight()
    twice, labels = csr(np.vstack([X, X[:2]])), np.append(y, (y[:2] + 1) % 3)  # two rows that contradict others
    for solver in ("auto", "hybrid"):
        model = LinearSVC(multi_class="crammer_singer", solver=solver, tol=1e-10, random_state=0).fit(twice, labels)
        found[f"Crammer-Singer {solver}"] = [*model.coef_.ravel(), model.objective_, model.dual_objective_]
        model = OneClassSVM(solver=solver, nu=0.3, tol=1e-10, random_state=0).fit(csr(X + 1.0))
        found[f"one class {solver}"] = [*model.coef_.ravel(), *model.offset_, model.objective_]
    wide = np.hstack([X] + [X[:, [0]] * X[:, [1]] + k * X for k in range(1, 140)])  # few columns have another way
    for rows in (X, wide):
        how = {"solver": "hybrid", "tol": 1e-9, "max_iter": 3, "random_state": 0}
        s = solve(rows, np.where(y == 0, 1, -1), Logistic(0.1), l1_ratio=1.0, **how)
        found[f"l1 {rows.shape}"] = [*s.w, s.certificate.primal]
    return found


def svmlight():
    """Return what is read from a text with numbers of all kinds, written and read again."""
    text = b"1 1:1 2:0.5 7:-3e-5 # x\r\n\n-1 3:0.12345678901234567 4:12345678901234567890123\n2 qid:3 9:1 8:1e-320\n"
    X, y = load_svmlight(io.BytesIO(text), n_threads=1)
    file = io.BytesIO()
    dump_svmlight(X, y, file)
    Z, t = load_svmlight(io.BytesIO(file.getvalue()), n_threads=1)
    assert Z.data.tobytes() == X.data.tobytes()
    return [float(number) for number in (*y, *X.data, *X.indices, *X.indptr, *t, *Z.indices, *file.getvalue())]


if __name__ == "__main__":
    print(json.dumps(results()))
