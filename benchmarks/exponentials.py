"""Nanoseconds per number of exponentials and logarithms in a loop: the C library's, and those of our kernels.

python benchmarks/exponentials.py
"""

from __future__ import annotations

from math import exp, log, log1p
from time import perf_counter
from typing import Any

import numpy as np

from hingeline import Logistic
from hingeline.kernels.compile import kernel
from hingeline.kernels.exponentials import decay, log_one_plus, logarithm
from hingeline.kernels.losses import gap_term, primal_term

N, ROUNDS = 50_000, 30


@kernel
def library_exp(x: np.ndarray, y: np.ndarray) -> float:
    """Sum exp(-x)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += exp(-x[i])
    return total


@kernel
def our_exp(x: np.ndarray, y: np.ndarray) -> float:
    """Sum exp(-x)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += decay(x[i])
    return total


@kernel
def library_log1p(x: np.ndarray, y: np.ndarray) -> float:
    """Sum log(1 + y)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += log1p(y[i])
    return total


@kernel
def our_log1p(x: np.ndarray, y: np.ndarray) -> float:
    """Sum log(1 + y)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += log_one_plus(y[i])
    return total


@kernel
def library_log(x: np.ndarray, y: np.ndarray) -> float:
    """Sum log(x)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += log(x[i])
    return total


@kernel
def our_log(x: np.ndarray, y: np.ndarray) -> float:
    """Sum log(x)."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += logarithm(x[i])
    return total


@kernel
def losses(loss: Logistic, x: np.ndarray, y: np.ndarray) -> float:
    """Sum logistic losses."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += primal_term(loss, x[i], loss.C)
    return total


@kernel
def gap_terms(loss: Logistic, x: np.ndarray, y: np.ndarray) -> float:
    """Sum gap terms of the logistic loss."""
    total = 0.0
    for i in range(np.uint64(x.size)):
        total += gap_term(loss, x[i], y[i], loss.C)
    return total


def nanoseconds(function: Any, *args: Any) -> float:
    """Return those of the best round, per number."""
    function(*args)
    rounds = list[float]()
    for _ in range(ROUNDS):
        began = perf_counter()
        function(*args)
        rounds.append(perf_counter() - began)
    return 1e9 * min(rounds) / N


def main() -> None:
    """Print a line for each function."""
    rng = np.random.default_rng(0)
    x, y = 5.0 * rng.random(N), rng.random(N)
    for name, library, ours in (
        ("exp(-x)", library_exp, our_exp),
        ("log(1 + y)", library_log1p, our_log1p),
        ("log(x)", library_log, our_log),
    ):
        print(f"{name:12} {nanoseconds(library, x, y):5.2f} ns, in our kernels {nanoseconds(ours, x, y):5.2f} ns")
    for name, of_loss in (("loss", losses), ("gap term", gap_terms)):
        print(f"{name:12} {nanoseconds(of_loss, Logistic(1.0), x, y):5.2f} ns")


if __name__ == "__main__":
    main()
