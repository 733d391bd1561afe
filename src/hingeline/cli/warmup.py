"""``hingeline warmup``: compile the kernels and keep them in numba's cache, for example in a container image."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "warmup",
        help="compile the kernels and cache them on disk",
        description="Train tiny problems in every layout of the data, so that the kernels are compiled and cached.",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="the other problems too (logistic and L1-regularised classifiers, regression, Crammer and Singer's "
        "SVM, one-class SVM), which takes several times as long; otherwise they are compiled when first used",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train with every combination of layout, loss and engine, and print how long it took."""
    from hingeline.progress import StepsBar, open_screen

    start = time.perf_counter()
    count, layouts = 0, list(_layouts())
    bar = StepsBar("compiling", len(layouts) + 1, "layouts")
    with open_screen() as screen, screen.showing(bar):
        for name, X, y in layouts:
            began = time.perf_counter()
            count += _classifiers(X, y)
            if args.all:
                count += _other_problems(X, y)
            bar.advance()
            print(f"{name:34} {time.perf_counter() - began:6.2f} s", flush=True)
        began = time.perf_counter()
        _text_files()
    print(f"{'svmlight text':34} {time.perf_counter() - began:6.2f} s", flush=True)
    if not args.all:
        print("hinge and squared hinge are compiled; --all adds the other problems")
    print(f"{count} combinations ready in {time.perf_counter() - start:.1f} s; cache: {_cache_folder()}")
    return 0


def _classifiers(X: Any, y: Any) -> int:
    """Train both losses with each of their engines; return how many combinations there were."""
    from hingeline import Hinge, LinearSVC, SquaredHinge, solve
    from hingeline.solvers.engines import names_for

    count = 0
    for loss in (Hinge(), SquaredHinge()):
        for solver in names_for(smooth=loss.is_smooth):
            solve(X, y, loss=loss, solver=solver)
            count += 1
    LinearSVC().fit(X, y).predict(X)
    return count


def _layouts() -> Iterator[tuple[str, Any, Any]]:
    """Yield a tiny problem in each layout that has kernels of its own."""
    import numpy as np
    from scipy import sparse

    y = np.tile([-1.0, 1.0], 4)
    dense = np.arange(1.0, 25.0).reshape(8, 3) % 7.0 * y[:, None]
    for value in (np.float32, np.float64):
        yield f"dense, {value.__name__}", np.ascontiguousarray(dense, dtype=value), y
        for index in (np.int32, np.int64):
            kind = f"{value.__name__} values, {index.__name__} indices"
            for name, matrix in (("sparse", dense), ("ones", dense > 0.0)):
                X = sparse.csr_matrix(matrix.astype(value))
                X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
                yield f"{name}, {kind}", X, y


def _other_problems(X: Any, y: Any) -> int:
    """Train each of the other problems with each of its engines; return how many there were."""
    import numpy as np
    from scipy import sparse

    from hingeline import LinearSVC, Logistic, OneClassSVM, SquaredHinge, solve
    from hingeline.selection.path import LOSSES
    from hingeline.solvers.engines import names_for
    from hingeline.solvers.l1.columns import FEW_COLUMNS

    times = 1 + FEW_COLUMNS // X.shape[1]  # so wide that training goes over columns, not rows
    wide = sparse.hstack([X] * times, format="csr") if sparse.issparse(X) else np.tile(X, times)

    count = 0
    for loss in (loss for name, loss in LOSSES.items() if name not in ("hinge", "squared_hinge")):
        for solver in names_for(smooth=loss.is_smooth):
            solve(X, y, loss=loss, solver=solver)
            count += 1
    for smooth in (SquaredHinge(), Logistic()):
        solve(X, y, loss=smooth, l1_ratio=1.0)
        solve(wide, y, loss=smooth, l1_ratio=1.0)
        solve(X, y, loss=smooth, free_intercept=True)
        count += 3
    LinearSVC(multi_class="crammer_singer", C=1e3).fit(X, np.arange(y.size) % 3)  # so hard that every engine runs
    OneClassSVM().fit(X)
    return count + 2


def _text_files() -> None:
    """Write and read a tiny file with short and with long indices."""
    import io

    import numpy as np

    from hingeline.io import dump_svmlight, load_svmlight

    for value in (np.float32, np.float64):
        file = io.BytesIO()
        dump_svmlight(np.ones((1, 1), dtype=value), [1.0], file)
    for text in (file.getvalue(), b"1 3000000000:1\n"):
        load_svmlight(io.BytesIO(text))


def _cache_folder() -> str:
    from numba import config

    return str(config.CACHE_DIR) or "beside the package, or numba's folder for the user if that is read-only"
