"""Small data in files, for tests of the command line, and LIBLINEAR if it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

CLASSIFIERS, REGRESSIONS = (0, 1, 2, 3, 4, 5, 6, 7), (11, 12, 13)


def liblinear():
    """Return LIBLINEAR's Python functions, or skip."""
    return pytest.importorskip("liblinear.liblinearutil", reason="LIBLINEAR (liblinear-official) is not installed")


def make_rows(kind, n=80, d=12, seed=0):
    """Return sparse rows, not separable, and labels of a kind: "signs", "two", "many", "targets"."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    dense[0, d - 1] = 1.0  # the last column occurs
    X = sparse.csr_matrix(dense)
    scores = X @ rng.normal(size=(d, 3)) + 0.5 * rng.normal(size=(n, 3))
    y = {
        "signs": np.where(scores[:, 0] > 0.0, 1, -1),
        "two": np.where(scores[:, 0] > 0.0, 7, 3),
        "many": np.array([5, -2, 9])[scores.argmax(axis=1)],
        "targets": scores[:, 0],
    }[kind]
    return X, y


def text_of(X, y):
    """Return rows in svmlight form, with every digit."""
    lines = []
    for i, label in enumerate(y):
        row = X[i].tocoo()
        lines.append(f"{label:.17g} " + " ".join(f"{j + 1}:{v:.17g}" for j, v in zip(row.col, row.data, strict=True)))
    return "\n".join(lines) + "\n"


def write_rows(path, X, y):
    """Write them, and return the path as text."""
    path.write_text(text_of(X, y))
    return str(path)
