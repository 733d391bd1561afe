"""The Hessian of the multinomial problem: kernels for all row views against a formula in NumPy."""

import numpy as np
import pytest
from problems import csr

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Logistic
from hingeline.runtime.pace import Pace
from hingeline.solvers.multinomial.hessian import losses_hessian
from hingeline.solvers.multinomial.softmax_state import softmax_state

RNG = np.random.default_rng(0)


def state_at(X, k=3, bias=1.0):
    n = X.shape[0]
    y = np.arange(n, dtype=np.uint32) % k
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], size=n)
    problem = make_problem(read_data(X, bias), y, weights, Logistic(1.5))
    state = softmax_state(problem, k, is_free=True)
    w = 0.3 * np.random.default_rng(2).normal(size=state.w.size)
    state.respond(w, Pace())
    return state, w


def reference(X, state, w, bias=1.0):
    k = state.n_classes
    Z = np.column_stack([X, np.full(len(X), bias)])
    f = Z @ w.reshape(-1, k)
    p = np.exp(f - f.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    blocks = [
        [(Z * (state.C * ((c == e) * p[:, c] - p[:, c] * p[:, e]))[:, None]).T @ Z for e in range(k)] for c in range(k)
    ]
    return np.block(blocks)


@pytest.mark.parametrize("d", [3, 40])  # by a kernel, and by BLAS if rows are dense
@pytest.mark.parametrize("layout", [np.asarray, csr])
def test_hessian_product_and_diagonal(d, layout):
    X = RNG.normal(size=(30, d)) * (RNG.random((30, d)) < 0.7)
    state, w = state_at(layout(X))
    k, expected = state.n_classes, reference(X, state, w)
    H = np.tril(losses_hessian(state.at, d + 1, Pace()))
    np.testing.assert_allclose(H, np.tril(expected), atol=1e-12)
    v = RNG.normal(size=w.size)
    by_class = v.reshape(-1, k).T.ravel()
    product = (expected @ by_class).reshape(k, -1).T.ravel()
    np.testing.assert_allclose(state.product(v, Pace()), product, atol=1e-11)
    np.testing.assert_allclose(state.diagonal(Pace()), np.diag(expected).reshape(k, -1).T.ravel(), atol=1e-12)
