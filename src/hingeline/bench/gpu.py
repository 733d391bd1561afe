"""Seconds on a GPU, warm and with the data there, compared with the CPU's engines and PyTorch's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from ..arrays.batch import train_one
from ..arrays.namespace import Place
from ..arrays.problem import ArrayProblem, make_array_problem
from ..arrays.rows import ArrayRows, array_rows
from ..kernels.losses import Hinge, Logistic, Loss, SquaredHinge
from ..solvers.solve import solve
from ..solvers.stop import Stop

LOSSES: dict[str, Callable[[float], Loss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}
MADE = "made"  # the name of the problem that is made
COLUMNS = 28
REPEATS = 5
LBFGS_STEPS, LBFGS_HISTORY = 2_000, 20
SUBOPTIMAL = 1e-9  # what L-BFGS may miss, over the objective, at the least


@dataclass(frozen=True)
class Cell:
    """One training; ``seconds`` is infinite if it did not end within its deadline."""

    data: str
    loss: str
    C: float
    eps: float
    engine: str
    seconds: float
    gap: float
    n_iter: int


@dataclass(frozen=True)
class Pass:
    """What one pass over the rows takes, and its bytes per second over those of a copy."""

    name: str
    seconds: float
    share_of_copy: float


def made(torch: Any, n_rows: int, device: str) -> tuple[Any, Any]:
    """Return a problem of float32 rows whose labels are no linear function of them."""
    generator = torch.Generator(device=device).manual_seed(0)
    X = torch.randn((n_rows, COLUMNS), generator=generator, device=device, dtype=torch.float32)
    noise = torch.randn(n_rows, generator=generator, device=device)
    f = X[:, 0] * X[:, 1] + 0.7 * X[:, 2] + torch.sin(2.0 * X[:, 3]) + 0.5 * X[:, 4] ** 2 - 0.5 + 0.5 * noise
    return X, torch.where(f > 0.0, 1.0, -1.0).to(torch.float64)


class GpuBench:
    """Trains on ``device``, and with what it is compared with."""

    def __init__(self, device: str, deadline: float) -> None:
        import torch

        self._torch, self._device, self._deadline = torch, device, deadline

    def made(self, n_rows: int) -> tuple[Any, Any]:
        """Return the problem that is made, on the device."""
        return made(self._torch, n_rows, self._device)

    def put(self, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        """Return a problem of SciPy's on the device, dense if it has few columns."""
        place = Place.of(self._torch.empty(0, device=self._device))
        if X.shape[1] <= 1000:
            return place.put(X.toarray() if hasattr(X, "toarray") else X), place.put(y)
        parts = [place.put(part, place.xp.int64) for part in (X.indptr, X.indices)]
        there = place.xp.sparse_csr_tensor(*parts, place.put(X.data), X.shape, check_invariants=False)
        return there, place.put(y)

    def _now(self) -> float:
        """Return the time when the device has done all its work."""
        if self._device.startswith("cuda"):
            self._torch.cuda.synchronize()
        return perf_counter()

    def on_device(self, rows: ArrayRows, y: Any, loss: Loss, eps: float) -> tuple[float, Any, ArrayProblem]:
        """Return the median seconds from the problem to its certificate, and the last solution."""
        q, seconds = rows.squared_lengths(), []
        for _ in range(1 + REPEATS):  # the first one may compile
            begun = self._now()
            problem = make_array_problem(rows, y, None, loss, q)
            solution = train_one(problem, "auto", Stop(eps, None, None, self._deadline))
            seconds.append(self._now() - begun)
        return float(np.median(seconds[1:])), solution, problem

    def on_cpu(self, data: tuple[Any, np.ndarray], loss: Loss, eps: float, n_threads: int) -> tuple[float, Any]:
        """Return the seconds that this package's engines take on the CPU, and the solution."""
        how: dict[str, Any] = {"tol": eps, "n_jobs": n_threads, "random_state": 0, "max_time": self._deadline}
        solve(*data, loss, **how)  # compiles
        solution = solve(*data, loss, **how)
        return (solution.seconds if solution.converged else inf), solution

    def lbfgs(self, problem: ArrayProblem, primal: float, gap: float) -> tuple[float, int]:
        """Return the seconds that PyTorch's L-BFGS takes to an objective as good as ``primal``, and its evaluations."""
        torch, rows, goal = self._torch, problem.rows, primal * (1.0 + max(gap, SUBOPTIMAL))
        w = torch.zeros(rows.n_features + 1, dtype=torch.float64, device=self._device)
        verbs, state, begun = problem.verbs, {"best": inf, "calls": 0}, self._now()
        optimizer = torch.optim.LBFGS(
            [w], max_iter=1, max_eval=20, history_size=LBFGS_HISTORY, line_search_fn="strong_wolfe"
        )

        def closure() -> Any:
            m = verbs.missing(problem.y, rows.times(w))
            value = 0.5 * (w @ w) + torch.sum(verbs.primal_terms(m, problem.C))
            w.grad = w - rows.transposed_times(problem.signs * verbs.responses(m, problem.C))
            state["calls"] += 1
            state["best"] = min(state["best"], float(value))
            return value

        with torch.no_grad():
            for _ in range(LBFGS_STEPS):
                optimizer.step(lambda: closure())
                if state["best"] <= goal or self._now() - begun > self._deadline:
                    break
        return (self._now() - begun if state["best"] <= goal else inf), int(state["calls"])

    def passes(self, rows: ArrayRows) -> list[Pass]:
        """Return how long passes over all rows take, compared with a copy of as many bytes."""
        torch, n = self._torch, rows.n_rows
        w, a = (torch.randn(size, dtype=torch.float64, device=self._device) for size in (rows.n_features + 1, n))
        there = torch.empty(1 << 28 if self._device.startswith("cuda") else 1 << 22, device=self._device)
        size = rows.n_stored * rows.X.element_size() + 8 * n  # type: ignore[attr-defined]
        copy = self._timed(lambda: there.clone())
        speed = 2.0 * 4.0 * there.numel() / copy
        found = [Pass("copy", copy, 1.0)]
        for name, work in (("X w", lambda: rows.times(w)), ("X' a", lambda: rows.transposed_times(a))):
            seconds = self._timed(work)
            found.append(Pass(name, seconds, size / seconds / speed))
        return found

    def _timed(self, work: Callable[[], Any]) -> float:
        """Return the median seconds of some calls, each of many runs in a row."""
        seconds = []
        for _ in range(1 + REPEATS):
            begun = self._now()
            for _ in range(10):
                work()
            seconds.append((self._now() - begun) / 10)
        return float(np.median(seconds[1:]))


def rows_of(X: Any) -> ArrayRows:
    """Return the rows of X, without an intercept."""
    return array_rows(X, 0.0)
