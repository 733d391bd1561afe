"""The same models as LIBLINEAR on whole data sets: objectives at a tight tolerance, and predictions of either's models.

python benchmarks/liblinear_interop.py --datasets a9a mushrooms abalone_scale

A line for each type: LIBLINEAR's objective over ours, less one (above zero: ours is the better optimum), and on how
many rows the two programs disagree when they predict with our model and with LIBLINEAR's (none, is the promise).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from datasets import DATA_DIR
from liblinear import liblinearutil

from hingeline.io import load_svmlight
from hingeline.io.models.liblinear_file import LinearModel, read_model, write_model
from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.liblinear.fit import fit
from hingeline.liblinear.predict import decide, scores
from hingeline.liblinear.settings import Settings


def objectives(model: LinearModel, X: Any, y: np.ndarray, C: float, p: float) -> Iterator[float]:
    """Yield the primal value of each problem of a model."""
    f = np.asarray(X @ model.w)
    if model.type == 21:
        margins = model.rho - f[:, 0]
        yield 0.5 * float(np.sum(model.w**2)) + float(np.maximum(margins, 0.0).sum()) - model.rho * 0.5 * y.size
    elif model.solver_type.is_regression:
        r = np.maximum(np.abs(y - f[:, 0]) - p, 0.0)
        yield 0.5 * float(np.sum(model.w**2)) + C * float(np.sum(r if model.type == 13 else r * r))
    elif model.type == 4:
        codes = np.array([(model.labels or ()).index(label) for label in y.astype(int)])
        slack = np.max(f + (np.arange(f.shape[1]) != codes[:, None]) - f[np.arange(y.size), codes][:, None], axis=1)
        yield 0.5 * float(np.sum(model.w**2)) + C * float(slack.sum())
    else:
        for k in range(model.w.shape[1]):
            m = np.where(y == (model.labels or ())[k], 1.0, -1.0) * f[:, k]
            hinge = np.maximum(0.0, 1.0 - m)
            loss = np.logaddexp(0.0, -m) if model.type in (0, 6, 7) else hinge if model.type == 3 else hinge**2
            w = model.w[:, k]
            yield (float(np.abs(w).sum()) if model.type in (5, 6) else 0.5 * float(w @ w)) + C * float(loss.sum())


def disagreements(path: Path, X: Any, y: np.ndarray) -> int:
    """Count rows for which the two programs predict different labels or values with the model in ``path``."""
    model, theirs = read_model(path), liblinearutil.load_model(str(path))
    labels, _, _ = liblinearutil.predict(y, X, theirs, "-q")
    return int(np.count_nonzero(decide(model, scores(model, X)) != np.array(labels)))


def main() -> None:
    """Print a line for each data set and type."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--datasets", nargs="+", default=["a9a", "mushrooms", "abalone_scale", "news20.multiclass"])
    parser.add_argument("--types", nargs="+", type=int, default=list(SOLVER_TYPES))
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--eps", type=float, default=1e-4, help="LIBLINEAR's tolerance")
    parser.add_argument("--gap", type=float, default=1e-6, help="ours")
    parser.add_argument("--predicted", type=int, default=2000, help="rows to predict")
    args = parser.parse_args()
    for name in args.datasets:
        path = next(args.data_dir.glob(f"{name}.*"))
        X, y = load_svmlight(path, zero_based=False)
        regression = np.any(y != np.floor(y)) or np.unique(y).size > 20
        for s in args.types:
            if SOLVER_TYPES[s].is_regression == regression:
                print(f"{name:18} -s {s:2}  {compare(X, y, s, args)}", flush=True)


def compare(X: Any, y: np.ndarray, s: int, args: argparse.Namespace) -> str:
    """Return what a line says about one type."""
    started = perf_counter()
    ours = fit(X, y, Settings(type=s, C=args.c, gap=args.gap)).model
    middle = perf_counter()
    theirs = liblinearutil.train(y, X, f"-s {s} -c {args.c} -e {args.eps} -q")
    seconds = middle - started, perf_counter() - middle
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "ours", Path(folder) / "theirs"
        write_model(ours, paths[0])
        liblinearutil.save_model(str(paths[1]), theirs)
        values = [list(objectives(read_model(path), X, y, args.c, 0.1)) for path in paths]
        ratios = [b / a - 1.0 for a, b in zip(*values, strict=True)]
        some = slice(0, args.predicted)
        count = [disagreements(path, X[some], y[some]) for path in paths]
    return (
        f"objective of LIBLINEAR / ours - 1: {min(ratios):.1e} to {max(ratios):.1e}; rows predicted differently: "
        f"{count[0]} (our model), {count[1]} (LIBLINEAR's); {seconds[0]:.2f} s, {seconds[1]:.2f} s"
    )


if __name__ == "__main__":
    main()
