"""Tiny problems, solved by every engine; prints the results as JSON. Run with and without NUMBA_DISABLE_JIT=1."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from problems import ENGINES, LOSSES, classification, csr

from hingeline import LinearSVC, solve


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
    X, y = classification(15, 3, seed=62, n_classes=3)
    found["LinearSVC"] = LinearSVC().fit(csr(X), y).decision_function(csr(X)).ravel().tolist()
    return found


if __name__ == "__main__":
    print(json.dumps(results()))
