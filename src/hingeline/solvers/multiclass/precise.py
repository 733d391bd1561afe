"""Crammer and Singer's smoothed problem in twice the precision, for scores whose terms cancel (shards/precise.py)."""

from __future__ import annotations

import numpy as np

from ...kernels.compile import exact_array_kernel, exact_kernel
from ...kernels.double_double import with_product, without_combination
from ...kernels.rows import CsrRows, DenseRows, Rows
from ...kernels.types import Indices, Matrix, Vector
from .newton_system import inside_bounds
from .smoothed_examples import Responses


class PreciseExamples:
    """The examples as a dense matrix, intercepts last; vectors of weights are given as high + low."""

    def __init__(self, rows: Rows, responses: Responses, n_weights: int) -> None:
        self._X, self._responses = _dense(rows, len(responses.y), n_weights), responses

    @property
    def curved(self) -> tuple[Matrix, Vector]:
        """Rows whose squares, times their curvatures, add up to the Hessian: one fewer per example than its support.

        I - 11'/s is the sum of the squares of s - 1 rows: with a entries 1 and then -a, over sqrt(a (a + 1)).
        """
        inside, k = inside_bounds(self._responses), self._responses.alpha.shape[1]
        found, curvatures = [], []
        for i in np.flatnonzero(inside.sum(axis=1) > 1):
            support = np.flatnonzero(inside[i])
            for a in range(1, support.size):
                of_class = np.zeros(k)
                of_class[support[:a]], of_class[support[a]] = 1.0, -a
                found.append(np.outer(self._X[i], of_class / np.sqrt(a * (a + 1.0))).ravel())
                curvatures.append(self._responses.stiffness[i])
        return np.array(found).reshape(-1, self._X.shape[1] * k), np.array(curvatures)

    def left(self, b: Vector, is_free: bool, p: Vector, low: Vector) -> Vector:
        """Return b - H p; no weight ``is_free`` here."""
        out, inside = np.empty_like(b), inside_bounds(self._responses)
        left_of_equation(b, self._X, inside, self._responses.stiffness, p, low, out)
        return out

    def residual(self, w: Vector, low: Vector) -> Vector:
        """Return w - sum_i alpha_i (x) x_i, alpha being the responses.

        Over the classes of a feature that sums to zero, as the responses of an example do but for rounding.
        """
        k = self._responses.alpha.shape[1]
        out = np.empty_like(w)
        for c in range(k):
            of_class = np.empty(w.size // k)
            own = np.ascontiguousarray(self._responses.alpha[:, c])
            without_combination(w[c::k].copy(), low[c::k].copy(), self._X, own, of_class)
            out[c::k] = of_class
        by_feature = out.reshape(-1, k)
        by_feature -= by_feature.mean(axis=1, keepdims=True)
        return out

    def differences(self, p: Vector, low: Vector, start: float) -> Matrix:
        """Return start + <x_i, p_c - p_y> for each class c of each example, 0 for its own class y."""
        out = np.zeros_like(self._responses.alpha)
        class_differences(self._X, self._responses.y, p, low, start, out)
        return out


def _dense(rows: Rows, n: int, n_weights: int) -> Matrix:
    X = np.zeros((n, n_weights))
    if isinstance(rows, DenseRows):
        X[:, :-1] = rows.X
    else:
        for i in range(n):
            inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
            np.add.at(X[i], rows.indices[inside], rows.data[inside] if isinstance(rows, CsrRows) else 1.0)
    X[:, -1] = rows.bias
    return X


@exact_kernel
def class_differences(X: Matrix, y: Indices, p: Vector, low: Vector, start: float, out: Matrix) -> None:
    """out_ic = start + <x_i, p_c - p_y>, rounded once, for c != y_i."""
    k = out.shape[1]
    for i in range(len(X)):
        for c in range(k):
            if c == y[i]:
                continue
            s, rest = start, 0.0
            for j in range(X.shape[1]):
                at, own = j * k + c, j * k + y[i]
                s, rest = with_product(s, rest, X[i, j], p[at])
                s, rest = with_product(s, rest, -X[i, j], p[own])
                rest += X[i, j] * (low[at] - low[own])
            out[i, c] = s + rest


@exact_array_kernel
def left_of_equation(
    b: Vector, X: Matrix, inside: Matrix, stiffness: Vector, p: Vector, low: Vector, out: Vector
) -> None:
    """out = b - (I + sum_i J_i (x) x_i x_i')(p + low), rounded once."""
    k, d = inside.shape[1], X.shape[1]
    high, rest, t, t_low = b.copy(), -low, np.empty(k), np.empty(k)
    for u in range(p.size):
        high[u], rest[u] = with_product(high[u], rest[u], -1.0, p[u])
    for i in range(len(X)):
        size, mean, mean_low = 0, 0.0, 0.0
        for c in range(k):
            if inside[i, c]:
                s, s_low = 0.0, 0.0
                for j in range(d):
                    s, s_low = with_product(s, s_low, X[i, j], p[j * k + c])
                    s_low += X[i, j] * low[j * k + c]
                t[c], t_low[c] = s, s_low
                mean, mean_low = with_product(mean, mean_low + s_low, 1.0, s)
                size += 1
        if size < 2:
            continue
        q = mean / size
        over, over_low = with_product(mean, mean_low, -q, float(size))
        q_low = (over + over_low) / size
        for c in range(k):
            if inside[i, c]:
                s, s_low = with_product(t[c], t_low[c] - q_low, -1.0, q)
                v, v_low = with_product(0.0, stiffness[i] * s_low, stiffness[i], s)
                for j in range(d):
                    u = j * k + c
                    high[u], rest[u] = with_product(high[u], rest[u], -X[i, j], v)
                    rest[u] -= X[i, j] * v_low
    for u in range(p.size):
        out[u] = high[u] + rest[u]
