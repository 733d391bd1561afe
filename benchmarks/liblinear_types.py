"""Every problem of LIBLINEAR (its ``-s``), side by side with LIBLINEAR itself, one thread, warm.

Each program is run down a ladder of its own tolerances until its objective is within --within of the optimum (which is
certified by a duality gap of a hundredth of that); the run at that rung is what is timed, the two programs in turns.
Times are CPU seconds of the whole call from Python, LIBLINEAR's without the conversion of the data, ours with
validation. One versus rest counts as one task: the sum of the objectives, one call. No intercept. The one-class model
(21) has no C: its column says nu, and its objective is that of the best rho for the weights. A rung that takes
LIBLINEAR more than --longest CPU seconds ends its ladder: its time is then at least that (">" in the table).

    python benchmarks/liblinear_types.py --types 7 12 13 --datasets a9a abalone_scale --c 1 100
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from datasets import CACHE, DATA_DIR
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

import hingeline
from hingeline.bench.datasets import OPENERS

EPSILON = 0.1  # LIBLINEAR's default -p
LADDER = [10.0 ** (-k / 2) for k in range(0, 15)]
ROUNDS = 3
LONGEST = 60.0  # seconds for the optimum, and CPU seconds for a rung of LIBLINEAR


def margin_terms(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return max(0, 1 - y f)."""
    return np.maximum(0.0, 1.0 - y * f)


