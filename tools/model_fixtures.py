"""Write a model file of every kind, with what it predicts, for the tests of later versions to read.

``python tools/model_fixtures.py`` creates the folder of the current version below ``tests/io/models/fixtures``;
existing files are kept. Every later version must read what a version has written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from hingeline import LinearSVC, LinearSVR, LogisticRegression, OneClassSVM, __version__
from hingeline.io import save_model

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "io" / "models" / "fixtures"
EXPECTED = "expected.json"
X = np.array([[(3 * i + 5 * j * j) % 11 - 4.5, i % 3 - 0.75, 0.1 * i * (j + 1)] for i in range(6) for j in range(2)])
TWO, THREE = np.array(["no", "yes"])[np.arange(12) // 4 % 2], np.arange(12) // 2 % 3
NUMBERS = X @ [0.5, -1.0, 2.0] + 3.0


def models() -> dict[str, tuple[Any, Any, str]]:
    """Return, by the name of its file, an estimator of each kind, its labels or targets, and the format."""
    return {
        "svc-binary": (LinearSVC(loss="hinge", class_weight={"no": 2.0}, random_state=0), TWO, "native"),
        "svc-free-intercept": (LinearSVC(fit_intercept="free", random_state=0), TWO, "native"),
        "svc-ovr": (LinearSVC(class_weight="balanced", random_state=0), THREE, "native"),
        "svc-crammer-singer": (LinearSVC(multi_class="crammer_singer", random_state=0), THREE, "native"),
        "svc-l1": (LinearSVC(penalty="l1", C=0.5, random_state=0), TWO, "native"),
        "svr": (LinearSVR(epsilon=0.1, random_state=0), NUMBERS, "native"),
        "svr-pinball": (LinearSVR(loss="pinball", quantile=0.8, random_state=0), NUMBERS, "native"),
        "logistic-binary": (LogisticRegression(random_state=0), TWO, "native"),
        "logistic-ovr": (LogisticRegression(multi_class="ovr", random_state=0), THREE, "native"),
        "logistic-multinomial": (LogisticRegression(), THREE, "native"),
        "logistic-elasticnet": (LogisticRegression(penalty="elasticnet", l1_ratio=0.5), TWO, "native"),
        "one-class": (OneClassSVM(nu=0.3, tol=0.05, solver="avsf", random_state=0), None, "native"),
        "liblinear-svc": (LinearSVC(random_state=0), THREE, "liblinear"),
        "liblinear-svr": (LinearSVR(random_state=0), NUMBERS, "liblinear"),
        "liblinear-one-class": (OneClassSVM(nu=0.3, tol=0.05, solver="avsf", random_state=0), None, "liblinear"),
    }


def outputs(model: Any) -> dict[str, Any]:
    """Return what a fitted model says of X."""
    names = ("decision_function", "predict", "predict_proba")
    return {name: getattr(model, name)(X).tolist() for name in names if hasattr(model, name)}


def write(folder: Path) -> list[str]:
    """Write what is missing in a folder, and return the names."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / EXPECTED
    expected = json.loads(path.read_text(encoding="ascii")) if path.exists() else {}
    missing = [name for name in models() if name not in expected]
    for name in missing:
        model, y, format = models()[name]
        save_model(model.fit(X, y), folder / f"{name}.model", format=format)
        expected[name] = {"class": type(model).__name__, **outputs(model)}
    path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items()) + "\n}\n")
    return missing


if __name__ == "__main__":
    print("\n".join(write(FOLDER / __version__)) or "all of them are there")
