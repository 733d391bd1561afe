"""Plain NumPy formulas of Crammer and Singer's, the L1-regularised and the one-class problem, and of LIBLINEAR's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from problems import csr


def two_layouts(X):
    """Yield a dense and a sparse matrix: each kind of row view is compiled anew, and that takes time."""
    yield "dense", X
    yield "csr", csr(X)


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


def assert_feasible_examples(alpha, y, C):
    """Every row of Crammer and Singer's dual variables sums to zero exactly and lies in its box."""
    for i, row in enumerate(alpha):
        assert sum(map(Fraction, row.tolist())) == 0
        upper = np.where(np.arange(row.size) == y[i], C[i], 0.0)
        assert (row <= upper).all()


def exact_crammer_singer(X, y, C, W, alpha):
    """The primal at the weights W and the dual at alpha, in fractions."""
    X, W, alpha, C = ([[Fraction(float(v)) for v in np.atleast_1d(row)] for row in array] for array in (X, W, alpha, C))
    k, d = len(W), len(W[0])
    primal = sum(v * v for w in W for v in w) / 2
    for x, own, (c_i,) in zip(X, y, C, strict=True):
        scores = [sum(a * b for a, b in zip(x, w, strict=True)) for w in W]
        primal += c_i * max(scores[c] + (c != own) - scores[own] for c in range(k))
    V = [[sum(a[c] * x[j] for a, x in zip(alpha, X, strict=True)) for j in range(d)] for c in range(k)]
    dual = -sum(v * v for w in V for v in w) / 2
    dual -= sum(a[c] for a, own in zip(alpha, y, strict=True) for c in range(k) if c != own)
    return primal, dual


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


def liblinear_primal(model, X, y, C=1.0, p=0.1, weights=(), free=False):
    """Return the primal value of a model of LIBLINEAR's, summed over its binary problems."""
    bias = np.full((X.shape[0], 1), model.bias) if model.bias >= 0.0 else np.empty((X.shape[0], 0))
    rows, w = np.hstack((X.toarray(), bias)), model.w
    f, total = rows @ w, 0.0
    w = w[:-1] if free else w  # what is regularised
    factor = {label: 1.0 for label in model.labels or ()}
    for label, value in weights:
        factor[label] *= value
    if model.labels is None:
        r = np.maximum(np.abs(y - f[:, 0]) - p, 0.0)
        return 0.5 * np.sum(w * w) + C * np.sum(r if model.type == 13 else r**2)
    if model.type == 4:
        codes = np.array([model.labels.index(label) for label in y])
        own = f[np.arange(y.size), codes]
        slack = np.max(f + (np.arange(f.shape[1]) != codes[:, None]) - own[:, None], axis=1)
        return 0.5 * np.sum(w * w) + C * np.sum(slack * np.array([factor[label] for label in y]))
    for k in range(w.shape[1]):
        sign = np.where(y == model.labels[k], 1.0, -1.0)
        rest = factor[model.labels[1]] if len(model.labels) == 2 else 1.0
        m = sign * f[:, k]
        loss = {3: np.maximum(0.0, 1.0 - m)}.get(model.type, np.maximum(0.0, 1.0 - m) ** 2)
        loss = np.logaddexp(0.0, -m) if model.type in (0, 6, 7) else loss
        penalty = np.abs(w[:, k]).sum() if model.type in (5, 6) else 0.5 * w[:, k] @ w[:, k]
        total += penalty + C * np.sum(loss * np.where(sign > 0, factor[model.labels[k]], rest))
    return total