def tube_terms(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return max(0, |y - f| - epsilon)."""
    return np.maximum(0.0, np.abs(y - f) - EPSILON)


def half_square(w: np.ndarray) -> float:
    """Return |w|^2/2."""
    return 0.5 * float(w @ w)


@dataclass(frozen=True)
class Type:
    """A problem: LIBLINEAR's number of it, our estimator, and its objective P = penalty(w) + C sum losses(f, y)."""

    code: int
    estimator: Callable[..., Any]
    losses: Callable[[np.ndarray, np.ndarray], np.ndarray]
    penalty: Callable[[np.ndarray], float] = half_square
    regression: bool = False
    joint: bool = False  # one model for all classes (type 4): the losses are Crammer and Singer's
    stop: str = "gap_tol"  # our tolerance on the ladder
    scale: float = 1.0  # of that ladder
    their_scale: float = 1.0  # of LIBLINEAR's
    one_class: bool = False  # nu instead of C; no labels


def length(w: np.ndarray) -> float:
    """Return |w|_1."""
    return float(np.abs(w).sum())


def crammer_singer(**parameters: Any) -> Any:
    """Return our estimator of type 4."""
    return hingeline.LinearSVC(multi_class="crammer_singer", fit_intercept=False, **parameters)


def sparse_svc(**parameters: Any) -> Any:
    """Return our estimator of type 5."""
    return hingeline.LinearSVC(penalty="l1", fit_intercept=False, **parameters)


def sparse_logistic(**parameters: Any) -> Any:
    """Return our estimator of type 6."""
    return hingeline.LogisticRegression(penalty="l1", fit_intercept=False, **parameters)


def one_class(C: float, **parameters: Any) -> Any:
    """Return our estimator of type 21; its nu comes as C."""
    return hingeline.OneClassSVM(nu=C, **parameters)


def logistic(**parameters: Any) -> Any:
    """Return our estimator of types 0 and 7."""
    return hingeline.LogisticRegression(fit_intercept=False, **parameters)


def svc(loss: str) -> Callable[..., Any]:
    """Return what makes our classifier."""
    return lambda **parameters: hingeline.LinearSVC(loss=loss, fit_intercept=False, **parameters)


def svr(loss: str) -> Callable[..., Any]:
    """Return what makes our regressor."""
    return lambda **parameters: hingeline.LinearSVR(loss=loss, epsilon=EPSILON, fit_intercept=False, **parameters)


TYPES = {
    kind.code: kind
    for kind in (
        Type(0, logistic, lambda f, y: np.logaddexp(0.0, -y * f)),
        Type(1, svc("squared_hinge"), lambda f, y: margin_terms(f, y) ** 2),
        Type(2, svc("squared_hinge"), lambda f, y: margin_terms(f, y) ** 2),
        Type(3, svc("hinge"), margin_terms),
        Type(4, crammer_singer, margin_terms, joint=True),
        # The gap of an L1 problem is pessimistic while the violation is large against the penalty: stop on that.
        Type(5, sparse_svc, lambda f, y: margin_terms(f, y) ** 2, length, stop="tol", scale=1e3),
        Type(6, sparse_logistic, lambda f, y: np.logaddexp(0.0, -y * f), length, stop="tol", scale=1e3),
        Type(7, logistic, lambda f, y: np.logaddexp(0.0, -y * f)),
        Type(11, svr("squared_epsilon_insensitive"), lambda f, y: tube_terms(f, y) ** 2, regression=True),
        Type(12, svr("squared_epsilon_insensitive"), lambda f, y: tube_terms(f, y) ** 2, regression=True),
        Type(13, svr("epsilon_insensitive"), tube_terms, regression=True),
        # Scores, and with them violations, grow with the number of rows: LIBLINEAR's -e begins far above 1.
        Type(21, one_class, margin_terms, their_scale=1e5, one_class=True),
    )
}


def load(name: str, data_dir: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return X and the labels or targets as they are, parsed once."""
    kept = CACHE / f"{name}.raw.npz"
    if not kept.exists():
        (path,) = [p for p in data_dir.iterdir() if p.name.removesuffix(p.suffix) in (name, f"{name}.binary")]
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            X, y = load_svmlight_file(file)
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(kept, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    with np.load(kept) as a:
        indices, indptr = a["indices"].astype(np.int32), a["indptr"].astype(np.int32)
        return sparse.csr_matrix((a["data"], indices, indptr), shape=tuple(a["shape"])), a["y"]


class Task:
    """A type on a data set at one C."""

    def __init__(self, kind: Type, X: sparse.csr_matrix, y: np.ndarray, C: float) -> None:
        self.kind, self.X, self.y, self.C = kind, X, y, C
        if kind.one_class:
            self.y = y = np.ones_like(y)
        self.classes = np.unique(y)
        self.theirs = problem(y, X)

    def objective(self, W: np.ndarray) -> float:
        """Return the sum of the objectives of the rows of W: one, or one for each class against the rest."""
        if self.kind.one_class:
            s, total = self.X @ W[0], self.C * self.y.size
            rho = np.sort(s)[int(np.ceil(total - 1e-9)) - 1]
            return half_square(W[0]) - total * rho + float(np.maximum(0.0, rho - s).sum())
        if self.kind.joint:
            rows, own = np.arange(self.y.size), np.searchsorted(self.classes, self.y)
            G = self.X @ W.T + 1.0
            G[rows, own] -= 1.0
            return half_square(W.ravel()) + self.C * float(np.sum(G.max(axis=1) - G[rows, own]))
        if self.kind.regression:
            labels = [self.y]
        else:
            positive = self.classes[1:] if self.classes.size == 2 else self.classes
            labels = [np.where(self.y == c, 1.0, -1.0) for c in positive]
        scores = self.X @ W.T
        return sum(
            self.kind.penalty(w) + self.C * float(np.sum(self.kind.losses(scores[:, k], y)))
            for k, (w, y) in enumerate(zip(W, labels, strict=True))
        )

    def ours(self, gap_tol: float) -> Any:
        """Return our estimator, trained."""
        how = {self.kind.stop: self.kind.scale * gap_tol}
        return self.kind.estimator(C=self.C, random_state=0, **how).fit(self.X, self.y)

    def optimum(self, gap_tol: float) -> float:
        """Return the optimum, within a certified gap."""
        model = self.kind.estimator(C=self.C, gap_tol=gap_tol, random_state=0, max_time=LONGEST).fit(self.X, self.y)
        return float(model.objective_)

    def liblinear(self, tolerance: float) -> Any:
        """Return LIBLINEAR's model."""
        strength = "-n" if self.kind.one_class else "-c"
        e = tolerance * self.kind.their_scale
        options = f"-s {self.kind.code} {strength} {self.C!r} -e {e!r} -p {EPSILON} -B -1 -q"
        return train(self.theirs, parameter(options))

    def liblinear_weights(self, tolerance: float) -> np.ndarray:
        """Return W of LIBLINEAR's model."""
        return self.their_weights(self.liblinear(tolerance))

    def our_weights(self, model: Any) -> np.ndarray:
        """Return W of our model."""
        W = np.atleast_2d(model.coef_)
        return np.vstack([-0.5 * W, 0.5 * W]) if self.kind.joint and len(W) == 1 else W

    def their_weights(self, model: Any) -> np.ndarray:
        """Return W of LIBLINEAR's model, in the order of our classes."""
        d = self.X.shape[1]
        unlabelled = self.kind.regression or self.kind.one_class
        if unlabelled or (self.classes.size == 2 and not self.kind.joint):
            w = np.ctypeslib.as_array(model.w, shape=(d,)).copy()
            return (w if unlabelled or model.label[0] == self.classes[1] else -w)[None, :]
        W = np.ctypeslib.as_array(model.w, shape=(d, self.classes.size)).T.copy()
        order = np.argsort([model.label[k] for k in range(self.classes.size)])
        return W[order]


def seconds(fit: Callable[[float], Any], rung: float) -> tuple[float, Any]:
    """Return CPU seconds of one call, and its model."""
    started = process_time()
    model = fit(rung)
    return process_time() - started, model


def in_child(work: Callable[[], np.ndarray], longest: float) -> np.ndarray | None:
    """Return what ``work`` returns, run in a separate process; None if it takes more CPU seconds than ``longest``."""
    receive, send = multiprocessing.Pipe(duplex=False)

    def child() -> None:
        seconds = int(np.ceil(process_time() + longest))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        send.send(work())

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        return None
    finally:
        process.join()


def rung_that_reaches(
    weights: Callable[[float], np.ndarray | None], task: Task, goal: float
) -> tuple[float | None, float, bool]:
    """Return the loosest tolerance that gets to the goal (None: none does), the best objective, whether time was up."""
    best, since = np.inf, 0
    for rung in LADDER:
        W = weights(rung)
        if W is None:
            return None, best, True
        value = task.objective(W)
        if value <= goal:
            return rung, value, False
        since = 0 if best == np.inf or value < best - 1e-12 * abs(best) else since + 1
        best = min(best, value)
        if since == 6:  # a cap on iterations: tighter tolerances change nothing
            break
    return None, best, False


def compare(task: Task, within: float, rounds: int, longest: float) -> tuple[float, float, bool, str]:
    """Return our seconds, LIBLINEAR's, whether these are a lower bound, and a remark."""
    task.ours(0.5)  # warm: kernels are compiled
    optimum = task.optimum(within * 1e-2)
    goal = optimum + within * abs(optimum)
    ours, _, _ = rung_that_reaches(lambda rung: task.our_weights(task.ours(rung)), task, goal)
    theirs, reached, late = rung_that_reaches(
        lambda rung: in_child(lambda: task.liblinear_weights(rung), longest), task, goal
    )
    times = np.array(
        [
            [
                seconds(task.ours, ours or LADDER[-1])[0],
                longest if late else seconds(task.liblinear, theirs or LADDER[-1])[0],
            ]
            for _ in range(rounds)
        ]
    )
    model = task.ours(ours or LADDER[-1])
    solver = model.solver_
    remark = solver + (f" {task.kind.stop} {task.kind.scale * ours:.2g}" if ours else f"; ours {ours}")
    if theirs:
        remark += f"; -e {task.kind.their_scale * theirs:.2g}"
    elif late:
        remark += "; LIBLINEAR's time is up"
    else:
        remark += f" (LIBLINEAR ends {(reached - optimum) / abs(optimum):.1e} above the optimum: its cap)"
    return (*np.median(times, axis=0), late, remark)


def main() -> None:
    """Print a table and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--types", nargs="+", type=int, default=sorted(TYPES), choices=sorted(TYPES))
    parser.add_argument(
        "--datasets", nargs="+", default=["a9a", "news20.multiclass", "debian_text", "abalone_scale"], metavar="NAME"
    )
    parser.add_argument("--c", nargs="+", type=float, default=[1.0, 100.0])
    parser.add_argument("--nu", nargs="+", type=float, default=[0.1, 0.5], help="instead of C, for type 21")
    parser.add_argument("--longest", type=float, default=LONGEST, metavar="SECONDS")
    parser.add_argument("--within", type=float, default=1e-3)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'type':>4} {'data':>18} {'C':>6} {'ours s':>8} {'LIBLINEAR':>9} {'ratio':>6}", flush=True)
    ratios: dict[int, list[float]] = {}
    with threadpool_limits(1):
        for name in args.datasets:
            X, y = load(name, args.data_dir)
            for code in args.types:
                for C in args.nu if TYPES[code].one_class else args.c:
                    task = Task(TYPES[code], X, y, C)
                    ours, theirs, late, remark = compare(task, args.within, args.rounds, args.longest)
                    ratios.setdefault(code, []).append(theirs / ours)
                    least = f"{'>' if late else ''}{theirs:.3f}"
                    row = f"{code:>4} {name:>18} {C:>6g} {ours:>8.3f} {least:>9} {theirs / ours:>6.2f}"
                    print(f"{row}  {remark}", flush=True)
    for code, values in ratios.items():
        print(f"type {code}: geometric mean {np.exp(np.mean(np.log(values))):.2f}, least {min(values):.2f}")
    every = np.concatenate(list(ratios.values()))
    print(f"all: geometric mean {np.exp(np.mean(np.log(every))):.2f}, least {every.min():.2f}")


if __name__ == "__main__":
    main()
