"""Small problems and plain NumPy formulas that the tests share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hingeline import EpsilonInsensitive, Hinge, Logistic, Pinball, SquaredEpsilonInsensitive, SquaredHinge
from hingeline.solvers import engines
from hingeline.solvers.engines import names_for

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge}
MARGIN_LOSSES = {**LOSSES, "logistic": Logistic}
TARGET_LOSSES = {
    "epsilon_insensitive": lambda C: EpsilonInsensitive(C, 0.3),
    "squared_epsilon_insensitive": lambda C: SquaredEpsilonInsensitive(C, 0.3),
    "pinball": lambda C: Pinball(C, 0.3),
}
EVERY_LOSS = {**MARGIN_LOSSES, **TARGET_LOSSES}
ENGINES = names_for(smooth=False)
SMOOTH_ENGINES = tuple(name for name in names_for(smooth=True) if name not in ENGINES)  # for losses without kinks
COORDINATE_ENGINES = tuple(name for name in ENGINES if engines.ENGINES[name].stepwise)


def classification(n=60, d=8, *, seed=0, density=1.0, n_classes=2, ones=False):
    """Return a dense X and labels (-1 and +1, or 0 to n_classes - 1) of a noisy linear rule: not separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    if ones:
        X = (X != 0.0).astype(np.float64)
    scores = X @ rng.normal(size=(d, n_classes)) + 0.7 * rng.normal(size=(n, n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)  # every class occurs
    return X, np.where(y == 1, 1, -1) if n_classes == 2 else y


def regression(n=60, d=8, *, seed=0, density=1.0):
    """Return a dense X and the targets of a noisy linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    return X, X @ rng.normal(size=d) + 0.5 + rng.standard_t(3, size=n)


def margins(X, y, w, intercept=0.0):
    """Return m_i = 1 - y_i f(x_i), what is missing of each margin."""
    scores = X.astype(np.float64) @ w
    return 1.0 - y * (np.asarray(scores).ravel() + intercept)


def primal(X, y, w, loss, *, weights=1.0, intercept=0.0, bias=1.0):
    """Return |w|^2/2 + sum_i C_i loss(m_i); the weight of the intercept, intercept/bias, is regularised too."""
    xi = np.maximum(0.0, margins(X, y, w, intercept))
    losses = xi if isinstance(loss, Hinge) else xi**2
    return 0.5 * (w @ w + (intercept / bias) ** 2) + loss.C * np.sum(weights * losses)


def dual(X, y, alpha, loss, *, weights=1.0, bias=0.0):
    """Return sum alpha_i - |sum alpha_i z_i|^2/2 - sum alpha_i^2/(4 C_i), the last for the squared hinge only."""
    w = X.T.astype(np.float64) @ (alpha * y)
    value = alpha.sum() - 0.5 * (w @ w + (bias * np.sum(alpha * y)) ** 2)
    if isinstance(loss, SquaredHinge):
        C = np.broadcast_to(loss.C * weights, alpha.shape)
        value -= np.sum(alpha[C > 0.0] ** 2 / (4.0 * C[C > 0.0]))
    return value


def csr(X, *, index=np.int32, value=np.float64, container=sparse.csr_array):
    """Return ``X`` as CSR with indices and values of the given types."""
    X = container(X, dtype=value)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


def every_layout(X):
    """Yield (name, matrix) for each kind of row view that compiled code knows; values are rounded to float32."""
    X = X.astype(np.float32).astype(np.float64)
    for value in (np.float32, np.float64):
        yield f"dense-{value.__name__}", np.ascontiguousarray(X, dtype=value)
        for index in (np.int32, np.int64):
            yield f"csr-{index.__name__}-{value.__name__}", csr(X, index=index, value=value)
