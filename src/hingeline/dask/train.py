"""Stand-in: gathers the rows and trains on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future
from scipy import sparse

from ..solution import Certificate
from ..solvers.solve import solve
from .partitions import Partitions
from .target import Target, Targets

SOLVERS = ("auto", "newton", "newton_cg", "cocoa")


@dataclass(frozen=True)
class Trained:
    """A trained model."""

    w: np.ndarray
    intercept: float
    alpha: list[Future[Any]]
    certificate: Certificate
    history: np.ndarray
    n_iter: int
    n_steps: int
    seconds: float
    solver: str
    converged: bool
    stop_reason: str


def train(
    partitions: Partitions,
    target: Target,
    loss: Any,
    *,
    class_weight: tuple[float, float] | None = None,
    bias: float = 0.0,
    free: bool = False,
    solver: str = "auto",
    tol: float = 1e-3,
    gap_tol: float | None = None,
    max_iter: int | None = None,
    max_time: float | None = None,
    w0: np.ndarray | None = None,
    fold: Any = None,
    callback: Any = None,
) -> Trained:
    """Gather and train."""
    blocks = partitions.client.gather(partitions.parts)
    X = sparse.vstack([sparse.csr_matrix(block.X) for block in blocks]).tocsr()
    y = np.concatenate([target.values(block.y) for block in blocks])
    weights = np.concatenate([np.ones(len(b.y)) if b.sample_weight is None else b.sample_weight for b in blocks])
    if fold is not None:
        weights *= np.concatenate([fold.weights(k, b.y) for k, b in enumerate(blocks)])
    if class_weight is not None and not isinstance(target, Targets):
        weights *= np.where(y > 0, class_weight[1], class_weight[0])
    s = solve(
        X, y, loss, solver="auto", tol=tol, gap_tol=gap_tol, max_iter=max_iter, max_time=max_time, bias=bias,
        free_intercept=free, sample_weight=weights, callback=callback,
    )  # fmt: skip
    bounds = np.cumsum(partitions.n_rows)[:-1]
    alpha = partitions.client.scatter(np.split(s.alpha, bounds))
    fields = [*s.history.dtype.descr, ("computing", "f8"), ("communicating", "f8"), ("bytes", "i8")]
    history = np.zeros(len(s.history), dtype=fields)
    for name in s.history.dtype.names or ():
        history[name] = s.history[name]
    return Trained(
        s.w, s.intercept, alpha, s.certificate, history, s.n_iter, s.n_steps, s.seconds, s.solver, s.converged,
        s.stop_reason,
    )  # fmt: skip
