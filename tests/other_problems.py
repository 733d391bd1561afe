"""Plain NumPy formulas of Crammer and Singer's, the L1-regularised and the one-class problem."""

from __future__ import annotations

import numpy as np
from problems import csr


def two_layouts(X):
    """Yield a dense and a sparse matrix: each kind of row view is compiled anew, and that takes time."""
    X = X.astype(np.float32).astype(np.float64)
    yield "dense", X
    yield "csr-float32", csr(X, value=np.float32)


def crammer_singer_primal(X, codes, W, b, C, bias=1.0):
    """Return sum_c |w_c|^2/2 + sum_i C_i max_c (f_ic + [c != y_i] - f_iy), the intercepts' weights among w."""
    G = X @ W.T + b + 1.0
    rows = np.arange(len(codes))
    G[rows, codes] -= 1.0
    return 0.5 * np.sum(W**2) + 0.5 * np.sum((b / bias) ** 2) + np.sum(C * (G.max(axis=1) - G[rows, codes]))


def crammer_singer_dual(X, codes, alpha, bias=0.0):
    """Return -|w|^2/2 - sum_i sum_{c != y_i} alpha_ic."""
    W = alpha.T @ np.column_stack([X, np.full(len(X), bias)])
    others = alpha.copy()
    others[np.arange(len(codes)), codes] = 0.0
    return -0.5 * np.sum(W**2) - others.sum()


def loss_sum(name, f, y, C):
    """Return the sum of the losses."""
    if name == "squared_hinge":
        return np.sum(C * np.maximum(0.0, 1.0 - y * f) ** 2)
    return np.sum(C * np.logaddexp(0.0, -y * f))


def loss_slope(name, f, y, C):
    """Return the derivative of each row's loss in its score."""
    if name == "squared_hinge":
        return -2.0 * C * y * np.maximum(0.0, 1.0 - y * f)
    return -C * y / (1.0 + np.exp(y * f))


def sparse_primal(name, X, y, w, b, C, l1_ratio=1.0, bias=1.0, free=False):
    """Return l1_ratio |w|_1 + (1 - l1_ratio) |w|^2/2 + the losses, the intercept's weight among w unless it is free."""
    penalised = w if free else np.append(w, b / bias)
    penalty = l1_ratio * np.abs(penalised).sum() + 0.5 * (1.0 - l1_ratio) * np.sum(penalised**2)
    return penalty + loss_sum(name, X @ w + b, y, C)


def sparse_violations(name, X, y, w, b, C, l1_ratio=1.0):
    """Return the length of the shortest subgradient in each weight."""
    g = X.T @ loss_slope(name, X @ w + b, y, C) + (1.0 - l1_ratio) * w
    return np.where(w == 0.0, np.maximum(np.abs(g) - l1_ratio, 0.0), np.abs(g + l1_ratio * np.sign(w)))


def one_class_primal(X, w, rho, nu, C):
    """Return |w|^2/2 - nu sum(C) rho + sum_i C_i max(0, rho - <x_i, w>)."""
    return 0.5 * w @ w - nu * np.sum(C) * rho + np.sum(C * np.maximum(0.0, rho - X @ w))
