"""How close default fits are to the optimum: ours and scikit-learn's compared with a tight solution.

Squared hinge with an intercept (``LinearSVC(C=C)``), each at its default tolerance; the tight solution is ours at a
relative gap of 1e-12. "weights" is the length of the difference, relative to the tight weights; "predictions" is the
fraction of rows for which the two predict different classes.

    python benchmarks/agreement.py --datasets a9a w8a news20 debian_text
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DATA_DIR, load
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC

TIGHT = 1e-12


def apart(model: Any, tight: Any, X: Any) -> tuple[float, float]:
    """Return how far a model is from the tight one: by weights, and by predictions."""
    w, exact = (np.append(m.coef_, m.intercept_) for m in (model, tight))
    differs = float(np.mean(model.predict(X) != tight.predict(X)))
    return float(np.linalg.norm(w - exact) / np.linalg.norm(exact)), differs


def main() -> None:
    """Print a line for each data set and C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["a9a", "w8a", "news20", "debian_text"])
    parser.add_argument("--c", nargs="+", type=float, default=[0.01, 0.1, 1.0, 10.0, 100.0])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    args = parser.parse_args()
    print("data, C            hingeline: gap  weights  predictions   scikit-learn: weights  predictions  warned")
    for name in args.datasets:
        X, y = load(name, args.data_dir)
        for C in args.c:
            ours = LinearSVC(C=C, random_state=0).fit(X, y)
            tight = LinearSVC(C=C, gap_tol=TIGHT, random_state=0).fit(X, y)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                theirs = SklearnLinearSVC(C=C, random_state=0).fit(X, y)
            (w, p), (w_theirs, p_theirs) = apart(ours, tight, X), apart(theirs, tight, X)
            print(
                f"{name:12s} {C:6g} {ours.duality_gap_:13.1e} {w:8.1e} {p:12.1e} {w_theirs:22.1e} {p_theirs:12.1e}"
                f"  {'yes' if caught else 'no'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
