"""Dual variables for free intercepts: moved until sum_i alpha_ic = 0 holds for each class, within their simplices.

Intercepts that are not regularised add these constraints to the dual, and a dual value bounds the optimum from below
only if they hold. Engines end close to them. The rest is removed by changing the probabilities as a change of the
intercepts would, to first order. That costs almost nothing, since it moves what is between its bounds, and one step is
enough unless a probability would become negative. If that fails, classes with too much are scaled down, and each row
gives what it has lost to the classes with too little, in the same proportions.
"""

from __future__ import annotations

import numpy as np

from ...kernels.compile import array_kernel, exact_array_kernel
from ...kernels.types import Indices, Matrix, Vector
from ..newton_equation import solve_scaled
from .softmax_rows import change

MOST_ROUNDS = 10
NEGLIGIBLE = 1e-15  # sum, relative to the sum of magnitudes, that rounding may leave
LONGEST = 1.0  # change of a score by one step


def balance_classes(alpha: Matrix, C: Vector, y: Indices) -> None:
    """Make ``alpha`` satisfy the constraints of free intercepts; its rows stay in their simplices."""
    sums, size = class_sums(alpha)
    for _ in range(MOST_ROUNDS):
        largest = float(np.abs(sums).max())
        if largest <= NEGLIGIBLE * size:
            return
        step = _step_of_intercepts(alpha, C, y, sums)
        if step is None:
            break
        moved = alpha.copy()
        shift_classes(moved, C, y, step)
        new_sums, new_size = class_sums(moved)
        if not float(np.abs(new_sums).max()) < 0.5 * largest:
            break
        alpha[:], sums, size = moved, new_sums, new_size
    if float(np.abs(sums).max()) > NEGLIGIBLE * size:
        _transport(alpha, C, y, sums)


def _step_of_intercepts(alpha: Matrix, C: Vector, y: Indices, sums: Vector) -> Vector | None:
    """Return the change of the intercepts that would, to first order, undo ``sums``; None if nothing is curved."""
    M = intercept_curvature(alpha, C, y)
    curvature = M.diagonal().copy()
    if not (curvature > 0.0).all():
        return None
    M += curvature.mean() / len(M)  # all intercepts together may be moved freely
    step = solve_scaled(M, sums)
    if not np.isfinite(step).all():
        return None
    step -= step.mean()
    return step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))


def _transport(alpha: Matrix, C: Vector, y: Indices, sums: Vector) -> None:
    """Move probability, row by row, from classes that have too much of it to those that have too little.

    A class has the weight sum_i C_i p_ic, and should have that of its rows: sums_c is the second less the first.
    """
    rows = np.arange(len(y))
    mass = -alpha
    mass[rows, y] += C
    weight = mass.sum(axis=0)
    missing = np.maximum(sums, 0.0)
    shares = np.minimum(sums, 0.0) / np.where(weight > 0.0, weight, 1.0)
    lost = mass * shares
    mass += lost
    mass -= np.outer(lost.sum(axis=1), missing / missing.sum())
    alpha[:] = -np.maximum(mass, 0.0)
    alpha[rows, y] = 0.0
    alpha[rows, y] = np.minimum(-alpha.sum(axis=1), C)


@exact_array_kernel
def class_sums(alpha: Matrix) -> tuple[Vector, float]:
    """Return the sums of alpha_ic over the rows, added up in twice the precision, and the sum of all magnitudes."""
    k = alpha.shape[1]
    total, lost, size = np.zeros(k), np.zeros(k), 0.0
    for i in range(alpha.shape[0]):
        for c in range(k):
            term = alpha[i, c]
            new = total[c] + term
            lost[c] += (total[c] - new) + term if abs(total[c]) >= abs(term) else (term - new) + total[c]
            total[c] = new
            size += abs(term)
    return total + lost, size


@array_kernel
def intercept_curvature(alpha: Matrix, C: Vector, y: Indices) -> Matrix:
    """Return sum_i C_i (diag(p_i) - p_i p_i'): the Hessian of the losses in the intercepts."""
    n, k = alpha.shape
    M = np.zeros((k, k))
    unit, u = np.zeros(k), np.empty(k)
    for i in range(n):
        if C[i] > 0.0:
            for c in range(k):
                unit[c] = 1.0
                change(alpha[i], y[i], C[i], unit, u)
                unit[c] = 0.0
                for e in range(k):
                    M[c, e] += u[e]
    return M


@array_kernel
def shift_classes(alpha: Matrix, C: Vector, y: Indices, step: Vector) -> None:
    """Change the dual variables as a ``step`` of the intercepts would, to first order; rows stay in their simplices."""
    n, k = alpha.shape
    u = np.empty(k)
    for i in range(n):
        if C[i] > 0.0:
            own, a, total = y[i], alpha[i], 0.0
            change(a, own, C[i], step, u)
            for c in range(k):
                if c != own:
                    a[c] = min(a[c] - u[c], 0.0)
                    total -= a[c]
            if total > C[i]:
                for c in range(k):
                    a[c] *= C[i] / total
                total = C[i]
            a[own] = total
